"""The memories of the nodes `short_term_memory` and `long_term_memory`, for the planner that remembers with them.

Each keeps a copy of what the node holds, brought up to date by what changed since: whatever the planner looks up again
and again costs no service call, and what others put into the memory is there a second later.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from kc_vla.core import topics
from kc_vla.memory.live_units import Standing
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Vector
from kc_vla.memory.recall.answer import EVERYTHING, Filters, RecallAnswer
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.short_term.unit import Unit
from kc_vla.memory.things import ObservedThing
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import point_message, time_message
from kc_vla.ros.scene_nodes import area_message, change_from
from kc_vla.ros.service_caller import ServiceCaller, ServiceError
from kc_vla.ros.skills import seen_message
from kc_vla.ros.units import answer_from, recall_request, unit_from, unit_message
from kc_vla_msgs.msg import MemoryChange
from kc_vla_msgs.srv import (
    AttendUnits,
    DescribeScene,
    EnterMap,
    ForgetUnits,
    ObserveScene,
    ObserveUnits,
    RecallUnits,
    SceneSince,
    TellRecall,
    UnitsSince,
)

_FRESH_S = 1.0
"""So old a copy may be where nobody here has changed the memory, s."""


class _Copy:
    """When a copy was brought up to date last, and its revision; for one thread."""

    def __init__(self) -> None:
        self.revision = 0
        self._fresh_until_s = 0.0

    def is_fresh(self) -> bool:
        return time.monotonic() < self._fresh_until_s

    def is_at(self, revision: int) -> None:
        self.revision, self._fresh_until_s = revision, time.monotonic() + _FRESH_S

    def outdate(self) -> None:
        self._fresh_until_s = 0.0


class ServedUnits:
    """The units of the node `short_term_memory`, as a `UnitMemory`, for the thread of one worker."""

    def __init__(self, node: StackNode, caller: ServiceCaller) -> None:
        """Make the clients of the node's services.

        Args:
            node: that is starting.
            caller: asks them.
        """
        self._caller = caller
        self._observe = node.call(ObserveUnits, topics.OBSERVE_UNITS)
        self._recall = node.call(RecallUnits, topics.RECALL_UNITS)
        self._tell = node.call(TellRecall, topics.TELL_RECALL)
        self._attend = node.call(AttendUnits, topics.ATTEND_UNITS)
        self._forget = node.call(ForgetUnits, topics.FORGET_UNITS)
        self._since = node.call(UnitsSince, topics.UNITS_SINCE)
        self._copy, self._units = _Copy(), dict[str, Unit]()
        self._came: set[str] = set()
        """Ids of the units that came since the copy was brought up to date."""

    def units(self) -> Iterable[Unit]:
        """Return all units."""
        return self._held().values()

    def unit(self, object_id: str) -> Unit | None:
        """Return the unit of that id; None where there is none."""
        return self._held().get(object_id)

    def put(self, units: Sequence[Unit], used: bool = False, whole: bool = False) -> object:
        """Take in units; see `ShortTermMemory.observe`."""
        messages = [unit_message(Standing(each, "", 0)) for each in units]
        response = self._caller.ask(self._observe, ObserveUnits.Request(units=messages, used=used, whole=whole))
        for change in response.changes:
            self._apply(change)
        return response

    def answer(
        self, text: str, most: int, filters: Filters = EVERYTHING, most_tokens: int | None = None
    ) -> RecallAnswer:
        """Return what an instruction is about; see `Recall.ask`."""
        return answer_from(text, self._caller.ask(self._recall, recall_request(text, most, filters, most_tokens)))

    def tell(self, object_id: str, outcome: int, now_ns: int) -> object:
        """Note how a recall turned out, and when that was found, ns."""
        request = TellRecall.Request(object_id=object_id, outcome=outcome, stamp=time_message(now_ns))
        try:
            response = self._caller.ask(self._tell, request)
            self._apply(response.change)
            return response
        except ServiceError:
            self._copy.outdate()
            if self.unit(object_id) is None:  # its node was started anew, or had done it and could not say so
                return None
            raise

    def forget(self) -> None:
        """Forget all."""
        self._copy.outdate()
        self._caller.ask(self._forget, ForgetUnits.Request())

    def attend(self, task: str, object_ids: Sequence[str]) -> None:
        """Take these for what an instruction is about; see `StateReader.begin`."""
        self._caller.ask(self._attend, AttendUnits.Request(task=task, ids=list(object_ids)))

    def _held(self) -> Mapping[str, Unit]:
        if self._copy.is_fresh():
            return self._units
        changes = self._caller.ask(self._since, UnitsSince.Request(revision=self._copy.revision)).changes
        if changes.whole:
            self._units.clear()
        for name in (*changes.removed, *self._came):  # what came since then comes in the order of the memory
            self._units.pop(name, None)
        self._came.clear()
        self._units.update((each.object_id, unit_from(each)) for each in changes.units)
        self._copy.is_at(changes.revision)
        return self._units

    def _apply(self, change: MemoryChange) -> None:
        """Change the copy as the memory was changed by what was just put in."""
        name = change.unit.object_id
        if change.type in (MemoryChange.EVICTED, MemoryChange.REMOVED):
            self._units.pop(name, None)
            self._came.discard(name)
        elif change.type in (MemoryChange.ADDED, MemoryChange.MERGED):
            if change.type == MemoryChange.ADDED:
                self._units.pop(name, None)
                self._came.add(name)
            self._units[name] = unit_from(change.unit)


class ServedScene:
    """A map of the node `long_term_memory`, as a `SceneMemory`, for the thread of one worker."""

    def __init__(self, node: StackNode, caller: ServiceCaller, map_id: str) -> None:
        """Make the clients of the node's services.

        Args:
            node: that is starting.
            caller: asks them.
            map_id: of the home.
        """
        self._caller, self._map_id = caller, map_id
        self._enter = node.call(EnterMap, topics.ENTER_MAP)
        self._observe = node.call(ObserveScene, topics.OBSERVE_SCENE)
        self._since = node.call(SceneSince, topics.SCENE_SINCE)
        self._describe = node.call(DescribeScene, topics.DESCRIBE_SCENE)
        self._copy, self._graph = _Copy(), SceneGraph(map_id)

    def graph(self) -> SceneGraph:
        """Return a copy of the map, to be looked at."""
        if not self._copy.is_fresh():
            request = SceneSince.Request(map_id=self._map_id, revision=self._copy.revision)
            changes = self._caller.ask(self._since, request).changes
            if changes.whole:
                self._graph = SceneGraph(self._map_id)
            self._graph.apply(change_from(self._graph, changes))
            self._copy.is_at(changes.revision)
        return self._graph

    def enter(self, areas: Mapping[str, Area]) -> None:
        """Begin with a robot that can go to these areas; see `looks.enter`."""
        self._copy.outdate()
        messages = [area_message(each) for each in areas.values()]
        self._caller.ask(self._enter, EnterMap.Request(map_id=self._map_id, areas=messages))

    def look(self, seen: SceneObservation) -> Sequence[str]:
        """Take in what is seen at once; see `looks.look`."""
        return self._observed(seen.now_s, seen.seen, at=seen.at)

    def miss(self, object_id: str, now_s: float) -> None:
        """Note that a thing was looked for at its place; see `looks.miss`."""
        self._observed(now_s, missed=object_id)

    def describe(self, most_tokens: int, text: str, near: Vector | None) -> str:
        """Return the map as text for a planner; see `LongTermMemory.describe`."""
        request = DescribeScene.Request(map_id=self._map_id, text=text, most_tokens=most_tokens)
        if near is not None:
            request.near, request.use_near = point_message(near), True
        return str(self._caller.ask(self._describe, request).description)

    def _observed(self, now_s: float, seen: Iterable[ObservedThing] = (), at: str = "", missed: str = "") -> list[str]:
        self._copy.outdate()
        stamp = time_message(round(now_s * 1e9))
        messages = [seen_message(each) for each in seen]
        request = ObserveScene.Request(map_id=self._map_id, seen=messages, at=at, missed=missed, stamp=stamp)
        return list(self._caller.ask(self._observe, request).refused)
