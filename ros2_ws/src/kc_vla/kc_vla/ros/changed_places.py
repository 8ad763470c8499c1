"""Has the keyframe buffer keep the frames in which perception reports that a thing has come to rest elsewhere."""

from __future__ import annotations

from collections import deque

from kc_vla.core import topics
from kc_vla.memory.episodic.changes import PlaceChange, PlaceChanges
from kc_vla.memory.episodic.joining import DetectedScene
from kc_vla.ros.base import StackNode
from kc_vla_msgs.srv import InjectKeyframe

_SEND_S, _ANSWER_S = 0.25, 3.0
_MOST_WAITING = 32


class ChangedPlaces:
    """Follows detections, and asks the buffer for each change; of a node that watches episodes."""

    def __init__(self, node: StackNode) -> None:
        """Make the client.

        Args:
            node: that is starting.
        """
        self._node = node
        self._episode_id = ""
        self._changes = PlaceChanges()
        self._waiting: deque[tuple[str, PlaceChange]] = deque(maxlen=_MOST_WAITING)
        self._client = node.call(InjectKeyframe, topics.INJECT_KEYFRAME)
        node.watch_episodes()
        node.every(_SEND_S, self._send)

    def detected(self, scene: DetectedScene) -> None:
        """Take in what was detected at a moment."""
        if scene.episode_id != self._episode_id:
            self._episode_id, self._changes = scene.episode_id, PlaceChanges()
        if (change := self._changes.take(scene)) is not None:
            self._waiting.append((scene.episode_id, change))

    async def _send(self) -> None:
        """Ask the buffer for the frames of changes, in their order."""
        while self._waiting and self._client.service_is_ready():
            episode_id, change = self._waiting.popleft()
            episode = self._node.episode
            if episode is None or episode_id not in ("", episode.id):
                continue  # of another episode, whose frames the buffer has given up
            frame = episode.frame_of(change.stamp_ns)
            request = InjectKeyframe.Request(episode_id=episode.id, frame_index=max(0, frame), label=change.label)
            answer = await self._node.ask(self._client, request, _ANSWER_S)
            if answer is not None and not answer.success and "already" not in answer.message:
                self._node.note(f"a keyframe of changed places is not kept: {answer.message}")
