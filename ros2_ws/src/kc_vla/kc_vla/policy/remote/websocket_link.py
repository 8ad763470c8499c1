"""The way to an openpi server: a WebSocket; the server speaks first, and a text is an error."""

from __future__ import annotations

import logging
import socket
import struct
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.sync.client import ClientConnection, connect

from kc_vla.core.ports import OPENPI
from kc_vla.policy.interface import PolicyError
from kc_vla.policy.remote.session import UNKNOWN, LinkError, RefusedError
from kc_vla.policy.remote.wire import MOST_BYTES, bounded, line

_CLOSE_S = 0.05
_UNWANTED, _TOO_LARGE = 1008, 1009
_QUIET = logging.getLogger(f"{__name__}.library")
"""Logger of the library, kept quiet: this module reports a failed connection in a line, without a traceback."""
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class WebSocketLink:
    """Does `Link`. `greeting` is what the server said first."""

    def __init__(self, server: str, token: str = "") -> None:
        """Prepare; `open` connects.

        Args:
            server: ws://host[:8000] or wss://...
            token: sent as openpi's client does.

        Raises:
            PolicyError: this is no such address.
        """
        try:
            found = urlsplit(server)
            port = found.port
        except ValueError:
            found, port = urlsplit(""), None
        if found.scheme not in ("ws", "wss") or not found.hostname:
            raise PolicyError(
                f"server:={line(server)} is no address of an openpi server: it is like ws://localhost:8000"
            )
        host = f"[{found.hostname}]" if ":" in found.hostname else found.hostname
        default = OPENPI if found.scheme == "ws" else 443
        self.where = f"{found.scheme}://{host}:{port or default}"
        self._uri = f"{self.where}{found.path or '/'}"
        self._headers = {"Authorization": f"Api-Key {token}"} if token else {}
        self._socket: ClientConnection | None = None
        self._opened = ExitStack()
        self.greeting = b""

    def open(self, deadline: float) -> None:
        """Open a new WebSocket, and wait for the server's handshake.

        Raises:
            LinkError: the server cannot be reached or says nothing in time.
            RefusedError: the server refuses the connection.
        """
        self.close()
        try:
            opened = connect(
                self._uri,
                additional_headers=self._headers,
                compression=None,
                proxy=None,
                max_size=MOST_BYTES,
                open_timeout=_left(deadline),
                close_timeout=_CLOSE_S,
                logger=_QUIET,
                ping_interval=None,  # a server that computes on its event loop answers none
            )
            self._socket = self._opened.enter_context(opened)
        except InvalidStatus as error:
            status = error.response.status_code
            why = f": {UNKNOWN}" if status in (401, 403) else ""
            raise RefusedError(f"refuses the connection with status {status}{why}") from error
        except (InvalidURI, InvalidHandshake, EOFError) as error:
            raise LinkError(f"is no openpi server: {line(str(error))}") from error
        except TimeoutError as error:
            raise LinkError("does not take the connection: is it an openpi server?") from error
        except OSError as error:
            raise LinkError(f"cannot be reached: {line(error.strerror or str(error))}") from error
        self.greeting = self._receive(deadline)

    def exchange(self, request: bytes, deadline: float) -> bytes:
        """Send a request as one message, and return the message that answers it.

        Raises:
            LinkError: the connection is lost, or no answer comes in time.
            RefusedError: the server answers with a text, which is an error.
        """
        assert self._socket is not None
        left = _left(deadline)
        # Without it a server that hangs, its buffers full, would hold up the sender for ever.
        patience = struct.pack("@ll", int(left), int(left % 1 * 1e6))
        try:
            self._socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
            self._socket.send(bounded(request))
        except (ConnectionClosed, OSError) as error:
            raise _lost(error) from error
        return self._receive(deadline)

    def close(self) -> None:
        """Close the WebSocket without waiting for the server."""
        if self._socket is not None:
            with suppress(OSError):  # it may be closed already
                self._socket.socket.shutdown(socket.SHUT_RDWR)  # so that nothing waits for a server that hangs
            self._opened.close()
            self._socket = None

    def _receive(self, deadline: float) -> bytes:
        assert self._socket is not None
        waited = _left(deadline)
        try:
            frame = self._socket.recv(timeout=waited)
        except TimeoutError as error:
            raise LinkError(f"has not answered for {waited:.2g} s") from error
        except (ConnectionClosed, OSError) as error:
            raise _lost(error) from error
        if isinstance(frame, str):
            last = frame.strip().splitlines()[-1:] or ["an error without words"]
            raise RefusedError(f"tells an error: {line(last[0])}")
        return frame


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())


def _lost(error: Exception) -> PolicyError:
    if not isinstance(error, ConnectionClosed):
        return LinkError(f"is lost: {line(str(error))}")
    close = error.sent if error.rcvd is None else error.rcvd
    if close is not None and close.code == _TOO_LARGE:
        who = "sends" if error.rcvd is None else "does not take"
        return RefusedError(f"{who} a frame that is too large: {line(close.reason) or 'limit unknown'}")
    if close is not None and close.code == _UNWANTED:
        return RefusedError(f"ends the connection: {line(close.reason) or 'it is not wanted'}")
    why = f" ({close.code} {line(close.reason)})" if close is not None else ""
    return LinkError(f"has ended the connection{why}")
