"""A source at work: the scores of the running episode's frames and the keyframes that they make.

All of it is used by one thread at a time, which need not be that of who shows it the frames.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.scoring import ScorerInput, Scoring, SelectorBackend
from kc_vla.keyframes.selector import KeyframeSelector, SelectorEvent
from kc_vla.keyframes.smoothing import WINDOW_FRAMES, GreedySmoother

WAITING_FRAMES = 10
"""Frames that may wait for a source, in real time; one more, and the oldest is lost. In lock-step only one does."""


@dataclass(frozen=True)
class FrameToScore:
    """A frame to be looked at.

    Attributes:
        frame: its number.
        sight: what is seen of it.
        threshold: a score above it makes a candidate; below 0: as the source has it.
        start: where the selector starts, if this is the first frame of the episode that it looks at.
    """

    frame: int
    sight: ScorerInput
    threshold: float
    start: Start


@dataclass(frozen=True)
class ScoredFrame:
    """What came of a frame.

    Attributes:
        score: 0..1, NaN for "nothing to say".
        events: what it decides.
        phase: that is waited for now.
        threshold: that counted.
        seconds: that it took.
        problem: what a user should know of the frame; mostly empty.
    """

    score: float
    events: Sequence[SelectorEvent]
    phase: int
    threshold: float
    seconds: float
    problem: str = ""


class LiveSelector:
    """The phases of one episode after another, as a source scores their frames."""

    def __init__(self, source: SelectorBackend, window_frames: int = WINDOW_FRAMES) -> None:
        """Begin without an episode.

        Args:
            source: the selector.
            window_frames: frames of the debounce window that confirms a candidate.
        """
        self._source, self._window = source, window_frames
        self._scoring: Scoring | None = None
        self._selector: KeyframeSelector | None = None
        self._fresh = True  # no frame of the episode was looked at

    def begin(self, episode: Episode) -> str:
        """Begin the phases of a new episode; return what a user should know of it, mostly nothing.

        Raises:
            ValueError: its task is not known; until the next episode nothing is found.
        """
        self._scoring = self._selector = None
        scoring = self._source.begin(episode)
        self._fresh = True
        smoother = GreedySmoother(scoring.threshold, self._window, scoring.first)
        self._scoring, self._selector = scoring, KeyframeSelector(scoring.labels, smoother)
        return scoring.remark

    def take(self, look: FrameToScore) -> ScoredFrame | None:
        """Take in the next frame; None if the episode's task is not known."""
        if self._scoring is None or self._selector is None:
            return None
        began = time.perf_counter()
        if self._fresh and look.start.held is not None:
            self._selector.restore(look.start.held, look.start.settled)
        self._fresh = False
        self._selector.threshold = self._scoring.threshold if look.threshold < 0 else look.threshold
        score, events = math.nan, list[SelectorEvent]()
        if look.frame > self._selector.last_frame:
            score = self._scoring.scorer.score(look.sight, self._selector.phase)
            of = 0 if self._scoring.tells is None else self._scoring.tells()
            events = self._selector.update(look.frame, score, of)
        took = time.perf_counter() - began
        return ScoredFrame(score, events, self._selector.phase, self._selector.threshold, took, look.sight.unsound)
