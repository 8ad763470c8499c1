"""What a source of keyframes has to be, and what it sees.

A source knows which streams it needs beside the third-person camera; told of an episode, it gives what scores it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.core.errors import StackError
from kc_vla.core.rig import gripper_joints
from kc_vla.keyframes.observation import pose_of

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


def sight_of(
    stamp_ns: int,
    pictures: Mapping[str, NDArray[np.uint8]],
    joints: Any = None,
    tool_pose: Any = None,
    oracle: float | None = None,
) -> Sight:
    """Put together what a scorer may look at, of messages from a topic or from a bag; None where there is none.

    Args:
        stamp_ns: of the third-person picture, ns of ROS time.
        pictures: (H, W, 3) uint8 RGB, by view.
        joints: sensor_msgs/JointState; those called finger or gripper add up to the opening.
        tool_pose: geometry_msgs/Pose.
        oracle: the simulator's own score.
    """
    return Sight(
        stamp_ns,
        pictures["third_person"],
        gripper=None if joints is None else float(sum(joints.position[k] for k in gripper_joints(joints.name))),
        tool_position=None if tool_pose is None else pose_of(tool_pose)[:3],
        oracle=oracle,
        wrist=pictures.get("wrist"),
    )


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


class SourceError(StackError):
    """The source cannot be had; the text says why and what to do."""


class Source(Protocol):
    """A way of finding keyframes.

    It and its scorers may compute and wait for as long as they need: they are called from a thread that does nothing
    else, one call at a time, unless the source's row in `kc_vla.keyframes.sources` says that it answers at once.

    Attributes:
        needs: streams beside the pictures, some of "oracle", "joints", "tool_pose", "wrist".
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
