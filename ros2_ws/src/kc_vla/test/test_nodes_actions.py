"""Action servers of the stack's nodes: how long they keep a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor

from kc_vla.ros import base
from kc_vla.ros.base import StackNode
from kc_vla_msgs.action import ExecuteInstruction

_PATIENCE_S = 60.0


@pytest.fixture
def spinning(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """A client of an action whose results are kept for a second, and what waits for an answer."""
    monkeypatch.setattr(base, "_RESULT_KEPT_S", 1)
    rclpy.init()
    node, other = StackNode("served"), rclpy.create_node("asks")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(other)

    def execute(goal: Any) -> Any:
        goal.succeed()
        return ExecuteInstruction.Result()

    server = node.serve_action(
        ExecuteInstruction, "an_action", execute, lambda goal: GoalResponse.ACCEPT, lambda goal: CancelResponse.REJECT
    )

    def answer(future: Any) -> Any:
        executor.spin_until_future_complete(future, _PATIENCE_S)
        return future.result()

    client = ActionClient(other, ExecuteInstruction, "an_action")
    yield client, answer
    client.destroy()
    server.destroy()
    executor.shutdown()
    node.destroy_node()
    other.destroy_node()
    rclpy.shutdown()


def test_a_result_is_there_for_who_asks_and_not_kept_for_long(spinning: tuple[Any, Callable[[Any], Any]]) -> None:
    client, answer = spinning
    assert client.wait_for_server(_PATIENCE_S)
    goal = answer(client.send_goal_async(ExecuteInstruction.Goal()))
    assert answer(goal.get_result_async()).status == GoalStatus.STATUS_SUCCEEDED
    until = time.monotonic() + _PATIENCE_S
    while (status := answer(client._get_result_async(goal)).status) == GoalStatus.STATUS_SUCCEEDED:
        assert time.monotonic() < until, "it is still kept"
        time.sleep(0.2)
    assert status == GoalStatus.STATUS_UNKNOWN
