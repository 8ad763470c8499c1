"""The way to a GR00T server: a ZeroMQ socket that asks and is answered; a new one after each failure."""

from __future__ import annotations

import atexit
import re
import threading
import time

import zmq

from kc_vla.policy.interface import PolicyError
from kc_vla.policy.remote.session import LinkError
from kc_vla.policy.remote.wire import MOST_BYTES, bounded, line

_ADDRESS = re.compile(r"(tcp://(\[[0-9a-fA-F:]+\]|[\w.-]+))(:\d+)?/?")
_PORT = ":5555"
_LOOK_MS, _LEAVE_S = 50, 1.0


class ZmqLink:
    """Does `Link`."""

    def __init__(self, server: str) -> None:
        """Prepare; `open` makes the socket.

        Args:
            server: tcp://host[:5555].

        Raises:
            PolicyError: this is no such address.
        """
        found = _ADDRESS.fullmatch(server)
        if found is None:
            raise PolicyError(
                f"server:={line(server)} is no address of a GR00T server: it is like tcp://localhost:5555"
            )
        self.where = f"{found[1]}{found[3] or _PORT}"
        self._socket: zmq.Socket[bytes] | None = None
        self._lock = threading.Lock()  # guards the socket
        self._left = threading.Event()
        atexit.register(self.leave)

    def open(self, deadline: float) -> None:
        """Make a new socket; ZeroMQ connects it with the first exchange.

        Raises:
            LinkError: the address is none.
        """
        self.close()
        with self._lock:
            self._socket = zmq.Context.instance().socket(zmq.REQ)
            self._socket.setsockopt(zmq.LINGER, 0)
            self._socket.setsockopt(zmq.IMMEDIATE, 1)  # nothing is sent to nobody: none is there to hear it later
            self._socket.setsockopt(zmq.MAXMSGSIZE, MOST_BYTES)
            self._socket.setsockopt(zmq.IPV6, int("[" in self.where))
            try:
                self._socket.connect(self.where)
            except zmq.ZMQError as error:
                raise LinkError(f"cannot be reached: {line(str(error))}") from error

    def exchange(self, request: bytes, deadline: float) -> bytes:
        """Send a request as one message, and return the message that answers it.

        Raises:
            LinkError: nobody listens, no answer comes in time, or it is not one message.
        """
        with self._lock:
            if not self._ready(zmq.POLLOUT, deadline):
                raise LinkError("cannot be reached: nobody listens there")
            assert self._socket is not None
            self._socket.send(bounded(request), zmq.NOBLOCK)
            began = time.monotonic()
            if not self._ready(zmq.POLLIN, deadline):
                took = time.monotonic() - began
                raise LinkError(f"has not answered for {took:.2g} s, or with more than {MOST_BYTES / 1e6:.0f} MB")
            parts = self._socket.recv_multipart(zmq.NOBLOCK)
        if len(parts) != 1:
            raise LinkError(f"gave an answer in {len(parts)} parts")
        return parts[0]

    def close(self) -> None:
        """Close the socket and drop what is still to be sent."""
        with self._lock:
            self._close()

    def leave(self) -> None:
        """Stop the wait for an answer, and close: ZeroMQ would wait at its end for what is still open."""
        self._left.set()
        if self._lock.acquire(timeout=_LEAVE_S):
            self._close()
            self._lock.release()

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ready(self, what: int, deadline: float) -> bool:
        """Return whether the socket is, before the deadline."""
        while self._socket is not None and not self._left.is_set():
            left_ms = int(1e3 * (deadline - time.monotonic()))
            if self._socket.poll(max(1, min(left_ms, _LOOK_MS)), what):
                return True
            if left_ms <= 0:
                break
        return False
