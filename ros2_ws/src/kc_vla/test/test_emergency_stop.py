"""What whoever stops and releases the arm is answered, beside a node that only listens."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from std_srvs.srv import Trigger

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
        self.problems: list[tuple[Any, ...]] = []

    def advertise(self, *_: object) -> Any:
        return SimpleNamespace(publish=lambda message: self.said.append(message.data))

    def subscribe(self, *_: object) -> None: ...

    def serve(self, kind: object, name: str, answer: Any) -> None:
        self.services[name] = answer

    def problem(self, *told: Any) -> None:
        self.problems.append(told)

    def call(self, name: str) -> Trigger.Response:
        return self.services[name](Trigger.Request(), Trigger.Response())


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
