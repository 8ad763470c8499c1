"""What passes between an emulated arm and the body that a simulator gives it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FingerDrive:
    """What the motor of the gripper does.

    Attributes:
        width: to which it drives the fingers, m.
        torque: largest torque with which it does so, N m.
    """

    width: float
    torque: float


@dataclass(frozen=True, eq=False)
class SimulatedBody:
    """What the body reports of what it touches.

    Attributes:
        width: between the fingers, m.
        touch: whether both fingers press on a thing between them.
        blocked: which joints something in their way keeps from following the arm (6,).
    """

    width: float
    touch: bool
    blocked: NDArray[np.bool_]
