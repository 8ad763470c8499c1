"""Which share of the table before an arm its hand reaches from above, straight down and leaning as skills have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from kc_vla.core.robot import load_robot
from kc_vla.motion.planner import MotionPlanner
from kc_vla.motion.problem import MotionError
from kc_vla.skills.grips import best_grip
from kc_vla.skills.hands import ABOVE, looking_from
from kc_vla.skills.tool_path import ToolPose

from .measuring import Table

ROBOTS = ("piper", "piper_h", "piper_l", "piper_x", "panda_sim")
_AHEAD_M, _ASIDE_M = (0.2, 0.5), (-0.3, 0.3)
_HEIGHTS_M = (0.02, 0.05, 0.1)


def measure(quick: bool, work: Path) -> Table:
    """Have each arm take poses of a grid above an empty table."""
    step = 0.15 if quick else 0.1
    rows = [_of_robot(name, step) for name in tqdm(ROBOTS[: 1 if quick else len(ROBOTS)], desc="reach")]
    return Table(
        "Share of the table that the hand reaches from above, %: straight down / as skills have it",
        rows,
        [
            f"Grid of {step * 100:.0f} cm over x {_AHEAD_M[0]} to {_AHEAD_M[1]} m and y {_ASIDE_M[0]} to {_ASIDE_M[1]} "
            "m before the base. A place counts where the arm can be with the point between its fingers at that height, "
            f"and {ABOVE / 2 * 100:.0f} cm above it, within its limits and free of the table.",
        ],
    )


def _of_robot(name: str, step: float) -> dict[str, Any]:
    robot = load_robot(name)
    lean, grip = best_grip(robot)
    planner, ungrip = MotionPlanner(robot), np.linalg.inv(grip)
    along, aside = (np.arange(low, high + 1e-9, step) for low, high in (_AHEAD_M, _ASIDE_M))
    places = [(float(x), float(y)) for x in along for y in aside]

    def reached(pose: ToolPose) -> bool:
        try:
            planner.joints_for(pose.matrix @ ungrip, robot.rest)
        except MotionError:
            return False
        return True

    row: dict[str, Any] = {"robot": name, "lean, degrees": round(float(np.degrees(lean)))}
    for height in _HEIGHTS_M:
        shares = [_share(reached, places, height, tilt) for tilt in (-lean, 0.0)]
        row[f"at {height * 100:.0f} cm"] = " / ".join(f"{100 * share:.0f}" for share in shares)
    return row


def _share(reached: Callable[[ToolPose], bool], places: list[tuple[float, float]], height: float, tilt: float) -> float:
    def comes_down(x: float, y: float) -> bool:
        pose = looking_from(float(np.arctan2(y, x)), float(np.hypot(x, y)), height, tilt)
        return reached(pose.moved(z=ABOVE / 2)) and reached(pose)

    return float(np.mean([comes_down(x, y) for x, y in places]))
