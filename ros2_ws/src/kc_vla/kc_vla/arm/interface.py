"""What an arm is to the servo that moves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.rig import JointLimits, Vector

LIES = 0.05
"""An arm lies when no joint is further than this from its rest pose, rad."""


class ArmError(RuntimeError):
    """An arm that does not do what it must; the text says what to do."""


@dataclass(frozen=True, eq=False)
class ArmState:
    """What an arm last told of itself.

    Attributes:
        age: s since the oldest of the messages that the angles are made of.
        angles: of the joints (N,), rad.
        speeds: (N,), rad/s.
        gripper: opening, m.
        powered: which joints have power, (N,).
        obeys: commands from this bus are followed.
        faults: what is wrong, in words; empty if nothing is.
        line: what is wrong with the line to it and what to do, in words; empty if nothing is known.
        doubt: why no motion is to begin at these angles yet, in words; empty if it may.
    """

    age: float
    angles: Vector
    speeds: Vector
    gripper: float
    powered: NDArray[np.bool_]
    obeys: bool
    faults: tuple[str, ...]
    line: str = ""
    doubt: str = ""


def require_target(angles: Vector, gripper: float, limits: JointLimits) -> None:
    """Do nothing if an arm with these limits may be sent these angles (N,), rad, and opening, m.

    Raises:
        ValueError: they are too few or too many, not finite, or out of the limits.
    """
    count = len(limits.lowest)
    if np.shape(angles) != (count,) or not np.isfinite(angles).all() or not np.isfinite(gripper):
        raise ValueError(
            f"target {np.asarray(angles).tolist()}, gripper {gripper}: {count} finite angles and an opening are wanted"
        )
    outside = (angles < limits.lowest) | (angles > limits.highest)
    if outside.any():
        joint = int(np.flatnonzero(outside)[0])
        raise ValueError(f"target of joint {joint + 1} is {np.degrees(angles[joint]):.1f} degrees: out of its range")


class MovedArm(Protocol):
    """What moving an arm of N joints with a gripper takes.

    Attributes:
        limits: of its joints.
        rest: angles at which it lies by itself (N,), rad.
    """

    limits: JointLimits
    rest: Vector

    def give_power(self) -> None:
        """Ask the arm to obey and its joints to take power, each where it is. It is not waited for: `read` tells."""
        ...

    def read(self) -> ArmState:
        """Return the latest state; look at its age."""
        ...

    def command(self, angles: Vector, gripper: float) -> None:
        """Send targets: angles (N,), rad, and opening, m.

        Raises:
            ValueError: a target that is not finite or out of the limits; nothing is sent.
        """
        ...

    def take_power(self) -> None:
        """Take the power of all joints: only from an arm that lies."""
        ...


class Driver(MovedArm, Protocol):
    """An arm as the process that moves it holds it: `connect` comes first.

    Attributes:
        kinematics: of the arm.
        firmware: as it tells it; empty where it does not.
        farewell: what is true, in words, of an arm that was parked and whose power was taken; empty for one whose power
            others see to: it is left where it stands.
    """

    kinematics: Kinematics
    firmware: str
    farewell: str

    def connect(self) -> None:
        """Begin to listen; nothing moves and nothing gets power.

        Raises:
            ArmError: there is no arm, or it is not fit to move.
        """
        ...

    def require_fit(self) -> None:
        """See, once it is connected, that it is the arm of its rig.

        Raises:
            ArmError: it is another one.
        """
        ...

    def may_have_power(self) -> bool:
        """Whether it may be held up by its joints now: a person must look before it moves."""
        ...

    def disconnect(self) -> None:
        """Listen no more. The arm keeps its power if it has any."""
        ...

    def reconnect(self) -> None:
        """Open the line again if it has gone; nothing is sent. `read` tells whether the arm is there again."""
        ...

    def details(self) -> dict[str, object]:
        """What the diagnostics tell of the line."""
        ...
