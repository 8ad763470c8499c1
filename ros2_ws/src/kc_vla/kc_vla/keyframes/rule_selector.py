"""The rules of a task as a selector."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.keyframes.rules import CueScorer, Signals
from kc_vla.keyframes.scoring import ScorerInput, Scoring


class RuleSource:
    """The rules that the task table names."""

    needs: tuple[str, ...] = ("joints", "tool_pose")
    runs_on = "-"

    def begin(self, episode: Episode) -> Scoring:
        """Begin an episode with the rules that the task table has for its task.

        The scoring's remark says so if there are none.

        Raises:
            ValueError: the table does not have the task; the message says which it has.
        """
        task = find_task(episode.task)
        blind = f"no rule finds the keyframes of '{task.name}' but the first: choose another selector:="
        return Scoring(task.keyframes, RuleScorer(task.cues), remark="" if task.cues else blind)


class RuleScorer:
    """Asks the rules of a task."""

    def __init__(self, cues: tuple[str, ...]) -> None:
        """Begin an episode.

        Args:
            cues: the name of the rule of each phase.
        """
        self._cues = CueScorer(cues)
        self._last: tuple[int, NDArray[np.float64]] | None = None

    def score(self, sight: ScorerInput, phase: int) -> float:
        """Return the score of the rule whose phase it is; NaN for a frame whose proprioception is not finite."""
        assert sight.tool_position is not None
        assert sight.gripper is not None
        if sight.unsound:
            return math.nan
        speed = 0.0
        if self._last is not None and sight.stamp_ns > self._last[0]:
            moved = float(np.linalg.norm(sight.tool_position - self._last[1]))
            speed = moved / ((sight.stamp_ns - self._last[0]) * 1e-9)
        self._last = (sight.stamp_ns, sight.tool_position)
        signals = Signals(
            brightness=float(sight.pixels.mean()),
            gripper=sight.gripper,
            height=float(sight.tool_position[2]),
            speed=speed,
        )
        return self._cues.update(signals, phase)
