"""What a selector has to be, and what it sees.

A selector knows which streams it needs beside the first camera. For each episode it returns what scores it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.core.errors import StackError
from kc_vla.core.robot import gripper_joints
from kc_vla.core.views import STREAMS, Views
from kc_vla.keyframes.observation import pose_of

DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True, eq=False)
class ScorerInput:
    """What a scorer may look at in one frame.

    Attributes:
        stamp_ns: of the image, ns of ROS time.
        views: images by the names of their views, the robot's first and those that the source asked for.
        gripper: opening, m; None if the source was not asked for proprioception.
        tool_position: (3,) m, tool center point in the robot base frame; likewise.
        oracle: the simulator's own score of this frame, 0..1; None without an oracle.
        of: which keyframe of the task that is of; 0 where it is not said, or of the first frame.
    """

    stamp_ns: int
    views: Views
    gripper: float | None = None
    tool_position: NDArray[np.float64] | None = None
    oracle: float | None = None
    of: int = 0

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """Return the image of the first view, (H, W, 3) uint8 RGB."""
        return next(iter(self.views.values()))

    @property
    def unsound(self) -> str:
        """Return which part of the measured state is impossible, in words for a user.

        It is empty where all is well or nothing was asked for.
        """
        felt = {"opening of the gripper": self.gripper, "place of the tool": self.tool_position}
        wrong = [name for name, value in felt.items() if value is not None and not np.isfinite(value).all()]
        return f"the {' and the '.join(wrong)} is no finite number: such frames are not scored" if wrong else ""


def sight_of(
    stamp_ns: int,
    views: Views,
    joints: Any = None,
    tool_pose: Any = None,
    oracle: float | None = None,
    of: int = 0,
) -> ScorerInput:
    """Put together what a scorer may look at, of messages from a topic or from a bag; None where there is none.

    Args:
        stamp_ns: of the image of the first view, ns of ROS time.
        views: images, see `ScorerInput`.
        joints: sensor_msgs/JointState; those called finger or gripper add up to the opening.
        tool_pose: geometry_msgs/Pose.
        oracle: the simulator's own score.
        of: which keyframe that is of.
    """
    return ScorerInput(
        stamp_ns,
        views,
        gripper=None if joints is None else float(sum(joints.position[k] for k in gripper_joints(joints.name))),
        tool_position=None if tool_pose is None else pose_of(tool_pose)[:3],
        oracle=oracle,
        of=of,
    )


class Scorer(Protocol):
    """Scores the frames of one episode, in order."""

    def score(self, sight: ScorerInput, phase: int) -> float:
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
        first: which frame is kept, see `kc_vla.keyframes.smoothing.GreedySmoother`.
        tells: which keyframe the last score was of, see `KeyframeSelector.update`; None: the source never knows.
    """

    labels: tuple[str, ...]
    scorer: Scorer
    threshold: float = DEFAULT_THRESHOLD
    remark: str = ""
    first: bool = False
    tells: Callable[[], int] | None = None


class SourceError(StackError):
    """The source cannot be had; the text says why and what to do."""


class SelectorBackend(Protocol):
    """A way of finding keyframes.

    It and its scorers may compute and wait for as long as they need: they are called from a thread that does nothing
    else, one call at a time, unless the source's row in `kc_vla.keyframes.selectors` says that it is `inline`.

    Attributes:
        needs: what it looks at beside the images of the first view: some of `kc_vla.core.views.STREAMS`, and views by
            their names, which may be the first.
        runs_on: what it computes with, for diagnostics; "-" if that is nothing special.
    """

    needs: tuple[str, ...]
    runs_on: str

    def begin(self, episode: Episode) -> Scoring:
        """Begin an episode.

        Raises:
            ValueError: its task is not known; the message says what is.
        """
        ...


def views_for(source: SelectorBackend, views: Sequence[str]) -> tuple[str, ...]:
    """Return which of a robot's `views` a selector needs: the first, which counts the frames, and those that it names.

    Raises:
        SourceError: it needs one that the robot does not have.
    """
    wanted = [need for need in source.needs if need not in STREAMS]
    if missing := [view for view in wanted if view not in views]:
        raise SourceError(
            f"the selector needs the view {', '.join(missing)}, and the robot has {', '.join(views)}: "
            "take a model that was trained with these (--camera), another selector, or another robot"
        )
    return tuple(view for view in views if view in wanted or view == views[0])
