"""A policy without images: it moves the joints through the poses of a YAML file, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot
from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.policy.interface import PolicyError, PolicyInput

_KEYS = frozenset({"joints", "gripper", "seconds", "hold"})


@dataclass(frozen=True, eq=False)
class TimedPose:
    """A pose, and the duration of the motion to it.

    Attributes:
        values: of the N joints, rad, and the gripper's opening, m, (N + 1,).
        seconds: duration of the motion from the previous pose, s.
    """

    values: NDArray[np.float64]
    seconds: float


def load_script(path: Path, robot: Robot) -> list[TimedPose]:
    """Return the poses of a file: a list of `joints` (degrees), `gripper` (m), `seconds` and, if it stays, `hold` (s).

    A pose that is held is there twice: the way from it to itself takes as long as it is held.

    Raises:
        PolicyError: it cannot be read, or is no such list.
    """
    try:
        content = parsed_yaml(read_text(path))
    except (OSError, ValueError) as error:
        raise PolicyError(f"no script can be read from '{path}': {error}") from error
    if not isinstance(content, list) or not content:
        raise PolicyError(f"{path} holds no list of poses: each has joints, gripper and seconds")
    return [pose for number, item in enumerate(content, 1) for pose in _poses(path, number, item, robot)]


class ScriptedBackend:
    """Goes from where the arm is to the first pose and on to the others, then again from the first; smooth throughout.

    Between two poses each joint follows the minimum-jerk polynomial 10 s^3 - 15 s^4 + 6 s^5, at rest at both ends.
    """

    name = "scripted"
    needs_keyframes = True
    needs_images = False
    needs_plan = False
    action_type = ActionType.JOINT_POSITION

    def __init__(self, poses: list[TimedPose], horizon: int, robot: Robot) -> None:
        """Take the poses of a script.

        Args:
            poses: at least one.
            horizon: of the chunks, 1 or more.
            robot: of the arm.
        """
        self.names = robot.names
        self._poses = poses
        self._horizon = horizon
        self._start: NDArray[np.float64] | None = None
        self._period = 0.05
        self._first = 0

    def reset(self, episode: Episode) -> str:
        """Begin with the first pose."""
        self._start = None
        self._period = episode.period_ns * 1e-9
        return ""

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the next rows of the way."""
        if self._start is None:
            self._start, self._first = given.state, given.frame
        steps = given.frame - self._first + np.arange(self._horizon)
        return np.array([self.at(step * self._period) for step in steps], np.float32)

    def at(self, seconds: float) -> NDArray[np.float64]:
        """Return where the joints, rad, and the gripper, m, are to be so long after the first look."""
        assert self._start is not None
        start, left = self._start, max(seconds, 0.0)
        cycle = sum(pose.seconds for pose in self._poses)
        if left >= cycle:
            start, left = self._poses[-1].values, left % cycle
        for pose in self._poses:
            if left < pose.seconds:
                s = left / pose.seconds
                return np.asarray(start + (pose.values - start) * (10 * s**3 - 15 * s**4 + 6 * s**5))
            start, left = pose.values, left - pose.seconds
        return start


def _poses(path: Path, number: int, item: Any, robot: Robot) -> list[TimedPose]:
    try:
        values = np.array([*np.radians(np.array(item["joints"], float)), float(item["gripper"])])
        seconds, hold = float(item["seconds"]), float(item.get("hold", 0.0))
        unknown = ", ".join(map(str, item.keys() - _KEYS))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"{path}, pose {number}: joints, gripper and seconds are wanted ({error!r})") from error
    if unknown:
        raise PolicyError(f"{path}, pose {number}: {unknown} is not known; a pose has {', '.join(sorted(_KEYS))}")
    times = 0.0 < seconds < np.inf and 0.0 <= hold < np.inf
    if len(values) != len(robot.names) or not np.isfinite(values).all() or not times:
        raise PolicyError(
            f"{path}, pose {number}: {len(robot.joints)} angles in degrees, a gripper in m, a time above 0 s are wanted"
        )
    return [TimedPose(values, seconds), *([TimedPose(values, hold)] if hold else [])]
