"""Connections that cannot use a page's server up: who asks for nothing, or does not take what it asked for, is closed.

uvicorn ends a connection that is idle after an answer, but waits for ever for the first request, for the rest of one,
and for a client that does not read.
"""

from __future__ import annotations

from asyncio import BaseTransport, Transport
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST_OPEN = 64
"""Connections without a WebSocket; for another one that is closed which has waited longest without a whole request."""
PATIENCE_S = 10.0
"""For a request to be made, and for it to be answered and the answer taken."""
HANG_UP = "hang_up"
"""Key in the state of a WebSocket's scope: a function that ends it at once, whatever is still to be sent."""


class BoundedHttp(H11Protocol):
    """An HTTP connection that is aborted when its client asks for nothing or reads nothing for too long."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to watch a new connection; if there are too many, abort the one that has been idle longest."""
        super().connection_made(cast(Transport, transport))
        self.since_s = self.loop.time()
        self._waited_for: object = self
        self._look_later()
        if len(self.connections) > MOST_OPEN:
            http = [each for each in self.connections if isinstance(each, BoundedHttp)]
            min((each for each in http if each.asks_for_nothing), key=lambda each: each.since_s).transport.abort()

    def on_response_complete(self) -> None:
        """Restart the time within which the next request is expected."""
        self.since_s = self.loop.time()
        super().on_response_complete()

    @property
    def asks_for_nothing(self) -> bool:
        """Return whether no whole request is here that is not answered; part of the next one is none."""
        return self.cycle is None or self.cycle.response_complete

    def _look_later(self) -> None:
        self.loop.call_later(PATIENCE_S, self._look)

    def _look(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # gone, or a WebSocket by now
        waited = self.asks_for_nothing and self.loop.time() - self.since_s >= PATIENCE_S
        if waited or (self.cycle is self._waited_for and not self.asks_for_nothing):
            self.transport.abort()
            return
        self._waited_for = self if self.asks_for_nothing else self.cycle
        self._look_later()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket connection that can be ended before its client has read what was sent."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Put the function that ends the connection into the state of the application's scope."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, HANG_UP: self.transport.abort}
