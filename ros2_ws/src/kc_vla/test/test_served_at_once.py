"""Both memories are told of a look before either has answered, and one that cannot take it says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from threading import Barrier, BrokenBarrierError, Thread
from typing import Any

import pytest
import rclpy
from node_process import WAIT_S
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from served_memory import ServedMemory

from kc_vla.core import topics
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.robot.robot_memory import RobotMemory
from kc_vla.memory.things import ObservedThing
from kc_vla.ros.service_caller import ServiceError
from kc_vla_msgs.srv import EnterMap, ForgetUnits, ObserveScene, ObserveUnits

GROUNDS = NavigationMap([Area("area_1", "ground", (0.0, 0.0, 0.0), {}, "kitchen")])
MUG = ObservedThing("Mug", "Mug_1", (0.0, 0.0, 1.0), (0.1, 0.1, 0.1), "", {}, "on", "Table_1", "area_1", True, 0.75)
LOOK = SceneObservation([MUG], "area_1", 1.0)


class Memories:
    """Two memories of which each answers once both have been told."""

    def __init__(self, node: Node) -> None:
        self.both = Barrier(2, timeout=WAIT_S / 2)
        self.units_refusal = ""
        group = ReentrantCallbackGroup()
        for kind, name in ((EnterMap, topics.ENTER_MAP), (ForgetUnits, topics.FORGET_UNITS)):
            node.create_service(kind, name, lambda asked, response: self._done(response), callback_group=group)
        node.create_service(ObserveUnits, topics.OBSERVE_UNITS, self._units, callback_group=group)
        node.create_service(ObserveScene, topics.OBSERVE_SCENE, self._scene, callback_group=group)

    def _units(self, asked: ObserveUnits.Request, response: ObserveUnits.Response) -> ObserveUnits.Response:
        return self._done(self._met(response), self.units_refusal)

    def _scene(self, asked: ObserveScene.Request, response: ObserveScene.Response) -> ObserveScene.Response:
        response.refused = ["a mug without a handle"]
        return self._done(self._met(response))

    def _met(self, response: Any) -> Any:
        try:
            self.both.wait()
        except BrokenBarrierError:
            response.message = "the other memory was not told meanwhile"
        return response

    def _done(self, response: Any, refusal: str = "") -> Any:
        response.message = response.message or refusal
        response.success = not response.message
        return response


@pytest.fixture
def memories() -> Iterator[Memories]:
    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node("memories_of_a_test", context=context)
    executor = MultiThreadedExecutor(4, context=context)
    executor.add_node(node)
    serving = Memories(node)
    thread = Thread(target=_spin, args=[executor])
    thread.start()
    yield serving
    executor.shutdown()
    thread.join()
    node.destroy_node()
    rclpy.shutdown(context=context)


def _spin(executor: MultiThreadedExecutor) -> None:
    with suppress(ExternalShutdownException):
        executor.spin()


@pytest.fixture
def memory(memories: Memories) -> Iterator[RobotMemory]:
    with ServedMemory() as served:
        yield served.open("home", GROUNDS)


def test_both_memories_are_told_before_either_has_answered(memory: RobotMemory) -> None:
    assert memory.observe(LOOK) == ["a mug without a handle"]


def test_a_memory_that_refuses_a_look_says_so_whatever_the_other_does(memories: Memories, memory: RobotMemory) -> None:
    memories.units_refusal = "no room"
    with pytest.raises(ServiceError, match="no room"):
        memory.observe(LOOK)
    memories.units_refusal = ""
    assert memory.observe(LOOK) == ["a mug without a handle"]
