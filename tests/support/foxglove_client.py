"""Foxglove, as far as it asks for topics: what its server is asked and tells, without the program itself."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROTOCOL = "foxglove.sdk.v1"
MESSAGE = 1
"""The first byte of a message in the protocol; then the number of the subscription, the time, and the message."""


class Client:
    """One connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.channels: dict[str, dict[str, Any]] = {}

    def hear(self, seconds: float = 0.2) -> list[tuple[int, bytes]]:
        """Messages that come in this time, each with the number of its subscription."""
        until, found = time.monotonic() + seconds, []
        while (left := until - time.monotonic()) > 0:
            try:
                said = self.socket.recv(left)
            except TimeoutError:
                break
            if isinstance(said, bytes):
                if said[0] == MESSAGE:
                    found.append((struct.unpack_from("<I", said, 1)[0], said[13:]))
                continue
            told = json.loads(said)
            if told["op"] == "advertise":
                self.channels |= {each["topic"]: each for each in told["channels"]}
        return found

    def find(self, *wanted: str) -> None:
        """Wait until topics are offered."""
        until = time.monotonic() + 30
        while not self.channels.keys() >= set(wanted) and time.monotonic() < until:
            self.hear()
        assert self.channels.keys() >= set(wanted)

    def ask(self, number: int, topic: str) -> None:
        """Want a topic, by a number of one's own."""
        asked = [{"id": number, "channelId": self.channels[topic]["id"]}]
        self.socket.send(json.dumps({"op": "subscribe", "subscriptions": asked}))

    def leave(self, number: int) -> None:
        """Want it no more."""
        self.socket.send(json.dumps({"op": "unsubscribe", "subscriptionIds": [number]}))


@contextmanager
def client(address: str) -> Iterator[Client]:
    """A connection to an address."""
    with connect(address, subprotocols=[PROTOCOL], max_size=None) as socket:
        yield Client(socket)
