"""Greedy temporal smoothing of keyframe scores (paper, section 4.2, "Inference and Greedy Smoothing").

A score above the threshold makes the frame a candidate at once, so that the policy can use it; every later frame
above the threshold takes its place and restarts the count; the candidate is committed when the score has stayed
at or below the threshold for a whole validation window.

Scores of a network stay high for as long as its window still shows what has happened, some ten frames. The first of
them is the nearest to the moment itself, so it may be kept instead of the last, at once and for good. A candidate that
is always the newest frame tells a policy that what it waits for is happening now, while it has long gone on.

Who knows which keyframe a hit is of, as a simulator does, ends the window of the one before it:
`GreedySmoother.settle`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

WINDOW_FRAMES = 5
"""Debounce window, frames, after which a candidate is confirmed: the paper's validation window."""
FARTHEST_BACK = 30
"""Frames from the last hit back to the one that is kept, at most: its images must still be there."""


class Decision(IntEnum):
    """What became of a keyframe; the values are those of KeyframeEvent.msg."""

    PROVISIONAL = 0
    SUPERSEDED = 1
    COMMITTED = 2
    RESET = 3


@dataclass(frozen=True)
class Candidate:
    """A frame that may become the keyframe of the current phase."""

    frame: int
    score: float


class GreedySmoother:
    """Decides, score by score, which frame is the keyframe of the phase that is waited for."""

    def __init__(self, threshold: float, window: int = WINDOW_FRAMES, first: bool = False) -> None:
        """Prepare for the first frame.

        Args:
            threshold: in 0..1; a score strictly above it is a hit.
            window: in frames, 1 or more.
            first: keep the first of the hits, with the best score of them, instead of the last.
        """
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is {threshold}: it must lie in 0..1")
        if window < 1:
            raise ValueError(f"validation window is {window} frames: it must be 1 or more")
        self.threshold = threshold
        self.window = window
        self.first = first
        self._candidate: Candidate | None = None
        self._first = self._quiet = 0
        self._best = 0.0

    @property
    def candidate(self) -> Candidate | None:
        """Return the last hit of those that are pending, if there is one."""
        return self._candidate

    def settle(self) -> Candidate | None:
        """Confirm the candidate without waiting, if there is one: what comes now is of another keyframe."""
        return None if self._candidate is None else self._commit(self._candidate)

    def update(self, frame: int, score: float) -> tuple[Decision, Candidate] | None:
        """Take in the score of the next frame; return what it decides, if anything.

        A NaN score (the source had nothing to say) neither makes a candidate nor counts as quiet.
        """
        if math.isnan(score):
            return None
        if score > self.threshold:
            decision = Decision.SUPERSEDED if self._candidate else Decision.PROVISIONAL
            if self._candidate is None:
                self._first, self._best = frame, score
            self._best = max(self._best, score)
            self._candidate, self._quiet = Candidate(frame, score), 0
            return decision, self._kept(self._candidate)
        if self._candidate is None:
            return None
        self._quiet += 1
        if self._quiet < self.window:
            return None
        return Decision.COMMITTED, self._commit(self._candidate)

    def _commit(self, last: Candidate) -> Candidate:
        committed = self._kept(last)
        self.reset()
        return committed

    def _kept(self, last: Candidate) -> Candidate:
        """Return what is kept of the hits by now."""
        if not self.first:
            return last
        return Candidate(max(self._first, last.frame - FARTHEST_BACK), self._best)

    def reset(self, candidate: Candidate | None = None) -> None:
        """Forget the candidate, or after a restart continue with a given one and a new debounce window."""
        self._candidate, self._quiet = candidate, 0
        self._first, self._best = (candidate.frame, candidate.score) if candidate is not None else (0, 0.0)
