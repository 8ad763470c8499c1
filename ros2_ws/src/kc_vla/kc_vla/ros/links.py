"""Who is linked with whom: the middleware finds publishers and subscriptions one by one, and loses what is said before.

A node tells in its diagnostics how many readers each of its publishers has found, and how many writers each of its
subscriptions (`links_of`). The node that begins an episode compares that with what there is in the graph (`Links`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.health import within

READERS, WRITERS = "readers", "writers"
"""How the key of a number in the diagnostics begins; the full name of the topic follows."""
PATIENCE_S = 10.0
"""How long two ends may take to find each other: those that cannot, by their quality of service, never do."""


def links_of(publishers: Iterable[Any], subscriptions: Iterable[Any]) -> dict[str, int]:
    """Return what a node reports of its own ends: key of the diagnostics to number of peers found."""
    found = {f"{READERS}{publisher.topic_name}": publisher.get_subscription_count() for publisher in publishers}
    return found | {f"{WRITERS}{each.topic_name}": each.get_publisher_count() for each in subscriptions}


class Links:
    """Whether all have found one another on the topics where nothing may be lost."""

    def __init__(self, node: Any, watched: Iterable[str], steady: Callable[[], float] = time.monotonic) -> None:
        """Begin to watch.

        Args:
            node: a `StackNode`, that listens to the others and sees the graph.
            watched: names of topics.
            steady: a clock, s.
        """
        self._node, self._steady = node, steady
        self._watched = tuple(node.resolve_topic_name(topic) for topic in watched)
        self._told: dict[str, Mapping[str, int]] = {}
        self._waits_since: dict[str, float] = {}
        self._passed_over: set[str] = set()
        node.subscribe(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, qos.EVENT)

    def missing(self, nodes: Iterable[str]) -> list[str]:
        """Return what these nodes, or others, have not found yet, in words; what is past patience is left out."""
        short = {f"{name}'s diagnostics" for name in nodes if name not in self._told}
        short |= {f"{name}'s {topic}" for name in self._told for topic in self._watched if self._is_short(name, topic)}
        now = self._steady()
        self._waits_since = {what: self._waits_since.get(what, now) for what in short}
        for what in sorted(short - self._passed_over):
            if now - self._waits_since[what] >= PATIENCE_S:
                self._passed_over.add(what)
                self._node.get_logger().warning(
                    f"{what}: not everybody was found within {PATIENCE_S:g} s, and may miss what is said there; a "
                    "listener that asks for a quality of service which is not offered never is"
                )
        return sorted(short - self._passed_over)

    def _is_short(self, name: str, topic: str) -> bool:
        told = self._told[name]
        readers, writers = told.get(f"{READERS}{topic}"), told.get(f"{WRITERS}{topic}")
        return (readers is not None and readers < self._node.count_subscribers(topic)) or (
            writers is not None and writers < self._node.count_publishers(topic)
        )

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in within(self._node, message).status:
            self._told[status.name] = {
                pair.key: int(pair.value)
                for pair in status.values
                if pair.key.startswith((READERS, WRITERS)) and pair.value.isdecimal()
            }
