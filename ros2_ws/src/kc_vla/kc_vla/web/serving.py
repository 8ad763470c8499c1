"""Where a page listens, and a page that is served by a thread beside other work."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any

import uvicorn

from kc_vla.core.errors import StackError
from kc_vla.web.connections import BoundedHttp, BoundedWebSocket

THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
_END_S = 3.0
_MOST_SAID = 64
"""Bytes of a message that a page sends through a WebSocket: what it wants, it asks for by requests."""


class ListenError(StackError):
    """A page cannot listen where it is to."""


def listening(host: str, port: int, advice: str) -> socket.socket:
    """Return a TCP socket that listens at an address; port 0: any free one.

    Raises:
        ListenError: it cannot; the text ends with `advice`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # whoever comes before the server has begun waits for it
    except (OSError, OverflowError) as error:
        listener.close()
        raise ListenError(f"cannot listen at {host}, port {port}: {error}: {advice}") from error
    return listener


def listening_there_or_elsewhere(host: str, port: int, name: str, warn: Callable[[str], object]) -> socket.socket:
    """Return a TCP socket that listens at a port, or where that is taken, with a warning, at any other one.

    Raises:
        ListenError: it cannot listen at that address at all.
    """
    try:
        return listening(host, port, f"the {name} takes another port")
    except ListenError as error:
        listener = listening(host, 0, "name an address of this machine")
        warn(str(error))
        return listener


class PageThread:
    """Serves an app until `close`, to clients that cannot use it up (`kc_vla.web.connections`)."""

    def __init__(self, app: Any, listener: socket.socket) -> None:
        """Begin; `listener` is closed with it."""
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=BoundedHttp,
                ws=BoundedWebSocket,
                ws_max_size=_MOST_SAID,
                ws_per_message_deflate=False,  # pictures are small already
                log_level="error",  # a client that does not behave is no business of whoever reads the log
                timeout_graceful_shutdown=1,
            )
        )
        self.port: int = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End, whatever clients do."""
        self._server.should_exit = True
        self._thread.join(_END_S)

    def _run(self, listener: socket.socket) -> None:
        asyncio.run(self._server.serve(sockets=[listener]))
