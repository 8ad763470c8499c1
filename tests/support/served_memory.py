"""A robot's memory in the two memory nodes, for a test in this process that plays the planner."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.robot_memory import BOTH, RobotMemory, assemble_robot_memory
from kc_vla.ros.memory_client import ServedScene, ServedUnits
from kc_vla.ros.service_caller import ServiceCaller


class _Client(Node):
    """What the clients of the memories need of a node of the stack."""

    def call(self, kind: type, name: str) -> Any:
        return self.create_client(kind, name)

    def from_any_thread(self, callback: Callable[[], Any]) -> Callable[[], None]:
        return self.create_guard_condition(callback).trigger  # type: ignore[no-any-return]


class ServedMemory:
    """Opens memories that the nodes serve; use it as a context manager."""

    def __enter__(self) -> ServedMemory:
        """Start the node that asks, in a thread of its own."""
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node: Any = _Client("planner_of_a_test", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = Thread(target=self._executor.spin, daemon=True)
        self._thread.start()
        self._caller = ServiceCaller(self._node, 60.0)
        self._units = ServedUnits(self._node, self._caller)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self._caller.close()
        self._executor.shutdown()
        self._thread.join()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def open(self, map_id: str, grounds: NavigationMap) -> RobotMemory:
        """Return both memories, empty, on a map of that name."""
        scene = ServedScene(self._node, self._caller, map_id)
        memory = assemble_robot_memory(BOTH, shared_embedder(), scene, self._units)
        scene.enter(grounds.areas)
        memory.begin()
        return memory
