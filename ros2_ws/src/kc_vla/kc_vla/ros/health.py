"""How a node is: its problem of the moment, its latencies and its losses, in the log and in the diagnostics."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from kc_vla.core import topics
from kc_vla.core.latency import Statistics
from kc_vla.core.namespaces import name_within
from kc_vla.core.repeated_lines import LogBudget, RepeatedLines

CANNOT_SELECT = "cannot select keyframes of"
"""Key of the diagnostics of a selector that has none to give in an episode, with the id of that episode."""
CANNOT_ACT = "cannot act in"
"""Likewise, of a policy that never answers in an episode."""
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


def within(node: Node, message: DiagnosticArray) -> DiagnosticArray:
    """Return what diagnostics say of the nodes in a node's namespace, which they name without it then.

    All stacks of a ROS domain share the topic, for the tools that watch it.
    """
    own: list[DiagnosticStatus] = []
    for status in message.status:
        if (name := name_within(status.name, node.get_namespace())) is not None:
            status.name = name
            own.append(status)
    return DiagnosticArray(header=message.header, status=own)


class Health:
    """The diagnostics of one node: its problem, its log lines and its statistics."""

    def __init__(self, node: Node, statistics: Statistics) -> None:
        self._node, self._statistics = node, statistics
        self._problem: tuple[Any, str] = (OK, "")
        self._log_budget = LogBudget()
        self._lines = RepeatedLines()
        self._diagnostics = node.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, 10)

    def problem(self, text: str, level: Any) -> None:
        """Report a problem until `problem("", ...)`, and in the log, as far as its budget goes.

        Of those that differ in nothing but their numbers the first is logged, and then how often they came.
        """
        if (
            text
            and text != self._problem[1]
            and self._lines.is_news(text, time.monotonic())
            and self._log_budget.take()
        ):
            self._log(text, level)
        self._problem = (level, text) if text else (OK, "")

    def note(self, text: str) -> None:
        """Warn in the log alone, once however often it comes."""
        if self._lines.is_news(text, time.monotonic()) and self._log_budget.take():
            self._log(text, WARN)

    def _log(self, text: str, level: Any) -> None:
        if level == ERROR:  # two lines of code: rclpy refuses two severities from one
            self._node.get_logger().error(text)
        else:
            self._node.get_logger().warning(text)

    def publish(self, details: Mapping[str, object], hardware: str) -> None:
        """Publish the diagnostics, with what else the node reports of itself, and of which hardware."""
        for line in self._lines.due(time.monotonic()):
            self._log(line, WARN)
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
            hardware_id=hardware,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(message)
