"""Where an arm is, and which: what a session needs to reach it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kc_vla.arm.offsets import Offsets
from kc_vla.core.deprecation import deprecated
from kc_vla.core.robot import Robot


@dataclass(frozen=True)
class Wiring:
    """Where an arm is, and which.

    Attributes:
        driver: name of its driver, a row of `kc_vla.arm.kinds.ARMS`.
        robot: robot that the arm is.
        options: of the driver, by name.
        offsets: of its joints, where they were calibrated.
        patience: s that an arm which is not there yet is waited for.
        simulated_time: a third-party driver stamps by the clock of a simulator.
    """

    driver: str
    robot: Robot
    options: Mapping[str, Any] = field(default_factory=dict)
    offsets: Offsets | None = None
    patience: float = 5.0
    simulated_time: bool = False

    @property
    def rig(self) -> Robot:
        """Return the robot by its former name, which is read for one more version."""
        deprecated("the attribute rig of a Wiring is called robot")
        return self.robot
