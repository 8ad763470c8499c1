"""Topics of a running graph for Foxglove and Lichtblick: as ROS has them, over one port, to whoever asks for them.

The SDK of Foxglove serves; it keeps for each client what that has not taken yet, up to a number of messages, and drops
the oldest. Nothing can be sent by this way: no parameter, no service, no message of a client's is taken.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from threading import Lock
from typing import Any

import foxglove
from foxglove.websocket import ServerListener

from kc_vla.bags.schemas import Schema
from kc_vla.web.serving import ListenError

_BACKLOG = 128
"""Messages that wait for a client: pictures of a second or two, so that a slow one costs tens of megabytes, no more."""
_KEPT = 100
"""Of a topic that tells how something stands: one of each of its publishers."""


class FoxgloveServer(ServerListener):
    """A server that knows which of its topics anybody wants.

    Attributes:
        port: at which it listens.
    """

    def __init__(self, host: str, port: int, changed: Callable[[], None]) -> None:
        """Begin to listen.

        Args:
            host: address of this machine.
            port: 0 for any free one.
            changed: called from another thread when `wanted` has changed, or somebody new wants a topic.

        Raises:
            ListenError: it cannot listen there.
        """
        self._changed = changed
        self._lock = Lock()
        self._asked: Counter[str] = Counter()
        self._newly: set[str] = set()
        self._channels: dict[str, foxglove.Channel] = {}
        self._kept: dict[str, deque[bytes]] = {}
        self._context = foxglove.Context()
        try:
            self._server = foxglove.start_server(
                name="kc_vla",
                host=host,
                port=port,
                server_listener=self,
                context=self._context,
                message_backlog_size=_BACKLOG,
            )
        except RuntimeError as error:
            raise ListenError(f"cannot listen at {host}, port {port}: {error}") from error
        self.port: int = self._server.port

    @property
    def offered(self) -> frozenset[str]:
        """The topics that clients are told of."""
        return frozenset(self._channels)

    @property
    def wanted(self) -> frozenset[str]:
        """Those that at least one client has asked for."""
        with self._lock:
            return frozenset(topic for topic, number in self._asked.items() if number > 0)

    def offer(self, topic: str, schema: Schema, stands: bool) -> None:
        """Tell clients of a topic; `stands`: who asks for it later is told what it said before, too."""
        told = foxglove.Schema(name=schema.type, encoding=schema.encoding, data=schema.text.encode())
        self._channels[topic] = foxglove.Channel(topic, schema=told, message_encoding="cdr", context=self._context)
        if stands:
            self._kept[topic] = deque(maxlen=_KEPT)

    def put(self, topic: str, message: bytes) -> None:
        """Pass a message on, in CDR, to those who want the topic."""
        if topic in self._kept:
            self._kept[topic].append(message)
        self._channels[topic].log(message, log_time=time.time_ns())

    def tell_again(self) -> None:
        """What stands, to those who have asked since the last time; to the others too: it is as it was."""
        with self._lock:
            newly, self._newly = self._newly, set()
        for topic in newly & self._kept.keys():
            for message in self._kept[topic]:
                self._channels[topic].log(message, log_time=time.time_ns())

    def forget(self, topic: str) -> None:
        """Nobody wants it, so nothing more of it will come: what it said last may not be so any more."""
        if topic in self._kept:
            self._kept[topic].clear()

    def close(self) -> None:
        """End it, with its clients."""
        self._server.stop()
        for channel in self._channels.values():
            channel.close()

    # -- called by the server, from a thread of its own ---------------------------------------------------------

    def on_subscribe(self, client: Any, channel: Any) -> None:
        """A client wants a topic."""
        with self._lock:
            self._asked[channel.topic] += 1
            self._newly.add(channel.topic)
        self._changed()

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        """A client wants it no more, or is gone."""
        with self._lock:
            self._asked[channel.topic] -= 1
        self._changed()
