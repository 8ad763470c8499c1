"""A connection to a policy's server that lasts: one request at a time, a deadline for each, back-off, and back again.

After anything that was not a whole, good answer the connection is given up, and the next request gets a new one: so
what comes late is never taken for the answer to what was asked later. A server may want a token, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from kc_vla.policy.interface import PolicyError
from kc_vla.policy.options import TOKEN
from kc_vla.policy.remote.wire import WireError

T = TypeVar("T")
_BACK_OFF_S, _LONGEST_S = 0.05, 2.0

_MOST = 1024
"""Letters of a token."""
UNKNOWN = f"it wants a token, and this is not it: set {TOKEN} in the environment, or token:="
"""What to say where a server has refused the one that was sent, or that none was."""


class LinkError(PolicyError):
    """The connection could not be made, or is lost, or nothing came in time: it is worth another try."""


class RefusedError(PolicyError):
    """The server has answered with an error: it is logged, and the same is not asked again at once."""


class Link(Protocol):
    """A way to a server. `deadline` of `time.monotonic`: nothing takes longer, whatever the server does."""

    where: str
    """Its address, for people."""

    def open(self, deadline: float) -> None:
        """Connect; raises `LinkError` or `RefusedError`."""
        ...

    def exchange(self, request: bytes, deadline: float) -> bytes:
        """Send a whole request and return its whole answer; raise `LinkError` or `RefusedError`."""
        ...

    def close(self) -> None:
        """Give the connection up, if there is one, without waiting for anybody."""
        ...


class Session:
    """Asks over a link, again and again."""

    def __init__(
        self,
        name: str,
        link: Link,
        timeout_s: float,
        greet: Callable[[float], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare the session, which connects with the first request.

        Args:
            name: what kind of server it is.
            link: to it.
            timeout_s: of a request, with all that is tried for it.
            greet: what is said first over a new connection, until a deadline; it may raise as `Link.exchange` does.
            clock: s.
            sleep: for so many s.
        """
        self._who = f"the {name} server {link.where}"
        self._link, self._timeout_s, self._greet, self._clock, self._sleep = link, timeout_s, greet, clock, sleep
        self._connected = False
        self._failures = 0
        self._free_at = 0.0  # when the next connection may be tried

    def do(self, work: Callable[[float], T]) -> T:
        """Do something over the connection, and again where the connection was lost and there is time left.

        Args:
            work: gets the deadline of all its exchanges; it raises `WireError` for an answer that is not as it should
                be.

        Raises:
            PolicyError: it is not done within the time; the text says why.
        """
        deadline = self._clock() + self._timeout_s
        while True:
            try:
                self._sleep(max(0.0, min(self._free_at, deadline) - self._clock()))
                if not self._connected:
                    self._link.open(deadline)
                    self._greet(deadline)
                    self._connected = True
                found = work(deadline)
                self._failures = 0
                return found
            except LinkError as error:
                self._failed()
                if self._free_at >= deadline:
                    self._sleep(max(0.0, deadline - self._clock()))  # a simulator in lock-step waits so long
                    raise PolicyError(f"{self._who} {error}; it is tried again") from error
            except RefusedError as error:
                self._failed()
                raise PolicyError(f"{self._who} {error}") from error
            except WireError as error:
                self._failed()
                raise PolicyError(f"{self._who} gave an answer that cannot be used: {error}") from error

    def exchange(self, request: bytes, deadline: float) -> tuple[bytes, float]:
        """Send a request within `work`; return the answer, and how many seconds server and network took."""
        began = self._clock()
        answer = self._link.exchange(request, deadline)
        return answer, self._clock() - began

    def close(self) -> None:
        """Give the connection up."""
        self._connected = False
        self._link.close()

    def _failed(self) -> None:
        self.close()
        self._free_at = self._clock() + min(_LONGEST_S, _BACK_OFF_S * 2**self._failures)
        self._failures = min(self._failures + 1, 30)


def tell_times(measured: Callable[[str, float], None], took: float, server_ms: float | None) -> None:
    """Report how long an exchange took, s, and, where the server says its share, how long the network took."""
    measured("round_trip", took)
    if server_ms is not None and server_ms * 1e-3 <= took:
        measured("server", server_ms * 1e-3)
        measured("network", took - server_ms * 1e-3)


def token_or_environment(token: str) -> str:
    """Return the token, or where it is empty that of the environment; empty without.

    Raises:
        PolicyError: it cannot be one.
    """
    return checked_token(token or os.environ.get(TOKEN, ""))


def checked_token(token: str) -> str:
    """Return the token, if it can be sent in a header: letters of ASCII without spaces; PolicyError where it cannot."""
    if len(token) > _MOST or not token.isascii() or any(not "!" <= letter <= "~" for letter in token):
        raise PolicyError(f"the token must be up to {_MOST} visible letters of ASCII, without spaces")
    return token
