"""The simulator's own keyframes."""

from __future__ import annotations

from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.keyframes.scoring import ScorerInput, Scoring


class OracleSource:
    """The simulator says of its own frames how much they are keyframes."""

    needs: tuple[str, ...] = ("oracle",)
    runs_on = "-"

    def begin(self, episode: Episode) -> Scoring:
        """Begin an episode of a task of the task table, whose scores the simulator publishes.

        Raises:
            ValueError: the table does not have the task; the message says which it has.
        """
        scorer = OracleScorer()
        return Scoring(find_task(episode.task).keyframes, scorer, tells=scorer.told)


class OracleScorer:
    """Hands on what the simulator says of its own frames."""

    def __init__(self) -> None:
        self._of = 0

    def told(self) -> int:
        """Return which keyframe the last score was of; 0 where the simulator did not say, as in older bags."""
        return self._of

    def score(self, sight: ScorerInput, phase: int) -> float:
        """Return the oracle's score."""
        assert sight.oracle is not None
        self._of = sight.of
        return sight.oracle
