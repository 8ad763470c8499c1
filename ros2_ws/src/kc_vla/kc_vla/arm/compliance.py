"""The mode `compliance`: the joints are springs and dampers, and the torques of gravity are added.

The spring of each joint is fixed at an anchor. It bears the joint up to a torque, `hold`; pushed harder, the joint
gives way and takes its anchor along. So an arm that is released stays, also where its inertias are a little wrong, and
an arm that gets no more commands hangs on its springs. What a set-point may not do, an anchor may not do either: it is
never faster than the joint may be led, and never leaves the joint limits, the workspace, or the poses that the motors
can carry. A joint that is pushed on from there pulls at its spring: that is the wall. Too far or too fast, and the
mode ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.dynamics import ArmDynamics
from kc_vla.arm.interface import ArmError, ArmState, CompliantArm, Impedance, MovableArm
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.compliance import ComplianceGains
from kc_vla.core.inertia import read_inertia
from kc_vla.core.robot import Robot, RobotError, Vector

_WALL = 0.12
"""rad by which a joint may be pushed beyond the end of its spring's give before the mode ends."""
_OUTSIDE = 0.05
"""m by which the flange may be pushed further out of the workspace than the anchors are before the mode ends."""
_TOO_FAST, _TOO_LONG_S = 1.5, 0.015
"""Share of the velocity at which a joint may be led, and for how long, s, after which the mode ends."""
_ENTERS_S, _LEAVES_S = 1.0, 0.1
"""Time that an arm may take to enter the mode, and to report something else of it, s."""
_ROUNDING = 1e-9


