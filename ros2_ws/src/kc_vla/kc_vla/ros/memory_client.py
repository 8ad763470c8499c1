"""The memories of the nodes `short_term_memory` and `long_term_memory`, for the planner that remembers with them.

Each keeps a copy of what the node holds, brought up to date by the answers to what the planner reports: whatever the
planner looks up again and again costs no service call, and what others put into the memory is there a second later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from kc_vla.core import topics
from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
from kc_vla.memory.live_units import Standing
from kc_vla.memory.long_term.describe import describe
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Vector
from kc_vla.memory.long_term.words import Words
from kc_vla.memory.recall.answer import EVERYTHING, Filters, RecallAnswer
from kc_vla.memory.robot.interface import Refusals, SceneObservation
from kc_vla.memory.short_term.unit import Unit
from kc_vla.memory.things import ObservedThing
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import time_message
from kc_vla.ros.linked_keyframes import LinkedKeyframesCopy
from kc_vla.ros.memory_copies import SceneCopy, UnitsCopy
from kc_vla.ros.scene_nodes import area_message
from kc_vla.ros.service_caller import PendingCall, ServiceCaller, ServiceError
from kc_vla.ros.skills import seen_message
from kc_vla.ros.units import answer_from, recall_request, unit_message
from kc_vla_msgs.srv import (
    AttendUnits,
    EnterMap,
    ForgetUnits,
    GetLinkedKeyframes,
    InjectKeyframe,
    ObserveScene,
    ObserveUnits,
    RecallUnits,
    SceneSince,
    TellRecall,
    UnitsSince,
)

_BUFFER_S = 2.0
"""So long a keyframe buffer is looked for, s."""
_FRESH_S = 1.0
"""So old a copy may be where nobody here has changed the memory, s."""


class ServedUnits:
    """The units of the node `short_term_memory`, as a `UnitMemory`, for the thread of one worker."""

    def __init__(self, node: StackNode, caller: ServiceCaller, fresh_s: float = _FRESH_S) -> None:
        """Make the clients of the node's services.

        Args:
            node: that is starting.
            caller: asks them.
            fresh_s: so old the copy may be where nobody here has changed the memory, s.
        """
        self._caller = caller
        self._observe = node.call(ObserveUnits, topics.OBSERVE_UNITS)
        self._recall = node.call(RecallUnits, topics.RECALL_UNITS)
        self._tell = node.call(TellRecall, topics.TELL_RECALL)
        self._attend = node.call(AttendUnits, topics.ATTEND_UNITS)
        self._forget = node.call(ForgetUnits, topics.FORGET_UNITS)
        self._since = node.call(UnitsSince, topics.UNITS_SINCE)
        self._copy = UnitsCopy(fresh_s)
        self._last_put: PendingCall | None = None
        """Its answer also has what came of those before it."""

    def units(self) -> Iterable[Unit]:
        """Return all units."""
        return self._held().values()

    def unit(self, object_id: str) -> Unit | None:
        """Return the unit of that id; None where there is none."""
        return self._held().get(object_id)

    def put(self, units: Sequence[Unit], used: bool = False, whole: bool = False) -> Callable[[], None]:
        """Begin to take in units; what is returned waits for it. See `ShortTermMemory.observe`."""
        messages = [unit_message(Standing(each, "", 0)) for each in units]
        followed = {"follows": True, "revision": self._copy.revision}
        request = ObserveUnits.Request(units=messages, used=used, whole=whole, **followed)
        self._copy.outdate()
        sent = self._last_put = self._caller.send(self._observe, request)
        return lambda: self._taken_in(sent)

    def answer(
        self, text: str, most: int, filters: Filters = EVERYTHING, most_tokens: int | None = None
    ) -> RecallAnswer:
        """Return what an instruction is about; see `Recall.ask`."""
        return answer_from(text, self._caller.ask(self._recall, recall_request(text, most, filters, most_tokens)))

    def tell(self, object_id: str, outcome: int, now_ns: int) -> None:
        """Note how a recall turned out, and when that was found, ns."""
        followed = {"follows": True, "revision": self._copy.revision}
        request = TellRecall.Request(object_id=object_id, outcome=outcome, stamp=time_message(now_ns), **followed)
        self._copy.outdate()
        try:
            self._copy.apply(self._caller.ask(self._tell, request).since)
        except ServiceError:
            if self.unit(object_id) is not None:  # else its node was started anew, or had done it and could not say so
                raise

    def forget(self) -> None:
        """Forget all."""
        self._copy.outdate()
        self._caller.ask(self._forget, ForgetUnits.Request())

    def attend(self, task: str, object_ids: Sequence[str]) -> None:
        """Take these for what an instruction is about; see `StateReader.begin`."""
        self._caller.ask(self._attend, AttendUnits.Request(task=task, ids=list(object_ids)))

    def _taken_in(self, sent: PendingCall) -> None:
        response = self._caller.response(sent)
        if sent is self._last_put:
            self._copy.apply(response.since)

    def _held(self) -> Mapping[str, Unit]:
        if not self._copy.is_fresh():
            request = UnitsSince.Request(revision=self._copy.revision)
            self._copy.apply(self._caller.ask(self._since, request).changes)
        return self._copy.units


class ServedScene:
    """A map of the node `long_term_memory`, as a `SceneMemory`, for the thread of one worker."""

    def __init__(self, node: StackNode, caller: ServiceCaller, map_id: str, fresh_s: float = _FRESH_S) -> None:
        """Make the clients of the node's services.

        Args:
            node: that is starting.
            caller: asks them.
            map_id: of the home.
            fresh_s: so old the copy may be where nobody here has changed the map, s.
        """
        self._caller, self._map_id = caller, map_id
        self._enter = node.call(EnterMap, topics.ENTER_MAP)
        self._observe = node.call(ObserveScene, topics.OBSERVE_SCENE)
        self._since = node.call(SceneSince, topics.SCENE_SINCE)
        self._linked = node.call(GetLinkedKeyframes, topics.LINKED_KEYFRAMES)
        self._inject = node.call(InjectKeyframe, topics.INJECT_KEYFRAME)
        self._copy, self._words = SceneCopy(map_id, fresh_s), Words()
        self._keyframes = LinkedKeyframesCopy(fresh_s)

    def graph(self) -> SceneGraph:
        """Return a copy of the map, to be looked at."""
        if not self._copy.is_fresh():
            request = SceneSince.Request(map_id=self._map_id, revision=self._copy.revision)
            self._copy.apply(self._caller.ask(self._since, request).changes)
        return self._copy.graph

    def enter(self, areas: Mapping[str, Area]) -> None:
        """Begin with a robot that can go to these areas; see `looks.enter`."""
        self._copy.outdate()
        messages = [area_message(each) for each in areas.values()]
        self._caller.ask(self._enter, EnterMap.Request(map_id=self._map_id, areas=messages))

    def look(self, seen: SceneObservation) -> Refusals:
        """Begin to take in what is seen at once; see `looks.look`."""
        return self._observed(seen.now_s, seen.seen, at=seen.at)

    def miss(self, object_id: str, now_s: float) -> None:
        """Note that a thing was looked for at its place; see `looks.miss`."""
        self._observed(now_s, missed=object_id)()

    def describe(self, most_tokens: int, text: str, near: Vector | None) -> str:
        """Return the map as text for a planner, from the copy; see `LongTermMemory.describe`."""
        graph = self.graph()
        scores = self._words.scores(graph.objects, text) if text.strip() else None
        return describe(graph, most_tokens, scores, near).text

    def linked(self) -> LinkedKeyframes:
        """Return the keyframes of the map, from a copy."""
        if not self._keyframes.is_fresh():
            for after in (self._keyframes.after, 0):
                request = GetLinkedKeyframes.Request(map_id=self._map_id, after=after)
                if self._keyframes.apply(self._caller.ask(self._linked, request)):
                    break
        return self._keyframes.history()

    def keep(self, keyframe: LinkedKeyframe) -> str:
        """Have the buffer keep a keyframe for a policy; return why that cannot be, empty where it is kept."""
        if not self._inject.wait_for_service(_BUFFER_S):  # there may be none
            return f"{keyframe} is not kept for a policy: no keyframe buffer is running"
        request = InjectKeyframe.Request(episode_id=keyframe.episode_id, frame_index=keyframe.frame, keep=True)
        try:
            self._caller.ask(self._inject, request)
        except ServiceError as error:
            return f"{keyframe} is not kept for a policy: {error}"
        return ""

    def _observed(self, now_s: float, seen: Iterable[ObservedThing] = (), at: str = "", missed: str = "") -> Refusals:
        request = ObserveScene.Request(
            map_id=self._map_id,
            seen=[seen_message(each) for each in seen],
            at=at,
            missed=missed,
            stamp=time_message(round(now_s * 1e9)),
            follows=True,
            revision=self._copy.revision,
        )
        self._copy.outdate()
        sent = self._caller.send(self._observe, request)

        def refusals() -> Sequence[str]:
            response = self._caller.response(sent)
            self._copy.apply(response.changes)
            return list(response.refused)

        return refusals
