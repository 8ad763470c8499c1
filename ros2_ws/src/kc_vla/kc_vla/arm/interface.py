"""The public protocol of arm drivers, and what a driver reports and raises.

A driver sends set-points to one make of arm and reports the state of that arm. It makes no decision. The layers above
are the same for every arm (`kc_vla.arm.servo`, `kc_vla.arm.set_points`, `kc_vla.arm.stop_latch`). They have the limits
of position, velocity, acceleration and jerk, the workspace, the emergency stop with its record, the watchdog on the age
of the state, and parking. They also enforce the rule that only a person resumes a blocked arm.

`docs/other_robots.md` says how to write a driver in a package of one's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import JointLimits, Vector

LIES = 0.05
"""An arm lies when no joint is further than this from its home pose, rad."""

COLLISION, JOINT_ERROR = "collision", "a joint reports an error"
"""Reports of protective stops that some firmwares repeat until a reset."""


class ArmError(RuntimeError):
    """The arm does not do what it must; the text says what to do."""


class UnfitArmError(ArmError):
    """The arm must not be moved: its reports are broken, or it is not the arm of the robot file."""


@dataclass(frozen=True, eq=False)
class ArmState:
    """The latest reported state of an arm.

    Attributes:
        age: time since the oldest message that the angles come from, s; infinite if none came.
        angles: measured joint angles (N,), rad.
        speeds: measured joint velocities (N,), rad/s.
        gripper: measured gripper width, m.
        powered: whether each joint has power (N,).
        in_command_mode: whether the arm follows set-points of this driver.
        faults: a text for each fault; empty without a fault.
        line: why no state comes or the arm follows no set-points, and what to do; empty if unknown.
        doubt: why no motion may begin at these angles yet; empty if it may.
        own_stop: the stop of the arm itself that holds it until `reset`, and who set it; empty without one.
        gripper_faults: a text for each fault of the gripper. It blocks the arm as another fault does; `enable` clears
            it, or accepts that the gripper is lost, so that it does not keep the arm from being enabled.
        impedance: whether the arm follows impedance commands, see `CompliantArm`.
        efforts: measured torque of the joints and of the gripper (N + 1,), N m; None where the driver has none.
    """

    age: float
    angles: Vector
    speeds: Vector
    gripper: float
    powered: NDArray[np.bool_]
    in_command_mode: bool
    faults: tuple[str, ...]
    line: str = ""
    doubt: str = ""
    own_stop: str = ""
    efforts: Vector | None = None
    gripper_faults: tuple[str, ...] = ()
    impedance: bool = False


@dataclass(frozen=True, eq=False)
class Impedance:
    """An impedance command: torque = stiffness (angle - q) + damping (velocity - dq) + torque, in each joint.

    Attributes:
        angles: where the springs of the joints are fixed (N,), rad.
        velocities: that the dampers pull towards (N,), rad/s.
        stiffness: (N,), N m/rad.
        damping: (N,), N m s/rad.
        torques: added to spring and damper (N,), N m.
        gripper: its width, m.
    """

    angles: Vector
    velocities: Vector
    stiffness: Vector
    damping: Vector
    torques: Vector
    gripper: float


def require_target(angles: Vector, gripper: float, limits: JointLimits, at: Vector) -> None:
    """Check that a driver may send these angles and this gripper width to an arm with these limits.

    This is the driver's own check against garbage. `kc_vla.arm.set_points` checks what an arm can follow.

    Args:
        angles: joint angles (N,), rad.
        gripper: gripper width, m.
        limits: joint limits.
        at: last measured angles (N,), rad. A joint outside of its limits may get its own angle as target.

    Raises:
        ValueError: The number of angles is wrong, a number is not finite, or an angle is further out of the limits
            than the arm is.
    """
    count = len(limits.lowest)
    if np.shape(angles) != (count,) or not np.isfinite(angles).all() or not np.isfinite(gripper):
        raise ValueError(
            f"target {np.asarray(angles).tolist()}, gripper {gripper}: {count} finite angles and an opening are wanted"
        )
    wrong = (angles < np.minimum(limits.lowest, at - LIES)) | (angles > np.maximum(limits.highest, at + LIES))
    if wrong.any():
        joint = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"target of joint {joint + 1} is {np.degrees(angles[joint]):.1f} degrees: out of its range")


class MovableArm(Protocol):
    """A connected arm with N joints and a gripper, as the servo uses it. All calls come from one thread.

    No method may block for longer than a control period: the servo calls `read_state` and `set_target` in each.

    Attributes:
        limits: joint limits: position (N,), rad, and velocity (N,), rad/s. The servo keeps to them.
        home_pose: joint angles (N,), rad, at which the arm lies by itself without power.
        has_brakes: whether an arm without power stays where it is. Without brakes it falls, so that a person has to
            confirm a reset.
    """

    limits: JointLimits
    home_pose: Vector
    has_brakes: bool

    def enable(self) -> None:
        """Ask the arm to power its joints where they are, and to follow set-points.

        The servo calls it only after a person's command, and repeats it until `read_state` reports that all joints have
        power and that the arm is in command mode. Return at once; do not wait.
        """
        ...

    def read_state(self) -> ArmState:
        """Return the latest state. A driver without new messages returns the old angles with their true age."""
        ...

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Send one set-point. The servo has limited it already to what the arm can reach in a control period.

        Args:
            angles: joint angles (N,), rad.
            gripper: gripper width, m.

        Raises:
            ValueError: The target is not finite or out of the limits; nothing was sent. See `require_target`.
        """
        ...

    def disable(self) -> None:
        """Ask the arm to disable all joints. The servo calls it only while the arm lies at its home pose.

        It may be called more than once. Return at once; `read_state` reports when it is done.
        """
        ...


