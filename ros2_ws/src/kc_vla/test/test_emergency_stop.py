"""What whoever stops and releases the arm is answered, beside a node that only listens."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from std_srvs.srv import Trigger

from kc_vla.arm.stop_latch import StopLatch
from kc_vla.core import topics
from kc_vla.core.chunk import ChunkLimits
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import ChunkScheduler, SchedulerSettings
from kc_vla.ros.base import ERROR
from kc_vla.ros.emergency_stop import EmergencyStop


class Node:
    """Keeps what is said and served."""

    def __init__(self) -> None:
        self.services: dict[str, Any] = {}
        self.said: list[bool] = []
        self.timers: list[Any] = []
        self.problems: list[tuple[Any, ...]] = []

    def advertise(self, *_: object) -> Any:
        return SimpleNamespace(publish=lambda message: self.said.append(message.data))

    def subscribe(self, *_: object) -> None: ...

    def serve(self, kind: object, name: str, answer: Any) -> None:
        self.services[name] = answer

    def every(self, period: float, callback: Any) -> None:
        self.timers.append(callback)

    async def sleep(self, seconds: float) -> None: ...

    def problem(self, *told: Any) -> None:
        self.problems.append(told)

    def call(self, name: str) -> Trigger.Response:
        answer = self.services[name](Trigger.Request(), Trigger.Response())
        return asyncio.run(answer) if asyncio.iscoroutine(answer) else answer


@pytest.fixture
def node() -> Node:
    return Node()


def stop_of(node: Node, folder: Path) -> EmergencyStop:
    controller = ArmController(ChunkScheduler(SchedulerSettings(5, 0), ChunkLimits()), None)
    return EmergencyStop(node, controller, folder)  # type: ignore[arg-type]


def test_a_stop_that_is_not_on_record_holds_and_says_so(node: Node, tmp_path: Path) -> None:
    folder = tmp_path / "state"
    stop = stop_of(node, folder)
    folder.write_text("something else is in its place")
    answer = node.call(topics.STOP)
    assert answer.success
    assert answer.message.startswith("stopped, but not on record: ")
    assert stop.is_set
    assert node.said[-1] is True


def test_what_the_arm_waits_for_beside_the_stop_is_said_again_once_that_is_released(node: Node, tmp_path: Path) -> None:
    stop = stop_of(node, tmp_path)
    blocked = ["the arm was found with power: call arm/resume"]
    stop.on_release(lambda: blocked[0])
    assert node.call(topics.STOP).message == "stopped"
    released = node.call(topics.RELEASE_E_STOP)
    assert released.success
    assert released.message == f"released, but: {blocked[0]}"
    assert node.problems[-1] == (blocked[0], ERROR)
    blocked[0] = ""
    node.call(topics.STOP)
    assert node.call(topics.RELEASE_E_STOP).message == "released"
    assert node.problems[-1] == ("",)


def test_a_release_is_told_again_and_says_what_else_holds_the_arm(node: Node, tmp_path: Path) -> None:
    stop = stop_of(node, tmp_path)
    own = ["the arm's own emergency stop is set: call arm/reset, then arm/resume"]
    stop.on_release(lambda: own[0])
    node.call(topics.STOP)
    for begin in ("released, but: ", "released: no emergency stop is set, but: "):
        told = node.call(topics.RELEASE_E_STOP)
        assert told.success
        assert told.message == begin + own[0]
    own[0] = ""
    assert node.call(topics.RELEASE_E_STOP).message == "released: no emergency stop is set"
    assert node.said == [False, True, False]


def test_a_press_that_others_put_on_record_is_found(node: Node, tmp_path: Path) -> None:
    stop = stop_of(node, tmp_path)
    halted: list[bool] = []
    stop.on_set(lambda: halted.append(True))
    (watch,) = node.timers
    watch()
    assert not stop.is_set
    StopLatch(tmp_path).set("an emergency stop was pressed (arm/e_stop)")
    watch()
    assert stop.is_set
    assert halted == [True]
    assert stop.advice == "the emergency stop is set: call arm/release_e_stop first"
    assert "(arm/e_stop)" in node.problems[-1][0]


@pytest.mark.parametrize("again", [1, 3])
def test_a_controller_after_one_that_was_killed_starts_stopped_as_often_as_that_happens(
    tmp_path: Path, again: int
) -> None:
    for _ in range(again):
        killed = stop_of(Node(), tmp_path)
        killed.begin()
        os.close(killed._mark._held or -1)  # as the kernel does it
    node = Node()
    stop = stop_of(node, tmp_path)
    stop.begin()
    assert stop.is_set
    assert stop.advice.endswith("call arm/release_e_stop, then arm/resume")
    assert node.call(topics.RELEASE_E_STOP).success
    stop.end()
    after = stop_of(Node(), tmp_path)
    after.begin()
    assert not after.is_set
