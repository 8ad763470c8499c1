"""Topics of a running graph for Foxglove and Lichtblick: as ROS has them, over one port, to any client.

The SDK of Foxglove serves; it keeps for each client what that has not taken yet, up to a number of messages, and drops
the oldest. Nothing can be sent by this way: no parameter, no service, no message of a client's is taken.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import foxglove
from foxglove.websocket import ServerListener

from kc_vla.bags.schemas import Schema
from kc_vla.live.foxglove_access import ORIGINS, FoxgloveAccess, hidden_address
from kc_vla.web.access import HERE
from kc_vla.web.serving import ListenError, listening

_BACKLOG = 128
"""Messages that wait for a client: images of a second or two, so that a slow one costs tens of megabytes, no more."""
_KEPT = 100
"""Messages that are kept of a topic with a state: the last one of each publisher."""


class FoxgloveServer(ServerListener):
    """A server that knows which of its topics anybody wants.

    Attributes:
        port: at which it listens.
    """

    def __init__(self, host: str, port: int, changed: Callable[[], None], origins: Sequence[str] = ORIGINS) -> None:
        """Begin to listen.

        Args:
            host: address of this machine.
            port: 0 for any free one.
            origins: of the pages that may look on, beside those that this machine serves.
            changed: called from another thread when `wanted` has changed, or a new client wants a topic.

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
        listener = listening(host, port, "name another port, 0 for any free one")
        inside = hidden_address()
        try:
            self._server = foxglove.start_server(
                name="kc_vla",
                host=inside,
                port=0,
                server_listener=self,
                context=self._context,
                message_backlog_size=_BACKLOG,
            )
        except RuntimeError as error:
            listener.close()
            raise ListenError(f"cannot listen at {inside}: {error}") from error
        self._door = FoxgloveAccess(listener, (inside, self._server.port), (host, f"[{host}]", *HERE), origins)
        self.port: int = self._door.port

    @property
    def offered(self) -> frozenset[str]:
        """Return the topics that are offered to clients."""
        return frozenset(self._channels)

    @property
    def wanted(self) -> frozenset[str]:
        """Return those that at least one client has asked for."""
        with self._lock:
            return frozenset(topic for topic, number in self._asked.items() if number > 0)

    def offer(self, topic: str, schema: Schema, stands: bool) -> None:
        """Offer a topic to clients.

        With `stands`, a client that asks for it later gets what was published before, too.
        """
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
        """Send what stands again to those who have asked since the last time; for the others it is as it was."""
        with self._lock:
            newly, self._newly = self._newly, set()
        for topic in newly & self._kept.keys():
            for message in self._kept[topic]:
                self._channels[topic].log(message, log_time=time.time_ns())

    def forget(self, topic: str) -> None:
        """Forget what a topic said last, because nobody wants it and nothing more of it will come."""
        if topic in self._kept:
            self._kept[topic].clear()

    def close(self) -> None:
        """End it, with its clients."""
        self._door.close()
        self._server.stop()
        for channel in self._channels.values():
            channel.close()

    # -- called by the server, from a thread of its own ---------------------------------------------------------

    def on_subscribe(self, client: Any, channel: Any) -> None:
        """Note that a client wants a topic."""
        with self._lock:
            self._asked[channel.topic] += 1
            self._newly.add(channel.topic)
        self._changed()

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        """Note that a client does not want a topic any more, or is gone."""
        with self._lock:
            self._asked[channel.topic] -= 1
        self._changed()
