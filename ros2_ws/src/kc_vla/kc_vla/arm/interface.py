"""What an arm is to the servo that moves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
    """

    age: float
    angles: Vector
    speeds: Vector
    gripper: float
    powered: NDArray[np.bool_]
    obeys: bool
    faults: tuple[str, ...]
    line: str = ""


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
