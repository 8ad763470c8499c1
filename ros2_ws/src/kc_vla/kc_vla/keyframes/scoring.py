"""The protocol of keyframe selectors, and the data that they get.

A selector names the streams that it needs besides the first view. For each episode it returns a scorer.
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
    """The data of one frame for a scorer.

    Attributes:
        stamp_ns: stamp of the image, ns of ROS time.
        views: images by the names of their views: the robot's first view, and those that the selector needs.
        gripper: gripper width, m; None if the selector needs no proprioception.
        tool_position: position (3,) of the tool center point in the base frame, m; None as for `gripper`.
        oracle: the simulator's own score of this frame, 0..1; None without an oracle.
        of: phase of the keyframe to which `oracle` belongs; 0 for the first frame and if it is unknown.
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
        """Return a line for the user that names the impossible part of the measured state.

        It is empty if the state is possible, or if the selector needs none.
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
    """Return the input of a scorer from messages of a topic or a bag; None stands for a missing message.

    Args:
        stamp_ns: stamp of the image of the first view, ns of ROS time.
        views: images, see `ScorerInput`.
        joints: sensor_msgs/JointState; the joints called finger or gripper add up to the gripper width.
        tool_pose: geometry_msgs/Pose.
        oracle: the simulator's own score.
        of: phase of the keyframe to which that score belongs.
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
        labels: labels of the task's keyframes, in order, the first for frame 0.
        scorer: a new scorer for this episode.
        threshold: a frame with a score above it becomes a candidate.
        remark: a line for the user; mostly empty.
        first: whether the first frame above the threshold is kept, see `kc_vla.keyframes.smoothing.GreedySmoother`.
        tells: which keyframe the last score was of, see `KeyframeSelector.update`; None: the source never knows.
    """

    labels: tuple[str, ...]
    scorer: Scorer
    threshold: float = DEFAULT_THRESHOLD
    remark: str = ""
    first: bool = False
    tells: Callable[[], int] | None = None


class SourceError(StackError):
    """The selector cannot be made; the text says why and what to do."""


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
