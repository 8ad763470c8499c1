"""Puts observations, keyframe events and scores of the same frames in order for the buffer.

They come on topics of their own and may overtake one another, and the status of their episode. An event waits for
the observation that it names; a frame is settled when its observation and every event up to it are in.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from kc_vla.keyframes.buffer import BufferRefusal, KeyframeBuffer
from kc_vla.keyframes.observation import Observation
from kc_vla.keyframes.selector import SelectorEvent

LOST_EVENT_NS = 2_000_000_000
"""After this time an event that a score speaks of is taken for lost, ns."""
_MOST_WAITING = 1000
_MOST_EPISODES = 4


@dataclass(frozen=True)
class EventNote:
    """An event as it came: of which episode, the how-manieth, from which source."""

    episode_id: str
    sequence: int
    event: SelectorEvent
    source: str


@dataclass(frozen=True)
class ScoreNote:
    """What a score tells the buffer: how many events there are up to its frame."""

    episode_id: str
    frame: int
    events: int
    published_ns: int


@dataclass
class _Waiting:
    """What has come of one episode and cannot be used yet."""

    events: deque[EventNote] = field(default_factory=lambda: deque(maxlen=_MOST_WAITING))
    scores: deque[ScoreNote] = field(default_factory=lambda: deque(maxlen=_MOST_WAITING))


class KeyframeIntake:
    """Feeds a buffer; bounded."""

    def __init__(self, buffer: KeyframeBuffer) -> None:
        self.buffer = buffer
        self.lost_events = 0
        self._episode = ""
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()

    def begin(self, episode_id: str) -> None:
        """Start an episode, or go on with it; what came early for it is kept, all else is forgotten."""
        self._episode = episode_id
        self._waiting = OrderedDict({episode_id: self._of(episode_id)})
        self.lost_events = 0
        self.buffer.begin(episode_id)

    def put_event(self, note: EventNote) -> None:
        """Take in an event; call `advance` afterwards."""
        self._of(note.episode_id).events.append(note)

    def put_score(self, note: ScoreNote) -> None:
        """Take in a score; call `advance` afterwards."""
        self._of(note.episode_id).scores.append(note)

    def observe(self, observation: Observation) -> None:
        """Take in the observation of a new frame; call `advance` afterwards."""
        self.buffer.observe(observation)

    def advance(self) -> tuple[list[ScoreNote], list[str]]:
        """Apply what can be applied; return the frames settled by it, and what went wrong, a line each."""
        problems = []
        waiting, newest = self._of(self._episode), self.buffer.newest_frame
        while waiting.events and waiting.events[0].event.decided_at <= newest:
            problems += self._apply(waiting.events.popleft())
        settled = []
        while waiting.scores and waiting.scores[0].frame <= newest:
            if waiting.scores[0].events > self.buffer.events:
                break
            score = waiting.scores.popleft()
            self.buffer.settle(score.frame)
            settled.append(score)
        return settled, problems

    def give_up(self, now_ns: int) -> int:
        """Stop waiting for events that never came, and return their number; call `advance` if there are any.

        A reliable topic loses events only if both its writer and its reader were replaced.
        """
        scores = self._of(self._episode).scores
        if not scores or scores[0].frame > self.buffer.newest_frame:
            return 0
        lost = scores[0].events - self.buffer.events
        if lost <= 0 or now_ns - scores[0].published_ns < LOST_EVENT_NS:
            return 0
        self.buffer.events = scores[0].events
        self.lost_events += lost
        return lost

    def _of(self, episode_id: str) -> _Waiting:
        """Return what waits of an episode; of those that are not the running one only the last few are kept."""
        if episode_id not in self._waiting:
            self._waiting[episode_id] = _Waiting()
            others = [other for other in self._waiting if other != self._episode]
            for other in others[:-_MOST_EPISODES]:
                del self._waiting[other]
        return self._waiting[episode_id]

    def _apply(self, note: EventNote) -> list[str]:
        seen_before = note.sequence < self.buffer.events
        try:
            self.buffer.apply(note.event, note.source, note.sequence)
        except BufferRefusal as error:
            # a candidate of before a restart that was superseded since is rightly gone
            return [] if seen_before else [str(error)]
        return [self.buffer.storage_error] if self.buffer.storage_error else []
