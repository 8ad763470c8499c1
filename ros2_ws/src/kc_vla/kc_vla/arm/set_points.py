"""The one place through which set-points leave for an arm, whichever driver it has."""

from __future__ import annotations

import numpy as np

from kc_vla.arm.interface import ArmError, CompliantArm, Impedance, MovableArm
from kc_vla.core.robot import Vector

_ROUNDING = 1e-6
"""rad."""


class RefusedSetPointError(ArmError):
    """A set-point that was not sent: an arm would have jumped to it."""


class SetPointGuard:
    """Sends set-points that an arm of N joints can follow, and no others.

    The first one is where the arm was measured. No other is further from the one before than the velocity limits allow
    in the time between two of them. None is outside of the joint limits, unless the one before was at least as far
    outside. Limits, firmware, robot file and the code that computes set-points have no say in this.

    Attributes:
        step: that a set-point may have (N,), rad.
    """

    def __init__(self, arm: MovableArm, speed: Vector, seconds: float) -> None:
        """Args: `arm`; velocity limits `speed` (N,), rad/s; `seconds` between two set-points.

        Raises:
            ArmError: a velocity limit is no positive number, or a limit is not finite.
        """
        if not (np.isfinite(speed).all() and (speed > 0.0).all() and 0.0 < seconds < np.inf):
            raise ArmError(f"velocity limits {np.asarray(speed).tolist()} rad/s every {seconds} s: not usable")
        limits = arm.limits
        if not (np.isfinite([limits.lowest, limits.highest]).all() and (limits.lowest < limits.highest).all()):
            raise ArmError("a joint's lower limit is not below its upper limit: look at the robot file and the arm")
        self._arm, self.step = arm, np.asarray(speed) * seconds + _ROUNDING
        self._sent: Vector | None = None

    def begin(self, measured: Vector) -> None:
        """Take where the arm is now (N,), rad, as the place from which the first set-point may be a step away.

        Raises:
            RefusedSetPointError: a number is not finite.
        """
        if np.shape(measured) != np.shape(self.step) or not np.isfinite(measured).all():
            raise RefusedSetPointError(f"the arm reports {np.asarray(measured).tolist()}: not usable as joint angles")
        self._sent = np.array(measured, float)

    def send(self, angles: Vector, gripper: float) -> None:
        """Send angles (N,), rad, and the gripper's width, m.

        Raises:
            RefusedSetPointError: an arm would jump, or go out of its limits; nothing was sent.
        """
        self._require(angles, gripper)
        try:
            self._arm.set_target(np.asarray(angles), gripper)
        except ValueError as error:
            raise RefusedSetPointError(str(error)) from error
        self._sent = np.array(angles, float)

    def send_impedance(self, command: Impedance) -> None:
        """Send an impedance command. The rules of a set-point hold for the place where its springs are fixed.

        Raises:
            RefusedSetPointError: the arm has no such mode, the springs would jump or go out of its limits, a joint
                would be driven by its damper, or a torque is larger than the arm allows; nothing was sent.
        """
        if not isinstance(self._arm, CompliantArm):
            raise RefusedSetPointError("an impedance command for an arm that takes none")
        self._require(command.angles, command.gripper)
        rows = np.array([command.velocities, command.stiffness, command.damping, command.torques])
        if not np.isfinite(rows).all() or (rows[1:3] < 0.0).any():
            raise RefusedSetPointError("an impedance command with a number that is not usable")
        if (over := np.abs(command.torques) > self._arm.torque_limits() + _ROUNDING).any():
            joint = int(np.flatnonzero(over)[0])
            raise RefusedSetPointError(
                f"a torque of {command.torques[joint]:.1f} N m for joint {joint + 1} is too much"
            )
        try:
            self._arm.set_impedance(command)
        except ValueError as error:
            raise RefusedSetPointError(str(error)) from error
        self._sent = np.array(command.angles, float)

    def _require(self, angles: Vector, gripper: float) -> None:
        """Refuse angles to which an arm would jump, or that are out of its limits."""
        before = self._sent
        if before is None:
            raise RefusedSetPointError("a set-point before it is known where the arm is")
        if np.shape(angles) != before.shape or not (np.isfinite(angles).all() and np.isfinite(gripper)):
            raise RefusedSetPointError(f"set-point {np.asarray(angles).tolist()}, gripper {gripper}: not usable")
        step, limits = np.abs(angles - before), self._arm.limits
        lower, upper = np.minimum(limits.lowest, before), np.maximum(limits.highest, before)
        out = np.maximum(lower - angles, angles - upper)
        if (wrong := (step > self.step) | (out > _ROUNDING)).any():
            joint = int(np.flatnonzero(wrong)[0])
            at, to, most = np.degrees([before[joint], angles[joint], self.step[joint]])
            raise RefusedSetPointError(
                f"a set-point of joint {joint + 1} at {to:.2f} degrees was not sent: the last one is at {at:.2f}, a "
                f"step may have {most:.2f}, and its limits are "
                f"{np.degrees(limits.lowest[joint]):.1f} to {np.degrees(limits.highest[joint]):.1f}"
            )
