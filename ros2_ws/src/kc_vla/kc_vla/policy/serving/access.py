"""The access to a policy server: this machine alone, or clients with the token."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable

from kc_vla.core.repeated_lines import LogBudget
from kc_vla.policy.options import TOKEN
from kc_vla.policy.remote.session import checked_token
from kc_vla.policy.serving.served import ServingError

_HERE = ("127.0.0.1", "localhost", "::1")
Say = Callable[[str], None]
"""Takes a line on each client that connects or leaves, for the operator of a server."""
MOST_CLIENTS = 8
"""At a time."""


def check_access(host: str, token: str) -> None:
    """Check that nobody from another machine gets in without a token.

    Raises:
        ServingError: a client would be.
        PolicyError: the token cannot be one.
    """
    checked_token(token)
    if host not in _HERE and not token:
        raise ServingError(
            f"every client that reaches {host} could ask the policy: --host other than 127.0.0.1 needs a token, "
            f"{TOKEN} in the environment or --token"
        )


def is_right(given: object, token: str) -> bool:
    """Return whether a token is the right one; any is where none is wanted."""
    return not token or (isinstance(given, str) and hmac.compare_digest(given.encode(), token.encode()))


def cannot_listen(host: str, port: int, number: int | None, told: str) -> ServingError:
    """Return the error of a server that cannot listen there.

    It has the reason of the system's `number`, or is as `told` without one.
    """
    why = os.strerror(number) if number is not None and number > 0 else told
    return ServingError(
        f"cannot listen at {host}, port {port} ({why}): name another --port, 0 for any free one, or --host"
    )


class ClientLog:
    """Logs clients, at most a line a second: a client that tries again and again fills no terminal."""

    def __init__(self, say: Say) -> None:
        """Begin without clients.

        Args:
            say: gets a line about each client.
        """
        self._say, self._room = say, LogBudget(burst=1)

    def tell(self, text: str) -> None:
        """Log a line, unless there were too many lately."""
        if self._room.take():
            self._say(text)
