"""Where the scores come from: the simulator's oracle, the rules of a task, and behind the same interface a network.

A source knows which streams it needs beside the third-person camera; told of an episode, it gives what scores it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.keyframes.rules import CueScorer, Signals

DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, eq=False)
class Sight:
    """What a scorer may look at in one frame.

    Attributes:
        stamp_ns: of the image, ns of ROS time.
        pixels: (H, W, 3) uint8 RGB, third-person view.
        gripper: opening, m; None if the source was not asked for proprioception.
        tool_position: (3,) m, tool centre point in the robot base frame; likewise.
        oracle: the simulator's own score of this frame, 0..1; None without an oracle.
        wrist: (H, W, 3) uint8 RGB, the wrist camera's; None if the source was not asked for it.
    """

    stamp_ns: int
    pixels: NDArray[np.uint8]
    gripper: float | None = None
    tool_position: NDArray[np.float64] | None = None
    oracle: float | None = None
    wrist: NDArray[np.uint8] | None = None


class Scorer(Protocol):
    """Scores the frames of one episode, in order."""

    def score(self, sight: Sight, phase: int) -> float:
        """Return how much the frame looks like the keyframe of `phase`: 0..1, NaN for "nothing to say"."""
        ...


@dataclass(frozen=True)
class Scoring:
    """How the frames of an episode are scored.

    Attributes:
        labels: of the keyframes of its task, in order, the first for frame 0.
        scorer: fresh, for this episode.
        threshold: a score above it is a candidate.
        remark: what a user should know of it; mostly empty.
        middle: what is committed, see `kc_vla.keyframes.smoothing.GreedySmoother`.
    """

    labels: tuple[str, ...]
    scorer: Scorer
    threshold: float = DEFAULT_THRESHOLD
    remark: str = ""
    middle: bool = False


class Source(Protocol):
    """A way of finding keyframes."""

    needs: tuple[str, ...]
    """Streams beside the pictures: some of "oracle", "joints", "tool_pose", "wrist"."""

    def begin(self, episode: Episode) -> Scoring:
        """Begin an episode.

        Raises:
            ValueError: its task is not known; the message says what is.
        """
        ...


class OracleSource:
    """The simulator says of its own frames how much they are keyframes."""

    needs: tuple[str, ...] = ("oracle",)

    def begin(self, episode: Episode) -> Scoring:
        """See `Source.begin`."""
        return Scoring(find_task(episode.task).keyframes, OracleScorer())


class RuleSource:
    """The rules that the task table names."""

    needs: tuple[str, ...] = ("joints", "tool_pose")

    def begin(self, episode: Episode) -> Scoring:
        """See `Source.begin`."""
        task = find_task(episode.task)
        blind = f"no rule finds the keyframes of '{task.name}' but the first: use another source"
        return Scoring(task.keyframes, RuleScorer(task.cues), remark="" if task.cues else blind)


class OracleScorer:
    """Hands on what the simulator says of its own frames."""

    def score(self, sight: Sight, phase: int) -> float:
        """Return the oracle's score."""
        assert sight.oracle is not None
        return sight.oracle


class RuleScorer:
    """Asks the rules of a task."""

    def __init__(self, cues: tuple[str, ...]) -> None:
        """Args: `cues`, the name of the rule of each phase."""
        self._cues = CueScorer(cues)
        self._last: tuple[int, NDArray[np.float64]] | None = None

    def score(self, sight: Sight, phase: int) -> float:
        """Return the score of the rule whose phase it is; NaN for a frame whose proprioception is not finite."""
        assert sight.tool_position is not None
        assert sight.gripper is not None
        if not np.isfinite((sight.gripper, *sight.tool_position)).all():
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