@runtime_checkable
class CompliantArm(MovableArm, Protocol):
    """A connected arm whose joints can also be springs and dampers: a capability that a driver need not have.

    The joints themselves close the loop. An arm that gets no further command keeps its last one, so that it hangs on
    its springs where it was.
    """

    def torque_limits(self) -> Vector:
        """Return the largest torques that an impedance command may add in each joint (N,), N m.

        Raises:
            ArmError: This arm takes no impedance commands after all, for example with its firmware.
        """
        ...

    def set_impedance(self, impedance: Impedance) -> None:
        """Send one impedance command, and lead the arm into that mode where it is in another one.

        `set_target` leads it back. `ArmState.impedance` reports which of the two it follows.

        Raises:
            ValueError: The command is not finite or out of the limits; nothing was sent.
        """
        ...


class ArmDriver(MovableArm, Protocol):
    """The driver of one make of arm. `connect` is the first call, `close` the last.

    The row of the group `kc_vla.arms` makes an instance in the control process (`kc_vla.arm.control_process`).

    Attributes:
        kinematics: kinematics of the connected arm.
        firmware: firmware that the arm reports; empty if it reports none.
        warnings: lines that a person should read before the connected arm moves.
        shutdown_message: the line to log once the arm is parked and disabled. If it is empty, the driver does not
            control the power, and the stack leaves the arm where it stands instead of parking it.
    """

    kinematics: Kinematics
    firmware: str
    warnings: tuple[str, ...]
    shutdown_message: str

    def connect(self) -> None:
        """Begin to listen. Nothing moves, and no joint gets or loses power.

        Raises:
            ArmError: There is no arm, or it does not answer. The control process tries again for a while.
            UnfitArmError: The arm must not be moved, and another attempt would end in the same way.
        """
        ...

    def check_identity(self) -> None:
        """Check, once connected, that this is the arm of the robot file.

        Raises:
            UnfitArmError: It is another model, or its reported limits cannot be true.
        """
        ...

    def may_be_enabled(self) -> bool:
        """Return whether joints may have power already, so that a person must look at the arm before it moves."""
        ...

    def reset(self) -> None:
        """Ask the arm to leave its own stop and to clear its errors. Many arms then lose their power and fall.

        The control process calls it only after a person's command, with the arm at home, without power, or supported.
        Return at once; `read_state` reports the result.

        Raises:
            ArmError: This arm cannot be reset from here; the text says what to do.
        """
        ...

    def close(self) -> None:
        """End the connection. The arm keeps its power if it has any. It may be called more than once."""
        ...

    def reconnect(self) -> None:
        """Open a lost connection again, without blocking and without sending a command.

        The control process calls it once a second while the state is too old. `read_state` reports the result.
        """
        ...

    def diagnostics(self) -> dict[str, object]:
        """Return the values of the connection for the diagnostics, by name. It is called at the rate of the state."""
        ...
