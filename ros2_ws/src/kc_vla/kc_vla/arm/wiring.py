"""Where an arm is, and which: what a session needs to reach it."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.arm.offsets import Offsets
from kc_vla.core.rig import Rig


@dataclass(frozen=True)
class Wiring:
    """Where an arm is, and which.

    Attributes:
        channel: of the CAN bus; for a driver of others no matter, nor is the bus.
        bus: python-can's name of its kind.
        rig: of the arm.
        offsets: of its joints, where they were calibrated.
        patience: s that a bus which is not there yet is waited for.
        simulated_time: a driver of others stamps by the clock of a simulator.
    """

    channel: str
    bus: str
    rig: Rig
    offsets: Offsets | None = None
    patience: float = 5.0
    simulated_time: bool = False
