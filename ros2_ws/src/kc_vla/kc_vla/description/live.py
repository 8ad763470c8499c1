"""The transforms to publish: the moving ones at each joint state, the static ones when they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kc_vla.core.mounted_camera import MountedCamera, pose_matrix
from kc_vla.core.robot import Robot
from kc_vla.core.urdf import DescriptionError, Placed, RobotTree

WORLD = "world"
_SET_BACK_NS = 1_000_000_000
"""A stamp that much before the last one is of a time that begins anew; one that is less is late."""


class MovingTransforms:
    """Those of the links that move: with the stamps of the joint states, each stamp once, and not too often."""

    def __init__(self, tree: RobotTree, rate: float) -> None:
        """Take the tree of a robot, whose joints are unknown yet.

        Args:
            tree: of the robot.
            rate: the most times a second.
        """
        self._tree, self._period_ns = tree, round(1e9 / rate)
        self._last_ns: int | None = None

    def take(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float]) -> list[Placed]:
        """Return the transforms of a joint state (rad, m); none where it is too soon, known already, or late.

        A link whose joint it does not name is left out.
        """
        last = self._last_ns
        if last is not None and last - _SET_BACK_NS < stamp_ns < last + self._period_ns:
            return []
        placed = self._tree.moved(dict(zip(names, positions, strict=True)))
        if placed:
            self._last_ns = stamp_ns
        return placed


class StandingTransforms:
    """Those that hold until further notice, of which each listener gets the last word: all of them at once."""

    def __init__(self, own: Iterable[Placed], robot: Iterable[str]) -> None:
        """Take what is known from the beginning.

        Args:
            own: transforms.
            robot: names of frames that nobody else may place, since they are of the robot.
        """
        self._own = list(own)
        self._taken = {*robot, *(each.child for each in self._own)}
        self._told: list[Placed] = []

    @property
    def all(self) -> list[Placed]:
        """Return all transforms that stand."""
        return [*self._own, *self._told]

    def hear(self, told: Iterable[Placed]) -> bool:
        """Take what a simulator or a bag says of its cameras, in place of what it said before; whether it differs."""
        new = [each for each in told if each.child not in self._taken]
        before = {each.child: each for each in self._told}
        self._told = new
        return len(before) != len(new) or any(
            each.child not in before
            or before[each.child].parent != each.parent
            or not np.array_equal(before[each.child].pose, each.pose)
            for each in new
        )


def robot_places(robot: Robot, tree: RobotTree, base: str) -> list[Placed]:
    """Return where the robot stands in the world, and what of it does not move.

    Args:
        robot: the robot.
        tree: its description.
        base: place of its base frame in the world as text, "x y z qx qy qz qw", m; empty for no world.

    Raises:
        DescriptionError: `base` is no such text.
    """
    if not base.strip():
        return list(tree.fixed)
    at_base = _pose(base)
    in_root = tree.pose(robot.base_frame, {})
    if in_root is None:
        raise DescriptionError(f"the base frame '{robot.base_frame}' moves against '{tree.root}': leave 'base' empty")
    return [Placed(WORLD, tree.root, at_base @ np.linalg.inv(in_root)), *tree.fixed]


def camera_places(robot: Robot, cameras: Mapping[str, MountedCamera]) -> list[Placed]:
    """Return where the robot's cameras are, as their calibration has it: on the tool frame, or in the base frame.

    Args:
        robot: the robot.
        cameras: by the name of the file, for what is said.

    Raises:
        DescriptionError: one is of a frame that the robot has not, or two are of the same.
    """
    placed: dict[str, Placed] = {}
    for file, camera in cameras.items():
        if camera.frame not in robot.cameras.values():
            raise DescriptionError(
                f"{file} places the frame '{camera.frame}': the cameras of the robot '{robot.name}' have "
                f"{', '.join(robot.cameras.values())}; set tracking_base_frame in it to one of these"
            )
        if camera.frame in placed:
            raise DescriptionError(f"{file} places the frame '{camera.frame}', and another file does so too")
        placed[camera.frame] = Placed(
            robot.tool_frame if camera.in_hand else robot.base_frame, camera.frame, camera.pose
        )
    return list(placed.values())


def _pose(text: str) -> np.ndarray:
    wanted = f"base is '{text}': x y z qx qy qz qw are wanted, m and a unit quaternion"
    try:
        numbers = np.array([float(word) for word in text.split()])
    except ValueError:
        raise DescriptionError(wanted) from None
    if numbers.shape != (7,) or not np.isfinite(numbers).all() or abs(np.linalg.norm(numbers[3:]) - 1) > 0.01:
        raise DescriptionError(wanted)
    return pose_matrix(numbers[:3].tolist(), numbers[3:].tolist())
