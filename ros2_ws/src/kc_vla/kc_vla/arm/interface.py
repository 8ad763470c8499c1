"""What every arm is to the controller: connect, read, command, hold, park, stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
LIES = 0.05
"""An arm lies when no joint is further than this from its rest pose, rad."""


class ArmError(RuntimeError):
    """An arm that does not do what it must; the text says what to do."""


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Of N joints: `lowest` and `highest` angle (N,), rad, and top `speed` (N,), rad/s."""

    lowest: Vector
    highest: Vector
    speed: Vector

    def narrowed(self, other: JointLimits) -> JointLimits:
        """What both allow."""
        return JointLimits(
            np.maximum(self.lowest, other.lowest),
            np.minimum(self.highest, other.highest),
            np.minimum(self.speed, other.speed),
        )


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
    """

    age: float
    angles: Vector
    speeds: Vector
    gripper: float
    powered: NDArray[np.bool_]
    obeys: bool
    faults: tuple[str, ...]


class MovedArm(Protocol):
    """What moving an arm of N joints with a gripper takes.

    Attributes:
        limits: of its joints.
        rest: angles at which it lies by itself (N,), rad.
    """

    limits: JointLimits
    rest: Vector

    def enable(self) -> None:
        """Give power to all joints; each stays where it is.

        Raises:
            ArmError: a joint does not answer in time, or the arm is in a state that a person must end.
        """
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


class Arm(MovedArm, Protocol):
    """All that an arm can do."""

    def connect(self) -> None:
        """Begin to listen, and learn the limits; nothing moves and nothing gets power.

        Raises:
            ArmError: nobody answers, or what answers is not understood.
        """
        ...

    def hold(self) -> None:
        """Stay where it was last sent, or where it is."""
        ...

    def park(self) -> None:
        """Move slowly to where the arm lies by itself, and only then take its power.

        Raises:
            ArmError: it was not reached; the arm keeps its power.
        """
        ...

    def stop(self) -> None:
        """Emergency stop: the arm comes down slowly and obeys no more."""
        ...

    def reconnect(self) -> bool:
        """Look whether a lost arm is there again, and open its bus again if that is needed; nothing is sent.

        Returns:
            whether it tells its state.
        """
        ...

    def disconnect(self) -> None:
        """Listen no more. The arm keeps its power if it has any."""
        ...
