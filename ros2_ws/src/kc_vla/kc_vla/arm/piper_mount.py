"""How a Piper is mounted and what it carries: the words of robot files, and the numbers on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kc_vla.arm.interface import UnfitArmError
from kc_vla.core.robot import Robot, Vector
from kc_vla.core.robot_model import DOWN

MOUNTS = {"upright": 1, "left": 2, "right": 3}
"""Installation positions, seen with the cable to the rear."""
LOADS = {"none": 0, "half": 1, "full": 2}
_SIDES = ("+y", "-y")
_HALF_M, _REACH_M = 0.7, 0.9
"""Half of the usual workspace across the arm, and its side along the axis of the base, m."""


def require_mount(robot: Robot, mount: str) -> None:
    """Check that the installation position of the driver goes with the direction of gravity of the robot file.

    Args:
        robot: robot file of a Piper.
        mount: `upright`, `left` or `right`; empty where the file does not say.

    Raises:
        UnfitArmError: they contradict one another.
    """
    on_side = robot.down_axis in _SIDES
    fits = mount in ("left", "right") if on_side else mount in ("", "upright") and robot.down == DOWN
    if not fits:
        raise UnfitArmError(
            f"robot '{robot.name}' has 'down: {robot.down_axis}' and 'mount: {mount or 'upright'}' of its driver: an "
            "upright arm has -z down, one on its left or right side +y or -y (docs/piper.md says how to find out)"
        )


def mounted(
    content: Mapping[str, Any], mount: str, down: str, floor: float | None, lies: Vector | None
) -> dict[str, Any]:
    """Return the content of a robot file for an arm that is mounted so.

    Args:
        content: of the robot file of the same arm.
        mount: `upright`, `left` or `right`.
        down: axis of the base frame that points to the ground, e.g. "-y".
        floor: distance from the axis of the base to the table or ground, m; None: the usual box.
        lies: joint angles (N,), rad, at which the arm lies by itself without power, as it is mounted; None: those of
            `content`.

    Raises:
        ValueError: the mount and the axis contradict one another, or a floor is missing or no distance.
    """
    on_side = mount != "upright"
    if on_side != (down in _SIDES) or (not on_side and down != "-z"):
        raise ValueError(
            f"mount '{mount}' and down '{down}' contradict one another: upright has -z, left and right have +y or -y"
        )
    new = {**content, "down": down, "driver": {**content["driver"], "mount": mount}}
    if lies is not None:
        rows = zip(content["joints"].items(), np.asarray(lies).tolist(), strict=True)
        new["joints"] = {name: {**keys, "home": round(angle, 3)} for (name, keys), angle in rows}
    if on_side:
        if floor is None or not 0.0 < floor <= 2.0:
            raise ValueError("say with --floor how far the axis of the base is above the table or ground, m")
        side = [-_HALF_M, floor] if down == "+y" else [-floor, _HALF_M]
        new["workspace"] = {"x": [-_HALF_M, _HALF_M], "y": side, "z": [0.0, _REACH_M]}
    return new
