"""Planned motions: inverse kinematics, a check of a pose, a free way, set-points and a whole pick, on one core."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from tqdm import tqdm

from kc_vla.arm.inverse import UnreachableError, joints_for
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import load_robot
from kc_vla.motion.pick import plan_pick
from kc_vla.motion.planner import MotionPlanner
from kc_vla.motion.problem import MotionError
from kc_vla.motion.scene import MotionScene, SceneBox

from .measuring import Spread, Table

_CHECKS = 20
ROBOTS = ("panda_sim", "piper", "ur5e_ros")
_SIZES = {
    "mug": (0.07, 0.07, 0.09),
    "apple": (0.06, 0.06, 0.055),
    "milk": (0.06, 0.06, 0.14),
    "sponge": (0.1, 0.06, 0.03),
    "bottle": (0.055, 0.055, 0.18),
    "bowl": (0.14, 0.14, 0.06),
}
_FURNITURE = ((2.0, 0.95, (0.2, 0.3, 0.3)), (-2.0, 0.95, (0.25, 0.3, 0.2)), (0.0, 1.35, (0.2, 0.4, 0.25)))
"""Angle around the base, rad, distance in reaches of the scene, and size, m."""


@dataclass
class _Measured:
    """Processor seconds of what worked, and how much did not."""

    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    def time(self, act: Callable[[], Any]) -> Any:
        """Return what `act` returns, None where it raises for a motion that cannot be."""
        begun = time.process_time()
        try:
            found = act()
        except (MotionError, UnreachableError):
            self.failed += 1
            return None
        self.seconds.append(time.process_time() - begun)
        return found


def measure(quick: bool, work: Path) -> Table:
    """Let each robot pick a thing from random tables with six things and three pieces of furniture."""
    rows = [
        row for name in tqdm(ROBOTS[: 1 if quick else 3], desc="motion") for row in _of_robot(name, 10 if quick else 25)
    ]
    return Table(
        "Planned motions: processor time on one core, ms: p50 / p99 / max",
        rows,
        [
            "Each table has six things and three pieces of furniture. Poses for the inverse kinematics are those of "
            "random joints. `SciPy` is the least squares of the controller's package, from one start.",
            "A pick is the search for a grasp, the free way, approach and lift, without set-points.",
            "`failed`: nothing was found, such as where neighbors stand too near, or the pose is blocked.",
        ],
    )


def _of_robot(name: str, count: int) -> Iterator[dict[str, Any]]:
    planner, chance = MotionPlanner(load_robot(name)), np.random.default_rng(0)
    arm, links = planner.arm, planner.robot.links
    assert links is not None
    home, kinematics = np.clip(planner.robot.rest, arm.lower, arm.upper), Kinematics(links)
    reach = 0.38 if name.startswith("piper") else 0.58
    names = (
        "inverse kinematics",
        "inverse kinematics, SciPy",
        "check of a pose",
        "free way",
        "set-points",
        "whole pick",
    )
    found = {label: _Measured() for label in names}
    for _ in range(count):
        pose = arm.tool(chance.uniform(arm.lower, arm.upper))
        found[names[0]].time(partial(_first, planner, pose, home))
        found[names[1]].time(partial(joints_for, pose, home, planner.robot.limits, kinematics))
        planner.scene = MotionScene(boxes=tuple(_table(chance, reach)))
        planner.why_blocked(home)  # builds the shapes of the scene
        found[names[2]].time(lambda: [planner.why_blocked(home) for _ in range(_CHECKS)])
        thing = planner.scene.boxes[0]
        pick = found[names[5]].time(partial(plan_pick, planner, home, thing.name, thing.name.split()[0]))
        if pick is not None:
            again = planner.in_scene(pick.reach.scene)
            way = found[names[3]].time(partial(again.to_joints, home, pick.reach.end))
            found[names[4]].time(partial(planner.trajectory, way))
    found[names[2]].seconds = [seconds / _CHECKS for seconds in found[names[2]].seconds]
    for label, each in found.items():
        spread = Spread.of(1e3 * seconds for seconds in each.seconds)
        yield {"robot": name, "what": label, "ms": spread, "done": spread.count, "failed": each.failed}


def _first(planner: MotionPlanner, pose: NDArray[np.float64], near: NDArray[np.float64]) -> Any:
    found = next(planner.inverse.solutions(pose, near), None)
    if found is None:
        raise UnreachableError("no start leads there")
    return found


def _table(chance: np.random.Generator, reach: float) -> Iterator[SceneBox]:
    """Yield things that do not stand in each other, and furniture around them."""
    taken: list[tuple[float, float]] = []
    kinds = list(_SIZES)
    while len(taken) < 6:
        angle, far = chance.uniform(-1.2, 1.2), chance.uniform(0.6, 1.0) * reach
        x, y = float(far * np.cos(angle)), float(far * np.sin(angle))
        if all(np.hypot(x - other, y - along) > 0.11 for other, along in taken):
            kind = kinds[int(chance.integers(len(kinds) - (not taken)))]  # the first one is no bowl
            yield _standing(f"{kind} {len(taken)}", x, y, _SIZES[kind], float(chance.uniform(-3, 3)))
            taken.append((x, y))
    for number, (angle, far, size) in enumerate(_FURNITURE):
        x, y = far * reach * np.cos(angle), far * reach * np.sin(angle)
        yield _standing(f"furniture {number}", float(x), float(y), size, angle)


def _standing(name: str, x: float, y: float, size: tuple[float, float, float], yaw: float) -> SceneBox:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("z", yaw).as_matrix()
    pose[:3, 3] = x, y, size[2] / 2
    return SceneBox(name, pose, np.array(size))
