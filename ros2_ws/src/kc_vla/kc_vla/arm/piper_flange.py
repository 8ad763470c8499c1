"""The flange pose that a Piper reports, against that by our links: another arm, zero pose or tool shows there."""

from __future__ import annotations

import numpy as np

from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.piper_models import MODELS, SAME_PLACE
from kc_vla.core.chain import Chain
from kc_vla.core.rig import Rig, Vector, load_rig

_FITS, _OFF = 0.003, 0.005
"""m: an arm's own kinematics fits the zero pose that it has; the flange of the other one is up to 10 mm elsewhere."""


def misplaced(reported: Vector | None, angles: Vector, firmware: str, rig: Rig) -> str:
    """Return how far the reported flange is from that of the robot file, with the likely cause, in words.

    It is empty below 20 mm, or below 5 mm where the other zero pose of the robot file fits.

    Args:
        reported: x, y, z of the flange in the base frame as the arm has it (3,), m; None if it did not say.
        angles: of the joints then (N,), rad.
        firmware: of the arm.
        rig: whose links ours are.
    """
    if reported is None:
        return ""
    apart = _apart(reported, angles, rig.links_of(firmware))
    if apart <= SAME_PLACE and not (apart > _OFF and _other_zero_pose(reported, angles, rig)):
        return ""
    ours, theirs = (
        (f"({', '.join(f'{value:.3f}' for value in place)})")
        for place in (_place(angles, rig.links_of(firmware)), reported)
    )
    return (
        f"the arm reports its flange at {theirs} m, and robot '{rig.name}' has it at {ours}, "
        f"{apart * 1e3:.0f} mm away: {_cause(reported, angles, firmware, rig)}"
    )


def _cause(reported: Vector, angles: Vector, firmware: str, rig: Rig) -> str:
    if which := _other_zero_pose(reported, angles, rig):
        return f"it fits the zero pose of {which} firmware than '{firmware}': correct 'older' in the robot file"
    for name in MODELS:
        if name != rig.name and _apart(reported, angles, load_rig(name).links_of(firmware)) <= SAME_PLACE:
            return f"it fits the kinematics of robots/{name}.yaml"
    return "is a tool length set in the arm, or are the links those of another arm?"


def _other_zero_pose(reported: Vector, angles: Vector, rig: Rig) -> str:
    """Return which of the two zero poses of a robot file fits exactly, in words; empty where neither does."""
    if rig.older is None:
        return ""
    choices = ((rig.links, "a newer"), (rig.older[1], "an older"))
    return next((word for links, word in choices if links is not None and _apart(reported, angles, links) < _FITS), "")


def _apart(reported: Vector, angles: Vector, links: Chain) -> float:
    return float(np.linalg.norm(reported - _place(angles, links)))


def _place(angles: Vector, links: Chain) -> Vector:
    return np.asarray(Kinematics(links).flange(angles)[:3, 3])
