"""Where an arm is, and which: what a session needs to reach it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kc_vla.arm.offsets import Offsets
from kc_vla.core.rig import Rig


@dataclass(frozen=True)
class Wiring:
    """Where an arm is, and which.

    Attributes:
        driver: name of its driver, a row of `kc_vla.arm.kinds.ARMS`.
        rig: its robot file.
        options: of the driver, by name.
        offsets: of its joints, where they were calibrated.
        patience: s that an arm which is not there yet is waited for.
        simulated_time: a third-party driver stamps by the clock of a simulator.
    """

    driver: str
    rig: Rig
    options: Mapping[str, Any] = field(default_factory=dict)
    offsets: Offsets | None = None
    patience: float = 5.0
    simulated_time: bool = False
