"""The home pose of a robot file, and the reasons not to disable an arm there."""

from __future__ import annotations

import numpy as np

from kc_vla.arm.interface import LIES
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.outside import AT_LIMIT, beyond, outside
from kc_vla.core.robot import JointLimits, Vector
from kc_vla.core.robot_model import DOWN

_TOOL = 0.1
"""Distance from the flange to the end of a tool that an arm may carry, m."""
_ALIKE = 0.05
"""Difference of the heights of an arm's joints and tool, m, up to which it lies alike in two poses."""


class HomePose:
    """The pose in which an arm of N joints lies by itself, by its robot file.

    An arm that is disabled at start-up lies where it is. If the joints or the tool have other heights in the pose of
    the file, the file may be wrong: the arm would fall from there, or press on the table. Then it stays enabled.

    Attributes:
        angles: angles at which the arm is parked (N,), rad: those of the file, cut to a limit that they hardly exceed.
        unreachable: reason why the arm cannot be parked there; empty if it can.
        doubt: reason why the arm must not be disabled there; empty if it may be.
    """

    def __init__(
        self,
        angles: Vector,
        limits: JointLimits,
        kinematics: Kinematics,
        down: tuple[float, float, float] = DOWN,
    ) -> None:
        """Take the home pose of a robot file.

        Args:
            angles: Home pose of the file (N,), rad.
            limits: Limits of the arm's joints, rad.
            kinematics: Forward kinematics from the base frame to the flange, m.
            down: Direction of gravity in the base frame, a unit vector.
        """
        self._kinematics, self._up = kinematics, -np.array(down)
        near = beyond(angles, limits) <= AT_LIMIT
        self.angles = np.where(near, np.clip(angles, limits.lowest, limits.highest), angles)
        found = outside(angles, limits)
        self.unreachable = found and f"the home pose ('home' in the robot file) is out of the joint limits: {found}"
        self.doubt = ""

    def lies(self, angles: Vector) -> bool:
        """Return whether an arm with these measured joint angles (N,), rad, lies at its home pose."""
        return bool(np.abs(angles - self.angles).max() < LIES)

    def found(self, angles: Vector) -> str:
        """Compare the pose in which a disabled arm lies with the home pose.

        Args:
            angles: Measured angles of the joints (N,), rad.

        Returns:
            The reason to doubt the home pose, which `doubt` has from now on; empty if there is none.
        """
        self.doubt = ""
        apart = np.abs(self._heights(angles) - self._heights(self.angles)).max()
        if apart > _ALIKE:
            turned = np.where(np.eye(len(angles), dtype=bool), angles, self.angles)
            changes = np.abs(self._heights(turned) - self._heights(self.angles)).max(axis=-1)
            joint = int(changes.argmax())
            lay, says = np.degrees([angles[joint], self.angles[joint]])
            self.doubt = (
                f"the arm was found without power with joint {joint + 1} at {lay:.0f} degrees, and 'home' in its robot "
                f"file has {says:.0f}: from one to the other its height changes by {apart * 1e3:.0f} mm. It keeps its "
                "power when it is parked: correct 'home', or lay the arm down as it says before you start"
            )
        return self.doubt

    def _heights(self, angles: Vector) -> Vector:
        """Return heights (..., N + 1), m, of the joints and of the end of a tool at joint angles (..., N), rad."""
        frames = self._kinematics.frames(angles)
        tool = frames[..., -1, :3, 3] + _TOOL * frames[..., -1, :3, 2]
        return np.concatenate([frames[..., :3, 3] @ self._up, (tool @ self._up)[..., None]], axis=-1)
