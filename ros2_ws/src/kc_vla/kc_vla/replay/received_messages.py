"""What the live selector and buffer say of an episode that is played to them, and how all nodes are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kc_vla.episodes.episode import diagnostics_from, event_from, score_from
from kc_vla.episodes.episode_data import NodeDiagnostics, RecordedEvent, Score


class ReceivedMessages:
    """The messages about one episode that were heard; those about others are ignored.

    Attributes:
        scores: the last of each frame, as when a bag is read.
        events: in the order in which they came.
        last_words: the newest diagnostics of each node.
        settled: newest frame in the buffer, -1 before there is one.
        knows_episode: whether the buffer works on the episode.
        at: steady time, s, at which something was heard last.
    """

    def __init__(self, episode_id: str, steady: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing heard.

        Args:
            episode_id: of the episode.
            steady: a clock, s.
        """
        self._episode_id, self._steady = episode_id, steady
        self.scores: dict[int, Score] = {}
        self.events: list[RecordedEvent] = []
        self.last_words: dict[str, NodeDiagnostics] = {}
        self.settled = -1
        self.knows_episode = False
        self.at = 0.0

    def hears(self) -> None:
        """Note that something was heard just now."""
        self.at = self._steady()

    def score(self, message: Any) -> None:
        """Take a KeyframeScore."""
        if message.episode_id == self._episode_id:
            self.hears()
            self.scores[message.frame_index] = score_from(message)

    def event(self, message: Any) -> None:
        """Take a KeyframeEvent."""
        if message.episode_id == self._episode_id:
            self.events.append(event_from(message))

    def index(self, message: Any) -> None:
        """Take a KeyframeIndex."""
        if message.episode_id == self._episode_id:
            self.hears()
            self.knows_episode, self.settled = True, int(message.newest_frame)

    def diagnostics(self, message: Any) -> None:
        """Take a DiagnosticArray."""
        self.last_words |= diagnostics_from(message)

    def word(self, node: str, key: str) -> str | None:
        """Return what the newest diagnostics of a node say of `key`; None where they do not, or there are none."""
        last = self.last_words.get(node)
        return None if last is None else last.values.get(key)
