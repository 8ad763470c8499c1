"""Which Piper it is: the firmware does not tell, all models share it, but the limits of their wrists differ."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kc_vla.arm.interface import ArmError
from kc_vla.core.rig import JointLimits, Rig, load_rig

JOINTS = 6
"""Of every Piper."""
MODELS = ("piper", "piper_h", "piper_l", "piper_x")
_ALIKE = np.radians(0.6)
"""The arm tells its limits in tenths of a degree, and the vendor's own documents differ by half a degree."""


def require_model(told: JointLimits, rig: Rig, models: Iterable[str] = MODELS) -> None:
    """Do nothing if an arm that tells these limits may be the one of `rig`.

    Raises:
        ArmError: it is another model, whose flange is elsewhere.
    """
    if _alike(told, rig.limits):
        return
    for name in models:
        if name != rig.name and _alike(told, load_rig(name).limits):
            raise ArmError(f"the arm tells the joint limits of a {name}, and the rig is {rig.name}: say rig:={name}")


def _alike(some: JointLimits, others: JointLimits) -> bool:
    apart = np.abs([some.lowest - others.lowest, some.highest - others.highest])
    return bool(apart.max() < _ALIKE)
