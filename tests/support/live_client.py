"""A client of the live page without a browser: what it was told, added up."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from contextlib import ExitStack
from typing import Any

from websockets.sync.client import ClientConnection, connect

WAIT_S = 60.0


def open_page(port: int, **headers: str) -> ClientConnection:
    """The WebSocket of a page."""
    address = f"ws://localhost:{port}/api/live"
    return connect(address, additional_headers=headers, compression=None, open_timeout=WAIT_S)


def hear(page: ClientConnection, timeout: float = WAIT_S) -> tuple[dict[str, Any], list[bytes]]:
    """One message: what is in it, and the JPEGs; it is said that they were drawn. TimeoutError without one."""
    data = page.recv(timeout=timeout)
    assert isinstance(data, bytes)
    (length,) = struct.unpack_from(">I", data)
    news, rest, at = json.loads(data[4 : 4 + length]), data[4 + length :], 0
    jpegs = []
    for picture in news["pictures"]:
        jpegs.append(rest[at : at + picture["bytes"]])
        at += picture["bytes"]
    assert at == len(rest)
    page.send("more")
    return news, jpegs


class LivePage:
    """Keeps what a page keeps."""

    def __init__(self, port: int) -> None:
        self._open = ExitStack()
        self._socket = self._open.enter_context(open_page(port))
        self.parts: dict[str, Any] = {}
        self.series: defaultdict[str, list[Any]] = defaultdict(list)
        self.pictures: defaultdict[str, list[bytes]] = defaultdict(list)
        self.problems: list[str] = []

    def poll(self) -> None:
        """Take what has come."""
        try:
            news, jpegs = hear(self._socket, 0.02)
        except TimeoutError:
            return
        if news.get("anew"):
            self.series.clear()
        self.parts |= news.get("parts", {})
        for name, rows in news.get("series", {}).items():
            self.series[name] += rows
        for picture, jpeg in zip(news["pictures"], jpegs, strict=True):
            self.pictures[picture["view"]].append(jpeg)
        self.problems += news.get("problems", [])

    def close(self) -> None:
        """Leave."""
        self._open.close()
