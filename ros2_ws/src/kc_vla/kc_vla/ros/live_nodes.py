"""What the live selector and buffer say of an episode that is played to them, and how all nodes are."""

from __future__ import annotations

import time

from diagnostic_msgs.msg import DiagnosticArray

from kc_vla.core import topics
from kc_vla.episodes.episode import event_from, score_from
from kc_vla.episodes.episode_data import Event, NodeDiagnostics, Score
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla_msgs.msg import KeyframeEvent, KeyframeIndex, KeyframeScore


class LiveNodes:
    """Listens for one episode.

    Attributes:
        scores: the last of each frame, as when a bag is read.
        events: in the order in which they came.
        last_words: the newest diagnostics of each node.
        settled: newest frame in the buffer, -1 before there is one.
        knows_episode: whether the buffer works on the episode.
        at: steady time, s, at which something was heard last.
    """

    def __init__(self, node: StackNode, episode_id: str) -> None:
        """Listen from now on."""
        self._episode_id = episode_id
        self.scores: dict[int, Score] = {}
        self.events: list[Event] = []
        self.last_words: dict[str, NodeDiagnostics] = {}
        self.settled = -1
        self.knows_episode = False
        self.at = 0.0
        node.subscribe(KeyframeScore, topics.KEYFRAME_SCORE, self._on_score, qos.EVENT)
        node.subscribe(KeyframeEvent, topics.KEYFRAME_EVENT, self._on_event, qos.EVENT_LOG)
        node.subscribe(KeyframeIndex, topics.KEYFRAME_INDEX, self._on_index, qos.STATUS)
        node.subscribe(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, qos.EVENT)

    def _on_score(self, message: KeyframeScore) -> None:
        if message.episode_id == self._episode_id:
            self.at = time.monotonic()
            self.scores[message.frame_index] = score_from(message)

    def _on_event(self, message: KeyframeEvent) -> None:
        if message.episode_id == self._episode_id:
            self.events.append(event_from(message))

    def _on_index(self, message: KeyframeIndex) -> None:
        if message.episode_id == self._episode_id:
            self.at = time.monotonic()
            self.knows_episode, self.settled = True, int(message.newest_frame)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            level = int.from_bytes(status.level, "little")
            self.last_words[status.name] = NodeDiagnostics(status.name, level, status.message, values)
