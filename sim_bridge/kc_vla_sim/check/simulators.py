"""The simulator that a process keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kc_vla_sim.simulator import Simulator


@dataclass(frozen=True)
class CheckSetting:
    """What a simulator is made with; see `Simulator`."""

    variant: str
    renderer: str = "auto"
    image_size: int = 16


@lru_cache(maxsize=1)
def simulator_for(setting: CheckSetting) -> Simulator:
    """Return this process's simulator with `setting`; it draws only when asked to."""
    return Simulator(setting.image_size, setting.renderer, draw=False, variant=setting.variant)
