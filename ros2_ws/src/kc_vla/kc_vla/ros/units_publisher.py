"""What the short-term memory holds, on topics, while there are subscribers."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.inference.worker import JobOutcome, Runner
from kc_vla.memory.live_units import LiveUnits, News
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import time_message
from kc_vla.ros.units import change_message, units_message
from kc_vla_msgs.msg import MemoryChanges, MemoryUnits

_TELL_S = 0.5


class UnitsPublisher:
    """Publishes each change, and all units within half a second of a change."""

    def __init__(self, node: StackNode, live: LiveUnits, work: Runner) -> None:
        """Advertise the topics.

        Args:
            node: that is starting.
            live: the memory.
            work: does the jobs of the memory.
        """
        self._node, self._live, self._work = node, live, work
        self._changed, self._telling = False, False
        self._units = node.advertise(MemoryUnits, topics.SHORT_TERM_UNITS, qos.STATUS)
        self._changes = node.advertise(MemoryChanges, topics.SHORT_TERM_CHANGES, qos.EVENT)
        node.every(_TELL_S, self._publish_units)

    def publish(self, news: Sequence[News], episode_id: str = "") -> None:
        """Publish what became of units, in an episode if that is known."""
        self._changed = self._changed or bool(news)
        if news and self._changes.get_subscription_count():
            message = MemoryChanges(episode_id=episode_id, changes=[change_message(each) for each in news])
            message.header.stamp = time_message(self._now_ns())
            self._changes.publish(message)

    def publish_soon(self) -> None:
        """Publish all units soon: they have changed."""
        self._changed = True

    def all_units(self) -> MemoryUnits:
        """Return all that the memory holds; a job of its worker."""
        memory = self._live.memory
        return units_message(self._live.held(), memory.capacity, memory.policy, self._now_ns())

    def _publish_units(self) -> None:
        if self._changed and not self._telling and self._units.get_subscription_count():
            self._changed, self._telling = False, True
            self._work.submit(self.all_units, self._on_units)

    def _on_units(self, outcome: JobOutcome[MemoryUnits]) -> None:
        self._telling = False
        try:
            self._units.publish(outcome.result())
        except StackError:
            self._changed = True  # it had to wait too long: the next time

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)
