"""Puts observations, keyframe events and scores of the same frames in order for the buffer.

They come on topics of their own and may overtake one another, and the status of their episode. An event waits for
the observation that it names; a frame is settled when its observation and every event up to it are in.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from kc_vla.keyframes.buffer import BufferRefusal, KeyframeBuffer
from kc_vla.keyframes.observation import Observation
from kc_vla.keyframes.selector import Event

LOST_EVENT_NS = 2_000_000_000
"""After this time an event that a score speaks of is taken for lost, ns."""
_MOST_WAITING = 1000


@dataclass(frozen=True)
class EventNote:
    """An event as it came: of which episode, the how-manieth, from which source."""

    episode_id: str
    sequence: int
    event: Event
    source: str


@dataclass(frozen=True)
class ScoreNote:
    """What a score tells the buffer: how many events there are up to its frame."""

    episode_id: str
    frame: int
    events: int
    published_ns: int


class KeyframeIntake:
    """Feeds a buffer; bounded."""

    def __init__(self, buffer: KeyframeBuffer) -> None:
        self.buffer = buffer
        self.lost_events = 0
        self._episode = ""
        self._past: deque[str] = deque(maxlen=100)
        self._events: deque[EventNote] = deque(maxlen=_MOST_WAITING)
        self._scores: deque[ScoreNote] = deque(maxlen=_MOST_WAITING)

    def begin(self, episode_id: str) -> None:
        """Start an episode, or go on with it; what came early for it is kept, what belongs to older ones is not."""
        if self._episode and self._episode != episode_id:
            self._past.append(self._episode)
        self._episode = episode_id
        self.lost_events = 0
        self.buffer.begin(episode_id)

    def put_event(self, note: EventNote) -> None:
        """Take in an event; call `advance` afterwards."""
        self._events.append(note)

    def put_score(self, note: ScoreNote) -> None:
        """Take in a score; call `advance` afterwards."""
        self._scores.append(note)

    def observe(self, observation: Observation) -> None:
        """Take in the observation of a new frame; call `advance` afterwards."""
        self.buffer.observe(observation)

    def advance(self) -> tuple[list[ScoreNote], list[str]]:
        """Apply what can be applied; return the frames settled by it, and what went wrong, a line each."""
        problems = []
        while self._events:
            note = self._events[0]
            if note.episode_id == self._episode and note.event.decided_at <= self.buffer.newest_frame:
                problems += self._apply(note)
            elif note.episode_id not in self._past:
                break
            self._events.popleft()
        settled = []
        while self._scores:
            score = self._scores[0]
            if self._ready(score) and score.events <= self.buffer.events:
                self.buffer.settle(score.frame)
                settled.append(score)
            elif score.episode_id not in self._past:
                break
            self._scores.popleft()
        return settled, problems

    def give_up(self, now_ns: int) -> int:
        """Go on without events that never came, and return how many; call `advance` if there are any.

        A reliable topic loses events only where its writer and its reader were both replaced.
        """
        if not self._scores:
            return 0
        score = self._scores[0]
        lost = score.events - self.buffer.events
        if not self._ready(score) or lost <= 0 or now_ns - score.published_ns < LOST_EVENT_NS:
            return 0
        self.buffer.events = score.events
        self.lost_events += lost
        return lost

    def _ready(self, score: ScoreNote) -> bool:
        return score.episode_id == self._episode and score.frame <= self.buffer.newest_frame

    def _apply(self, note: EventNote) -> list[str]:
        seen_before = note.sequence < self.buffer.events
        try:
            self.buffer.apply(note.event, note.source, note.sequence)
        except BufferRefusal as error:
            # a candidate of before a restart that was superseded since is rightly gone
            return [] if seen_before else [str(error)]
        return [self.buffer.storage_error] if self.buffer.storage_error else []
