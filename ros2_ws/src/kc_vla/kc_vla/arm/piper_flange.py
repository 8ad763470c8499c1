"""The flange pose that a Piper reports, against that by our links: another arm, zero pose or tool shows there."""

from __future__ import annotations

import numpy as np

from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.piper_models import MODELS, SAME_PLACE
from kc_vla.core.chain import Chain
from kc_vla.core.robot import Robot, Vector, load_robot

_FITS, _OFF = 0.003, 0.005
"""m: an arm's own kinematics fits the zero pose that it has; the flange of the other one is up to 10 mm elsewhere."""


def misplaced(reported: Vector | None, angles: Vector, firmware: str, robot: Robot) -> str:
    """Return how far the reported flange is from that of the robot file, with the likely cause, in words.

    It is empty below 20 mm, or below 5 mm where the other zero pose of the robot file fits.

    Args:
        reported: x, y, z of the flange in the base frame as the arm has it (3,), m; None if it did not say.
        angles: of the joints then (N,), rad.
        firmware: of the arm.
        robot: whose links ours are.
    """
    if reported is None:
        return ""
    apart = _apart(reported, angles, robot.links_of(firmware))
    if apart <= SAME_PLACE and not (apart > _OFF and _other_zero_pose(reported, angles, robot)):
        return ""
    ours, theirs = (
        (f"({', '.join(f'{value:.3f}' for value in place)})")
        for place in (_place(angles, robot.links_of(firmware)), reported)
    )
    return (
        f"the arm reports its flange at {theirs} m, and robot '{robot.name}' has it at {ours}, "
        f"{apart * 1e3:.0f} mm away: {_cause(reported, angles, firmware, robot)}"
    )


def _cause(reported: Vector, angles: Vector, firmware: str, robot: Robot) -> str:
    if which := _other_zero_pose(reported, angles, robot):
        return f"it fits the zero pose of {which} firmware than '{firmware}': correct 'older' in the robot file"
    for name in MODELS:
        if name != robot.name and _apart(reported, angles, load_robot(name).links_of(firmware)) <= SAME_PLACE:
            return f"it fits the kinematics of robots/{name}.yaml"
    return "is a tool length set in the arm, or are the links those of another arm?"


def _other_zero_pose(reported: Vector, angles: Vector, robot: Robot) -> str:
    """Return which of the two zero poses of a robot file fits exactly, in words; empty where neither does."""
    if robot.older is None:
        return ""
    choices = ((robot.links, "a newer"), (robot.older[1], "an older"))
    return next((word for links, word in choices if links is not None and _apart(reported, angles, links) < _FITS), "")


def _apart(reported: Vector, angles: Vector, links: Chain) -> float:
    return float(np.linalg.norm(reported - _place(angles, links)))


def _place(angles: Vector, links: Chain) -> Vector:
    return np.asarray(Kinematics(links).flange(angles)[:3, 3])
