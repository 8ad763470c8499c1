"""The keyframe selector: scores in, keyframe events out. It owns the phase pointer and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.keyframes.smoothing import Candidate, Decision, GreedySmoother


@dataclass(frozen=True)
class SelectorEvent:
    """One step in the life of a keyframe.

    Attributes:
        decision: what happened.
        frame: frame of the keyframe, 0-based.
        decided_at: frame at which it was decided.
        phase: index of the keyframe; 0 is the first frame of the episode.
        label: name of the phase that the keyframe completes.
        score: 0..1.
    """

    decision: Decision
    frame: int
    decided_at: int
    phase: int
    label: str
    score: float


@dataclass(frozen=True)
class Held:
    """A keyframe that the buffer holds, as a restarted selector learns it."""

    frame: int
    phase: int
    score: float
    committed: bool


class KeyframeSelector:
    """Walks through the phases of one episode.

    The first frame is always a keyframe, committed at once: it shows the scene that the task starts from.
    """

    def __init__(self, labels: Sequence[str], smoother: GreedySmoother) -> None:
        """Begin an episode.

        Args:
            labels: of the keyframes in order, the first for the first frame.
            smoother: for the others.
        """
        if not labels:
            raise ValueError("a task needs at least one keyframe label, for its first frame")
        self.labels = tuple(labels)
        self._smoother = smoother
        self.phase = 0
        self.last_frame = -1

    @property
    def threshold(self) -> float:
        """Score above which a frame is a candidate."""
        return self._smoother.threshold

    @threshold.setter
    def threshold(self, value: float) -> None:
        self._smoother.threshold = value

    @property
    def done(self) -> bool:
        """Return whether every keyframe of the task is committed."""
        return self.phase >= len(self.labels)

    def restore(self, held: Sequence[Held], frame: int) -> None:
        """Go on after a restart at `frame` from what the buffer holds.

        How long a pending candidate had been quiet is not known any more: its window begins anew. So the same frames
        become keyframes as without the restart, a little later, unless the score rises again in that time.
        """
        self.phase = 1 + max((k.phase for k in held if k.committed), default=-1)
        pending = [k for k in held if not k.committed and k.phase == self.phase]
        self._smoother.reset(Candidate(pending[-1].frame, pending[-1].score) if pending else None)
        self.last_frame = frame

    def update(self, frame: int, score: float, of: int = 0) -> list[SelectorEvent]:
        """Take in the score of the next frame and return what it decides.

        Args:
            frame: its number.
            score: 0..1, NaN for "nothing to say".
            of: which keyframe the score is of, 0 where the source does not say; one after `phase` ends its window.

        Raises:
            ValueError: the frame is not after the one before it.
        """
        if frame <= self.last_frame:
            raise ValueError(f"frame {frame} came after frame {self.last_frame}: frames must ascend")
        self.last_frame = frame
        if self.phase == 0:
            return [self._advance(Candidate(frame, 1.0), frame)]
        if self.done:
            return []
        events = []
        later = of > self.phase and score > self.threshold
        if later and (settled := self._smoother.settle()) is not None:
            events.append(self._advance(settled, frame))
        if not self.done and (decided := self._smoother.update(frame, score)) is not None:
            decision, candidate = decided
            committed = decision is Decision.COMMITTED
            events.append(self._advance(candidate, frame) if committed else self._event(decision, candidate, frame))
        return events

    def _advance(self, candidate: Candidate, frame: int) -> SelectorEvent:
        event = self._event(Decision.COMMITTED, candidate, frame)
        self.phase += 1
        return event

    def _event(self, decision: Decision, candidate: Candidate, frame: int) -> SelectorEvent:
        return SelectorEvent(decision, candidate.frame, frame, self.phase, self.labels[self.phase], candidate.score)
