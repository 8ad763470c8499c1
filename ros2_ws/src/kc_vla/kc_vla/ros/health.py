"""How a node is: its problem of the moment, its latencies and its losses, in the log and in the diagnostics."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from kc_vla.core import topics
from kc_vla.core.latency import Statistics
from kc_vla.core.log_budget import LogBudget

CANNOT_SELECT = "cannot select keyframes of"
"""Key of the diagnostics of a selector that has none to give in an episode, with the id of that episode."""
CANNOT_ACT = "cannot act in"
"""Likewise, of a policy that never answers in an episode."""
_NUMBER = re.compile(r"\d+")
_AGAIN_S, _MOST = 1.0, 3
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class Health:
    """Of one node."""

    def __init__(self, node: Node, statistics: Statistics) -> None:
        self._node, self._statistics = node, statistics
        self._problem: tuple[Any, str] = (OK, "")
        self._log_budget = LogBudget()
        self._kind, self._since, self._times = "", 0.0, 0  # of the problem that was told last
        self._diagnostics = node.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, 10)

    def problem(self, text: str, level: Any) -> None:
        """Tell a problem until `problem("", ...)`, and once in the log, as far as its budget goes.

        Of those that differ in nothing but their numbers, a few are logged in a second.
        """
        if text and text != self._problem[1] and not self._repeats(text) and self._log_budget.take():
            if level == ERROR:  # two lines of code: rclpy refuses two severities from one
                self._node.get_logger().error(text)
            else:
                self._node.get_logger().warning(text)
        self._problem = (level, text) if text else (OK, "")

    def _repeats(self, text: str) -> bool:
        """Whether nearly the same was logged often enough just now."""
        kind, now = _NUMBER.sub("#", text), time.monotonic()
        if kind != self._kind or now - self._since > _AGAIN_S:
            self._kind, self._since, self._times = kind, now, 0
        self._times += 1
        return self._times > _MOST

    def publish(self, details: Mapping[str, object]) -> None:
        """Publish the diagnostics, with what else the node tells of itself."""
        level, text = self._problem
        values = dict(details)
        for stage, summary in self._statistics.percentiles().items():
            values[f"latency/{stage}/count"] = summary.count
            values[f"latency/{stage}/p50_ms"] = f"{summary.p50 * 1e3:.3f}"
            values[f"latency/{stage}/p99_ms"] = f"{summary.p99 * 1e3:.3f}"
            values[f"latency/{stage}/max_ms"] = f"{summary.maximum * 1e3:.3f}"
        for topic, count in self._statistics.dropped.items():
            values[f"dropped/{topic}"] = count
        status = DiagnosticStatus(
            level=level,
            name=self._node.get_fully_qualified_name().lstrip("/"),
            message=text or "ok",
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(message)
