"""A keyframe selector that keeps every n-th frame, to compare selectors with."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.episode import Episode
from kc_vla.core.options import option
from kc_vla.keyframes.scoring import ScorerInput, Scoring
from kc_vla.keyframes.selectors import SelectorKind

MOST = 1000
"""Keyframes of an episode, at most."""
_LABELS = ("start", *(f"keyframe {number}" for number in range(1, MOST)))


@dataclass(frozen=True)
class EveryOptions:
    """The options of the selector."""

    every: int = option("frames from one keyframe to the next", 20, low=1, high=10_000)


class EverySelector:
    """See `kc_vla.keyframes.scoring.SelectorBackend`."""

    needs: tuple[str, ...] = ()
    runs_on = "-"

    def __init__(self, every: int) -> None:
        self._every = every

    def begin(self, episode: Episode) -> Scoring:
        """See `SelectorBackend`: any task will do."""
        return Scoring(_LABELS, EveryScorer(self._every))


class EveryScorer:
    """See `kc_vla.keyframes.scoring.Scorer`."""

    def __init__(self, every: int) -> None:
        self._every, self._frame = every, -1

    def score(self, sight: ScorerInput, phase: int) -> float:
        """See `Scorer`."""
        self._frame += 1
        return 1.0 if self._frame and self._frame % self._every == 0 else 0.0


EVERY = SelectorKind("every n-th frame", EveryOptions, lambda options: EverySelector(options.every), inline=True)
