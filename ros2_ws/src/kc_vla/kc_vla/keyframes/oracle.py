"""The simulator's own keyframes."""

from __future__ import annotations

from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.keyframes.scoring import Scoring, Sight


class OracleSource:
    """The simulator says of its own frames how much they are keyframes."""

    needs: tuple[str, ...] = ("oracle",)
    runs_on = "-"

    def begin(self, episode: Episode) -> Scoring:
        """See `kc_vla.keyframes.scoring.Source.begin`."""
        scorer = OracleScorer()
        return Scoring(find_task(episode.task).keyframes, scorer, tells=scorer.told)


class OracleScorer:
    """Hands on what the simulator says of its own frames."""

    def __init__(self) -> None:
        self._of = 0

    def told(self) -> int:
        """Which keyframe the last score was of; 0 where the simulator did not say, as in bags of before."""
        return self._of

    def score(self, sight: Sight, phase: int) -> float:
        """Return the oracle's score."""
        assert sight.oracle is not None
        self._of = sight.of
        return sight.oracle
