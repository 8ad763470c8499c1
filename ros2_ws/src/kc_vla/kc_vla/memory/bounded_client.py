"""An HTTP client of the API's own library that waits and reads no more than it has to, however much a server sends."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
from openai import DefaultHttpxClient, OpenAIError

MOST_BYTES = 1 << 20
MOST_VECTOR_BYTES = 64 << 20
"""Bytes of the largest answer in text, and of the largest one with vectors."""
_DEADLINE = "kc_vla_deadline"
"""Key of a request's extensions."""
_ASKS_TO_WAIT = ("retry-after", "retry-after-ms")


class TooMuchError(OpenAIError):
    """A server sends more than can be an answer, or goes on for too long, or in a form that was not asked for."""


class _Deadline:
    """Ends a request when its time is over, whatever it waits for: its sockets are shut down.

    Time-outs of a socket bound one read each. A server that sends a byte now and then, or one informational response
    after the other, never reaches them.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._until = seconds, time.monotonic() + seconds
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._shut_down)
        self._timer.daemon = True
        self._timer.start()

    @property
    def over(self) -> bool:
        """Return whether its time is over."""
        return time.monotonic() >= self._until

    def watch(self, event: str, info: dict[str, Any]) -> None:
        """Take in what the library traces of a request: each connection that it opens for it."""
        socket_of = getattr(info.get("return_value"), "get_extra_info", None)
        found = socket_of("socket") if socket_of is not None else None
        if found is not None:
            with self._lock:
                self._sockets.append(found)
            if self.over:
                self._shut_down()

    def end(self) -> None:
        """Have nothing shut down any more: the answer is read, or given up."""
        self._timer.cancel()

    def _shut_down(self) -> None:
        with self._lock:
            for each in self._sockets:
                with suppress(OSError, ValueError):  # closed meanwhile
                    # of an encrypted one, too, the plain call: it must not wait for the other side to agree
                    socket.socket.shutdown(each, socket.SHUT_RDWR)

    def __str__(self) -> str:
        return f"was not done within {self._seconds:g} s: the answer was cut off"


class _Bounded(httpx2.SyncByteStream):
    """A body that ends with an error after so many bytes, or when the time of its request is over."""

    def __init__(self, body: httpx2.SyncByteStream, most: int, deadline: _Deadline) -> None:
        self._body, self._most, self._deadline = body, most, deadline

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        try:
            for part in self._body:
                count += len(part)
                if count > self._most:
                    raise TooMuchError(f"sent more than {self._most >> 20} MB: the answer was cut off")
                if self._deadline.over:
                    break
                yield part
        except httpx2.TransportError as error:
            if not self._deadline.over:
                raise TooMuchError("broke its answer off: try again, or see what the server's own log says") from error
        if self._deadline.over:  # a connection that was shut down can look like the end of an answer
            raise TooMuchError(str(self._deadline))

    def close(self) -> None:
        self._deadline.end()
        self._body.close()


class BoundedClient(DefaultHttpxClient):
    """An HTTP client whose requests each have a deadline and a bounded answer.

    Each request has a connection of its own, so that its deadline ends nobody else's.
    """

    def __init__(self, seconds: float, login: tuple[str, str] | None = None) -> None:
        """Open a client without a connection yet.

        Args:
            seconds: for a request and its whole answer.
            login: user and password.
        """
        super().__init__(
            auth=login,
            timeout=seconds,
            limits=httpx2.Limits(max_keepalive_connections=0),
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_bound]},
        )
        self._seconds = seconds

    def send(self, request: httpx2.Request, **given: Any) -> httpx2.Response:
        """Send a request; `httpx2.ReadTimeout` where its time is over before the answer's headers are there."""
        deadline = _Deadline(self._seconds)
        request.extensions = {**request.extensions, "trace": deadline.watch, _DEADLINE: deadline}
        try:
            return super().send(request, **given)
        except httpx2.TransportError as error:
            deadline.end()
            if deadline.over:
                raise httpx2.ReadTimeout(str(deadline), request=request) from error
            raise
        except BaseException:
            deadline.end()
            raise


def _bound(response: httpx2.Response) -> None:
    for name in _ASKS_TO_WAIT:  # who asks waits by its own settings, and not for a minute because a server says so
        response.headers.pop(name, None)
    if response.headers.get("content-encoding", "identity") != "identity":
        raise TooMuchError("packed its answer, which nobody asked for")  # a few bytes could unpack to any number
    vectors = response.request.url.path.endswith("/embeddings")
    assert isinstance(response.stream, httpx2.SyncByteStream)
    most = MOST_VECTOR_BYTES if vectors else MOST_BYTES
    response.stream = _Bounded(response.stream, most, response.request.extensions[_DEADLINE])


def bounded_client(seconds: float, login: tuple[str, str] | None = None) -> httpx2.Client:
    """Return a client for a server.

    Args:
        seconds: for one request and its whole answer, from the connection to the last byte, s.
        login: user and password; None where the server wants none.
    """
    return BoundedClient(seconds, login)


def _without_parameters(record: logging.LogRecord) -> bool:
    """Have the library log addresses without their parameters: a token can be one."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            each.copy_with(query=None, userinfo=b"") if isinstance(each, httpx2.URL) else each for each in record.args
        )
    return True


for _name in ("httpx2", "openai._base_client"):
    logging.getLogger(_name).addFilter(_without_parameters)
