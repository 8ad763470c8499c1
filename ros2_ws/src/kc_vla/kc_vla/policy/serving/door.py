"""Who is let in: this machine alone, or whoever has the token."""

from __future__ import annotations

import hmac

from kc_vla.policy.remote.token import checked_token
from kc_vla.policy.serving.served import ServingError

_HERE = ("127.0.0.1", "localhost", "::1")
MOST_CLIENTS = 8
"""At a time."""


def check_door(host: str, token: str) -> None:
    """See that nobody from elsewhere is let in without a token.

    Raises:
        ServingError: somebody would be.
        PolicyError: the token cannot be one.
    """
    checked_token(token)
    if host not in _HERE and not token:
        raise ServingError(f"whoever reaches {host} could ask the policy: --host other than 127.0.0.1 needs a --token")


def is_right(given: object, token: str) -> bool:
    """Whether somebody's token is the one; any is where none is wanted."""
    return not token or (isinstance(given, str) and hmac.compare_digest(given.encode(), token.encode()))
