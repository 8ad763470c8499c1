"""What the planner's node remembers with: memories in its own process, or the nodes that serve them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.robot_memory import (
    LONG_PART,
    SHORT_PART,
    RobotMemory,
    assemble_robot_memory,
    open_robot_memory,
    parts_of,
)
from kc_vla.memory.robot.short_term import MAP_FRAME
from kc_vla.ros.base import StackNode
from kc_vla.ros.memory_client import ServedScene, ServedUnits
from kc_vla.ros.service_caller import ServiceCaller


@dataclass(frozen=True)
class MemorySettings:
    """What a planner remembers with.

    Attributes:
        name: one of `robot_memory.NAMES`.
        map_id: of the home.
        store: file of the long-term memory, in this process; None: the nodes remember.
        capacity: units of the short-term memory, in this process.
        patience_s: how long an answer of the nodes is waited for, s.
        frame: of positions, that of the nodes.
        types: that the detector can report; none where that is not known.
    """

    name: str
    map_id: str
    store: Path | None
    capacity: int
    patience_s: float
    frame: str = MAP_FRAME
    types: tuple[str, ...] = ()


class PlannerMemory:
    """Opens the memory of a planner, and closes what it consists of."""

    def __init__(self, node: StackNode, settings: MemorySettings, embedder: Embedder) -> None:
        """Open the store, or make the clients of the nodes.

        Args:
            node: that is starting, and closes this in its `stop`.
            settings: what it remembers with.
            embedder: cached.

        Raises:
            StackError: the store cannot be opened.
            OSError: likewise.
        """
        self._settings, self._embedder = settings, embedder
        self._store = None if settings.store is None else Store(settings.store)
        self._caller = ServiceCaller(node, settings.patience_s)
        self._scene: ServedScene | None = None
        self._units: ServedUnits | None = None
        parts = parts_of(settings.name) if self._store is None else ()
        if LONG_PART in parts:
            self._scene = ServedScene(node, self._caller, settings.map_id)
        if SHORT_PART in parts:
            self._units = ServedUnits(node, self._caller)

    def open(self, grounds: NavigationMap) -> RobotMemory:
        """Return the memory of a robot that can go to these areas, on the thread that will use it.

        Raises:
            StackError: the map is of another home, or a node does not answer.
        """
        settings = self._settings
        if self._store is None:
            memory = self.open_to_ask()
            if self._scene is not None:
                self._scene.enter(grounds.areas)
            return memory
        long_term = LongTermMemory(self._store)
        name, map_id = settings.name, settings.map_id
        memory = open_robot_memory(name, self._embedder, grounds, long_term, map_id, settings.capacity)
        memory.namer.expect(settings.types)
        return memory

    def open_to_ask(self) -> RobotMemory:
        """Return the memory of the nodes for a client that only asks, on the thread that will use it."""
        name, frame = self._settings.name, self._settings.frame
        memory = assemble_robot_memory(name, self._embedder, self._scene, self._units, frame=frame)
        memory.namer.expect(self._settings.types)
        return memory

    def stop_waiting(self, why: Callable[[], str]) -> None:
        """Wait for no answer of a node any more once `why` says something, which is asked from any thread."""
        self._caller.stopped = why

    def close(self) -> None:
        """Let nobody wait any more."""
        self._caller.close()

    def close_store(self) -> None:
        """Leave the store to others, once nobody uses the memory."""
        if self._store is not None:
            self._store.close()
