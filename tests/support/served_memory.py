"""A robot's memory in the two memory nodes, for a test in this process that plays the planner."""

from __future__ import annotations

from collections import Counter
from threading import Thread
from types import TracebackType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from kc_vla.core.latency import Statistics
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.robot_memory import BOTH, RobotMemory, assemble_robot_memory
from kc_vla.ros.memory_client import ServedScene, ServedUnits
from kc_vla.ros.service_caller import PendingCall, ServiceCaller


class _Client(Node):
    """What the clients of the memories need of a node of the stack."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.statistics = Statistics()

    def call(self, kind: type, name: str) -> Any:
        return self.create_client(kind, name)


class _CountingCaller(ServiceCaller):
    """Counts the calls of each service."""

    def __init__(self, node: Any) -> None:
        super().__init__(node, 60.0)
        self.calls: Counter[str] = Counter()

    def send(self, client: Any, request: Any) -> PendingCall:
        self.calls[client.srv_name] += 1
        return super().send(client, request)


class ServedMemory:
    """Opens memories that the nodes serve; use it as a context manager."""

    def __init__(self, fresh_s: float = 1.0) -> None:
        """Args: `fresh_s`, how old a copy may be where nobody here has changed the memory."""
        self._fresh_s = fresh_s

    def __enter__(self) -> ServedMemory:
        """Start the node that asks, in a thread of its own."""
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node: Any = _Client("planner_of_a_test", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = Thread(target=self._executor.spin, daemon=True)
        self._thread.start()
        self._caller = _CountingCaller(self._node)
        self._units = ServedUnits(self._node, self._caller, self._fresh_s)
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

    @property
    def calls(self) -> Counter[str]:
        """How often each service was called."""
        return self._caller.calls

    def open(self, map_id: str, grounds: NavigationMap, name: str = BOTH) -> RobotMemory:
        """Return both memories, or what else `name` says, empty, on a map of that name."""
        scene = ServedScene(self._node, self._caller, map_id, self._fresh_s)
        memory = assemble_robot_memory(name, shared_embedder(), scene, self._units)
        scene.enter(grounds.areas)
        memory.begin()
        return memory
