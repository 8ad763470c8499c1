"""The home pose of a robot file, and what speaks against taking an arm's power there."""

from __future__ import annotations

import numpy as np

from kc_vla.arm.interface import LIES
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.outside import AT_LIMIT, beyond, outside
from kc_vla.core.rig import JointLimits, Vector

_TOOL = 0.1
"""m from the flange to where a tool's end may be."""
_ALIKE = 0.05
"""m by which the heights of an arm's joints and tool may differ in two poses in which it lies."""


class HomePose:
    """Where an arm of N joints lies by itself, as its robot file says.

    An arm that was found without power lies where it is. Where the file's pose has its joints or tool at other heights,
    the file may be wrong, and the arm would fall from there or press on the table: then it keeps its power.

    Attributes:
        angles: where it is parked (N,), rad: the file's, cut to a limit that they are hardly beyond.
        unreachable: why it cannot be parked there, in words; empty if it can.
        doubt: why its power must not be taken there, in words; empty if it may.
    """

    def __init__(self, angles: Vector, limits: JointLimits, kinematics: Kinematics) -> None:
        """Take the home pose of a robot file.

        Args:
            angles: of the joints (N,), rad, from the file.
            limits: of the arm.
            kinematics: of the arm.
        """
        self._kinematics = kinematics
        near = beyond(angles, limits) <= AT_LIMIT
        self.angles = np.where(near, np.clip(angles, limits.lowest, limits.highest), angles)
        found = outside(angles, limits)
        self.unreachable = found and f"the home pose ('home' in the robot file) is out of the joint limits: {found}"
        self.doubt = ""

    def lies(self, angles: Vector) -> bool:
        """Return whether an arm with these joint angles (N,), rad, lies at its home pose."""
        return bool(np.abs(angles - self.angles).max() < LIES)

    def found(self, angles: Vector) -> str:
        """Take where a disabled arm lies (N,), rad, and return why the home pose is in doubt; empty if not."""
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
        tool = frames[..., -1, 2, 3] + _TOOL * frames[..., -1, 2, 2]
        return np.concatenate([frames[..., 2, 3], tool[..., None]], axis=-1)