class Compliance:
    """The mode of one arm of N joints; `begin`, then `next` and `ends` in each control period, then `end`.

    Attributes:
        active: whether the arm is in the mode, or on its way into it.
        guides: whether the anchors follow the hand that pushes the arm; otherwise they follow its targets.
    """

    def __init__(
        self,
        arm: CompliantArm,
        dynamics: ArmDynamics,
        gains: ComplianceGains,
        workspace: Workspace,
        settings: ServoSettings,
    ) -> None:
        """Prepare.

        Args:
            arm: the arm, connected.
            dynamics: of it, with its payload.
            gains: how soft it is.
            workspace: which the anchors do not leave.
            settings: of the servo; its period and its margin to the workspace count.

        Raises:
            ArmError: the arm takes no impedance commands.
        """
        self._limits, self._dynamics, self._gains, self._workspace = arm.limits, dynamics, gains, workspace
        self._torque = np.minimum(gains.torque, arm.torque_limits())
        self._speed = np.minimum(gains.speed, np.minimum(arm.limits.speed, settings.speed))
        self._period, self._margin = settings.period, settings.margin
        self.active, self.guides = False, True
        self._anchor: Vector = np.zeros(len(gains.hold))
        self._soft_at = self._calm_at = 0.0
        self._entered = False

    def begin(self, state: ArmState, now: float, guides: bool) -> None:
        """Begin where the arm is.

        Raises:
            ArmError: the motors cannot carry the arm there.
        """
        carried = np.abs(self._dynamics.gravity(state.angles))
        if (short := carried > self._torque).any():
            joint = int(np.flatnonzero(short)[0])
            raise ArmError(
                f"not compliant: joint {joint + 1} needs {carried[joint]:.1f} N m to carry the arm here, and may have "
                f"{self._torque[joint]:.1f}: bend the arm first"
            )
        self.active, self.guides, self._entered = True, guides, False
        self._anchor, self._soft_at, self._calm_at = state.angles.copy(), now, now

    def end(self) -> None:
        """End the mode."""
        self.active = False

    def next(self, state: ArmState, target: Vector, gripper: float) -> Impedance:
        """Return the command of this control period.

        Args:
            state: of the arm.
            target: where it should be (N,), rad; where a hand leads it this counts for nothing.
            gripper: its width, m.
        """
        at, give = state.angles, self._gains.give
        goal = np.clip(self._anchor if self.guides else target, at - give, at + give)
        if not self._entered:  # until then it holds by itself, or comes to rest
            goal = at
        most = self._speed * self._period
        self._anchor = self._moved(np.clip(goal - self._anchor, -most, most))
        torques = np.clip(self._dynamics.gravity(at), -self._torque, self._torque)
        still = np.zeros_like(at)
        return Impedance(self._anchor.copy(), still, self._gains.stiffness, self._gains.damping, torques, gripper)

    def ends(self, state: ArmState, now: float) -> str:
        """Return why the mode has to end, in words; empty while it may go on."""
        if state.impedance:
            self._entered, self._soft_at = True, now
        elif now - self._soft_at > (_LEAVES_S if self._entered else _ENTERS_S):
            what = "has left" if self._entered else "does not enter"
            return f"the arm {what} its impedance mode: is a joint at the end of its range?"
        speeds = np.abs(state.speeds)
        if (speeds <= _TOO_FAST * self._speed).all():
            self._calm_at = now
        elif now - self._calm_at > _TOO_LONG_S:
            joint = int((speeds / self._speed).argmax())
            return f"joint {joint + 1} turned at {np.degrees(speeds[joint]):.0f} degrees/s, faster than it may be led"
        beyond = np.abs(state.angles - self._anchor) - self._gains.give
        if self._entered and beyond.max() > _WALL:
            joint = int(beyond.argmax())
            return f"joint {joint + 1} was pushed {np.degrees(beyond[joint]):.0f} degrees further than it may go"
        pushed, held = self._workspace.slack(np.array([state.angles, self._anchor]))
        if crossed := self._workspace.crossed(pushed - np.minimum(held, 0.0) + _OUTSIDE):
            return f"the arm was pushed across the {crossed}"
        return ""

    def _moved(self, step: Vector) -> Vector:
        """Return the anchor after a step (N,), rad: all of it, or the joints that may make theirs."""
        lower, upper = self._bounds()
        before, after = self._anchor, np.clip(self._anchor + step, lower, upper)
        if np.array_equal(before, after) or self._may_be(np.array([before, after]))[1]:
            return after
        each = np.clip(before + np.diag(step), lower, upper)
        alone = self._may_be(np.array([before, *each]))[1:]
        some = np.where(alone, after, before)
        return some if self._may_be(np.array([before, some]))[1] else before

    def _bounds(self) -> tuple[Vector, Vector]:
        """Return the joint limits, or where an anchor beyond them is."""
        return np.minimum(self._limits.lowest, self._anchor), np.maximum(self._limits.highest, self._anchor)

    def _may_be(self, poses: Vector) -> NDArray[np.bool_]:
        """Return which poses (n, N), rad, are inside the workspace and carried, or no worse than the first of them."""
        slack = self._workspace.slack(poses) - self._margin
        inside = (slack >= np.minimum(slack[0], 0.0) - _ROUNDING).all(axis=-1)
        carried = np.abs(self._dynamics.gravity(poses))
        return np.asarray(inside & (carried <= np.maximum(self._torque, carried[0]) + _ROUNDING).all(axis=-1))


def compliance_of(arm: MovableArm, robot: Robot, workspace: Workspace, settings: ServoSettings) -> Compliance:
    """Return the mode of an arm that has it.

    Args:
        arm: the arm, connected.
        robot: its robot file, with the gains and the URDF that has the inertias.
        workspace: which it does not leave; it knows the arm's kinematics.
        settings: of its servo.

    Raises:
        ArmError: it has no such mode, no gains in its robot file, or its inertias are not known.
    """
    if not isinstance(arm, CompliantArm):
        raise ArmError(f"the driver '{robot.driver.type}' has no compliance: choose a robot whose driver has")
    if robot.compliance is None:
        raise ArmError(f"robot '{robot.name}' has no compliance: its file has no section 'compliance'")
    try:
        inertia = read_inertia(robot)
    except RobotError as error:
        raise ArmError(f"no compliance: {error}") from error
    dynamics = ArmDynamics(workspace.kinematics, inertia, robot.compliance.payload, robot.down)
    return Compliance(arm, dynamics, robot.compliance, workspace, settings)
