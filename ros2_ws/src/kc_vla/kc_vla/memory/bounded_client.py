"""An HTTP client of the API's own library that reads no more than it has to, however much a server sends."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx2
from openai import DefaultHttpxClient, OpenAIError

MOST_BYTES = 1 << 20
MOST_VECTOR_BYTES = 64 << 20
"""Of an answer in text, and of one with vectors."""


class TooMuchError(OpenAIError):
    """A server sends more than can be an answer, or goes on for too long, or in a form that was not asked for."""


class _Bounded(httpx2.SyncByteStream):
    """A body that ends with an error after so many bytes, or when its time is over."""

    def __init__(self, body: httpx2.SyncByteStream, most: int, seconds: float) -> None:
        self._body, self._most, self._seconds = body, most, seconds
        self._until = time.monotonic() + seconds

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        for part in self._body:
            count += len(part)
            if count > self._most:
                raise TooMuchError(f"sent more than {self._most >> 20} MB: the answer was cut off")
            if time.monotonic() > self._until:
                raise TooMuchError(f"was not done within {self._seconds:g} s: the answer was cut off")
            yield part

    def close(self) -> None:
        self._body.close()


def bounded_client(seconds: float) -> httpx2.Client:
    """A client for a server.

    Args:
        seconds: for one answer, from its first byte, s.
    """

    def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooMuchError("packed its answer, which nobody asked for")  # a few bytes could unpack to any number
        vectors = response.request.url.path.endswith("/embeddings")
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, MOST_VECTOR_BYTES if vectors else MOST_BYTES, seconds)

    return DefaultHttpxClient(
        timeout=seconds, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [bound]}
    )
