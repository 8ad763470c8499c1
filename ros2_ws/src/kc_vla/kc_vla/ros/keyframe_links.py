"""Links the keyframes that the buffer commits with what is detected near them, in the long-term memory."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.core.stamps import nanoseconds
from kc_vla.inference.worker import JobOutcome, Runner
from kc_vla.memory.episodic.joining import KeyframeJoin
from kc_vla.memory.episodic.linked import KeyframeLinkError, LinkedKeyframe
from kc_vla.memory.episodic.scenes import scene_of
from kc_vla.memory.intake import Intake
from kc_vla.memory.live_scene import LiveScene
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.changed_places import ChangedPlaces
from kc_vla.ros.detections import taken_from
from kc_vla_msgs.msg import Keyframe, KeyframeIndex, ObjectDetections
from kc_vla_msgs.srv import GetKeyframes

_LOOK_S, _ANSWER_S = 0.25, 3.0


class KeyframeLinks:
    """Follows the index of the keyframe buffer, and asks it for the stamps of what was committed."""

    def __init__(
        self,
        node: StackNode,
        work: Runner,
        live: LiveScene,
        intake: Intake,
        tolerance_s: float,
        changed: ChangedPlaces | None = None,
    ) -> None:
        """Begin to listen.

        Args:
            node: that is starting.
            work: uses the memory.
            live: the memory.
            intake: of detections.
            tolerance_s: between a keyframe and its detections, s.
            changed: takes in what is detected, too; None for nothing.
        """
        self._node, self._work, self._live, self._intake = node, work, live, intake
        self._changed = changed
        self._join = KeyframeJoin(tolerance_s)
        self._index = KeyframeIndex()
        self._known: set[tuple[str, int]] = set()
        self._client = node.call(GetKeyframes, topics.GET_KEYFRAMES)
        node.subscribe(KeyframeIndex, topics.KEYFRAME_INDEX, self._follow, qos.STATUS)
        node.every(_LOOK_S, self._look)

    def detected(self, message: ObjectDetections) -> None:
        """Take in a message of detections; what is wrong with one is reported where the graph takes it in."""
        now_ns = time.time_ns()
        try:
            taken = taken_from(message, self._intake, now_ns)
        except StackError:
            return
        scene = scene_of(taken, now_ns)
        self._join.detected(scene)
        if self._changed is not None:
            self._changed.detected(scene)

    def _follow(self, index: KeyframeIndex) -> None:
        if index.episode_id != self._index.episode_id:
            self._known.clear()
        self._index = index

    async def _look(self) -> None:
        """Ask for keyframes that are new, and link those whose detections are in."""
        index = self._index
        pairs = zip(index.frame_indices, index.committed, strict=False)
        committed = {(index.episode_id, int(frame)) for frame, is_committed in pairs if is_committed}
        if not committed <= self._known and self._client.service_is_ready():
            request = GetKeyframes.Request(episode_id=index.episode_id, as_of_frame=-1, images=False, provisional=False)
            answer = await self._node.ask(self._client, request, _ANSWER_S)
            for each in () if answer is None else answer.keyframes:
                self._commit(each)
        if linked := self._join.joined(time.time_ns()):
            self._work.submit(partial(self._live.link, linked), self._on_linked)

    def _commit(self, message: Keyframe) -> None:
        seen = message.observation
        try:
            keyframe = LinkedKeyframe(
                seen.episode_id,
                int(seen.frame_index),
                nanoseconds(seen.header.stamp),
                int(message.phase),
                message.label,
                message.source,
                self._intake.frame,
            )
        except KeyframeLinkError as error:
            self._node.problem(f"a keyframe is not linked: {error}")
            return
        self._known.add((keyframe.episode_id, keyframe.frame))
        self._join.committed(keyframe, time.time_ns())

    def _on_linked(self, outcome: JobOutcome[Any]) -> None:
        try:
            outcome.result()
        except StackError as error:
            self._node.problem(f"a keyframe is not linked: {error}")
