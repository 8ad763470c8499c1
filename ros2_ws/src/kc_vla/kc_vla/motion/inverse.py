"""Inverse kinematics from several starts: damped least squares on pinocchio's Jacobian, inside the joint limits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Vector
from kc_vla.motion.arm_model import ArmModel

_STARTS = 24
_ITERATIONS = 60
_PLACE, _TURN = 1e-4, 1e-3
"""Where a solution is found, m and rad."""
_DAMPING = 1e-5
_LARGEST_STEP = 0.5
"""rad of a joint in an iteration."""
_STALLED, _PATIENCE = 0.999, 8
"""A start is given up that many iterations after the error has last fallen by that factor."""
_ALIKE = 0.05
"""Solutions whose joints differ by less, rad, are one."""


class InverseKinematics:
    """Finds angles of an arm for poses of its tool.

    The same question gets the same answer: starts are drawn with a fixed seed.
    """

    def __init__(self, arm: ArmModel) -> None:
        """Take the arm."""
        self._arm, self._data = arm, arm.model.createData()
        home = np.clip(arm.robot.rest, arm.lower, arm.upper)
        drawn = np.random.default_rng(0).uniform(arm.lower, arm.upper, (_STARTS, arm.count))
        self._starts = [home, (arm.lower + arm.upper) / 2, *drawn]

    def solutions(self, pose: Pose, near: Vector) -> Iterator[Vector]:
        """Yield different angles (D,), rad, within the limits that bring the tool to `pose`: first one from `near`.

        Args:
            pose: (4, 4), base frame, m.
            near: angles (D,) to start from, rad.
        """
        found: list[Vector] = []
        for start in (near, *self._starts):
            joints = self.from_start(pose, start)
            if joints is None or any(np.abs(joints - other).max() < _ALIKE for other in found):
                continue
            found.append(joints)
            yield joints

    def from_start(self, pose: Pose, start: Vector, limited: bool = True) -> Vector | None:
        """Return angles (D,), rad, that bring the tool to `pose`, found from one start; None where none are.

        Args:
            pose: (4, 4), base frame, m.
            start: angles (D,), rad.
            limited: stay within the limits of the joints.
        """
        arm, data = self._arm, self._data
        target = pinocchio.SE3(pose[:3, :3], pose[:3, 3])
        joints, best, since = np.clip(start, arm.lower, arm.upper), np.inf, 0
        for _ in range(_ITERATIONS):
            pinocchio.computeJointJacobians(arm.model, data, joints)
            pinocchio.updateFramePlacement(arm.model, data, arm.frame)
            error = pinocchio.log6(data.oMf[arm.frame].actInv(target)).vector
            place, turn = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
            if place < _PLACE and turn < _TURN:
                return joints
            size = place + 0.3 * turn
            best, since = (size, 0) if size < _STALLED * best else (best, since + 1)
            if since > _PATIENCE:
                return None
            jacobian = pinocchio.getFrameJacobian(arm.model, data, arm.frame, pinocchio.LOCAL)
            joints = self._moved(joints, jacobian, error, limited)
        return None

    def _moved(self, joints: Vector, jacobian: Vector, error: Vector, limited: bool) -> Vector:
        """Return the angles one step on; a joint that would leave its limits is left out and the others solve it."""
        arm = self._arm
        free = np.ones(arm.count, bool)
        for _ in range(3):
            part = jacobian[:, free]
            step = np.zeros(arm.count)
            step[free] = part.T @ np.linalg.solve(part @ part.T + _DAMPING * np.eye(6), error)
            step *= min(1.0, _LARGEST_STEP / max(float(np.abs(step).max()), 1e-9))
            moved = joints + step
            if not limited:
                return np.asarray(moved)
            out = free & (((moved < arm.lower) & (joints <= arm.lower)) | ((moved > arm.upper) & (joints >= arm.upper)))
            if not out.any():
                break
            free &= ~out
            if not free.any():
                break
        return np.asarray(np.clip(moved, arm.lower, arm.upper))

    def reaches_without_limits(self, pose: Pose) -> bool:
        """Return whether the arm would reach `pose` (4, 4) if its joints turned without end."""
        return any(self.from_start(pose, start, limited=False) is not None for start in self._starts[:6])
