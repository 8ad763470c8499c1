"""What an arm is to the stack: the public protocol of its drivers, and what they report and raise.

A driver carries set-points to one make of arm and reports what that arm says. It makes no decision. The limits of
velocity, acceleration and jerk, the joint limits, the workspace, the emergency stop and its record, the watchdog on the
age of the state, parking, and the rule that a person resumes a blocked arm are above this protocol
(`kc_vla.arm.servo`, `kc_vla.arm.set_points`, `kc_vla.arm.stop_latch`). They are the same for every arm.

`docs/other_robots.md` says how to write a driver in a package of one's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import JointLimits, Vector

LIES = 0.05
"""An arm lies when no joint is further than this from its home pose, rad."""

COLLISION, JOINT_ERROR = "collision", "a joint reports an error"
"""What an arm goes on reporting of its own protective stops until it is reset, in some firmwares."""


class ArmError(RuntimeError):
    """An arm that does not do what it must; the text says what to do."""


class UnfitArmError(ArmError):
    """An arm that is there and must not be moved: a broken report of itself, or another arm than its robot file's."""


@dataclass(frozen=True, eq=False)
class ArmState:
    """What an arm last reported of itself.

    Attributes:
        age: s since the oldest of the messages that the angles are made of; infinite if none came.
        angles: measured joint angles (N,), rad.
        speeds: measured joint velocities (N,), rad/s.
        gripper: measured gripper width, m.
        powered: which joints have power (N,).
        in_command_mode: the arm follows set-points of this driver.
        faults: what is wrong, in words; empty if nothing is.
        line: why nothing comes, or why the arm follows no set-points, and what to do, in words; empty if not known.
        doubt: why no motion is to begin at these angles yet, in words; empty if it may.
        own_stop: which stop of the arm itself holds it until `reset`, and who set it, in words; empty without one.
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


def require_target(angles: Vector, gripper: float, limits: JointLimits, at: Vector) -> None:
    """Check that an arm with these limits may be sent these angles and this opening.

    This is a driver's own look at garbage. What an arm can follow `kc_vla.arm.set_points` knows.

    Args:
        angles: of the joints (N,), rad.
        gripper: opening, m.
        limits: of the joints.
        at: where the arm was last seen (N,), rad: a joint outside of its limits may be sent to where it is.

    Raises:
        ValueError: they are too few or too many, not finite, or further out of the limits than the arm is.
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
    """What the servo needs of a connected arm of N joints and a gripper. All calls come from one thread.

    No method may block for longer than a control period: the servo calls `read_state` and `set_target` in each.

    Attributes:
        limits: joint limits: position (N,), rad, and velocity (N,), rad/s. The servo keeps to them.
        home_pose: joint angles (N,), rad, at which the arm lies by itself without power.
        has_brakes: an arm without power stays where it is. Without brakes it falls: a reset needs a person's word.
    """

    limits: JointLimits
    home_pose: Vector
    has_brakes: bool

    def enable(self) -> None:
        """Ask the arm to power its joints where they are, and to follow set-points.

        The servo calls it on a person's word alone, again and again until `read_state` reports that all joints have
        power and that the arm is in command mode. Return at once; do not wait.
        """
        ...

    def read_state(self) -> ArmState:
        """Return the latest state. A driver without news returns the old angles with their true age."""
        ...

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Send one set-point. The servo has bounded it: it is a control period away from the last one.

        Args:
            angles: joint angles (N,), rad.
            gripper: gripper width, m.

        Raises:
            ValueError: The target is not finite or out of the limits; nothing was sent. See `require_target`.
        """
        ...

    def disable(self) -> None:
        """Ask the arm to take the power off all joints. The servo calls it only while the arm lies at its home pose.

        It may be called more than once. Return at once; `read_state` reports when it is done.
        """
        ...


class ArmDriver(MovableArm, Protocol):
    """One make of arm, as the control process holds it. `connect` comes first, `close` last.

    An instance lives in the control process (`kc_vla.arm.control_process`), which the row of `kc_vla.arms` makes it in.

    Attributes:
        kinematics: of the arm, once it is connected.
        firmware: as the arm reports it; empty where it does not.
        warnings: what a person should know before the arm moves, once it is connected.
        shutdown_message: what is true of the arm once it is parked and disabled, in words. Empty: others see to its
            power, and it is never parked, but left where it stands.
    """

    kinematics: Kinematics
    firmware: str
    warnings: tuple[str, ...]
    shutdown_message: str

    def connect(self) -> None:
        """Begin to listen. Nothing moves, and no joint gets or loses power.

        Raises:
            ArmError: There is no arm, or it does not answer. The control process tries again for a while.
            UnfitArmError: It is not fit to be moved: another try would find the same.
        """
        ...

    def check_identity(self) -> None:
        """Check, once connected, that this is the arm of the robot file.

        Raises:
            UnfitArmError: It is another model, or its reported limits cannot be true.
        """
        ...

    def may_be_enabled(self) -> bool:
        """Return whether joints may have power now: a person must look at the arm before it moves."""
        ...

    def reset(self) -> None:
        """Ask the arm to leave its own stop and to clear its errors. Many arms lose their power by it, and fall.

        The control process calls it on a person's word, with the arm at home, without power, or supported. Return at
        once; `read_state` reports the result.

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
        """Return what the diagnostics show of the connection, by name. Called at the rate of the state."""
        ...
