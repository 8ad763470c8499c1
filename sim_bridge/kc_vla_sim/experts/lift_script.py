"""The way of the hand through one lift, step by step on the clock: from home to the cube, up, down, and home again.

Every step of it is fixed by what was drawn for the episode. So two plans made at different times agree on what the
hand does between them, and one that arrives late still fits: only small errors are left to correct.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.actions import TURN_LIMIT
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.experts.grasping import EMPTY_MARGIN, LEAVING_MARGIN, Step, Tempo
from kc_vla_sim.experts.hand import LOOSE_GRIPPER, READY_GRIPPER, Cube, HandScene, facing, hand_yaw, nearest_yaw
from kc_vla_sim.experts.tool import REACHED_SHARE, Vector

MENDING = 0.2
"""Share of an error that one step corrects: little, so that a late correction is not made twice."""
STRAY = 0.03
"""A hand further than this off its way has left it, m ..."""
STRAY_TURN = 0.3
"""... or turned so far from it, rad."""
SHIFTED = 0.012
"""A cube further than this from its place before the grasp is not the script's any more, m."""
_GRASP_STEPS, _REST_STEPS, _LOOSE_STEPS, _OPEN_STEPS = 2, 1, 1, 2
_MOST_TURN = 0.95 * TURN_LIMIT * REACHED_SHARE
"""rad per step."""


@dataclass(frozen=True)
class Posture:
    """A pose of the hand that points down: tool center point (3,), m, and yaw, rad."""

    position: Vector
    yaw: float


@dataclass(frozen=True)
class LiftScript:
    """Where the hand is to be at each step, row 0 at the decision.

    Attributes:
        positions: (T + 1, 3), m.
        yaws: (T + 1,), rad.
        grippers: command during each step, (T,), 0 closed .. 1 open.
        phases: name of each step, T of them.
        grasp: step at which the fingers begin to close.
        release: step at which they begin to release.
    """

    positions: NDArray[np.float64]
    yaws: NDArray[np.float64]
    grippers: NDArray[np.float64]
    phases: tuple[str, ...]
    grasp: int
    release: int

    @classmethod
    def write(cls, start: Posture, place: Cube, height: float, end: Posture, tempo: Tempo) -> LiftScript:
        """Return the lift of the cube at `place` to `height` (m) and back, from `start` to `end`."""
        yaw = nearest_yaw(place.yaw, (start.yaw + end.yaw) / 2)
        at_cube = Posture(place.position, yaw)

        def over_cube(up: float) -> Posture:
            return Posture(place.position + np.array([0.0, 0.0, up]), yaw)

        way = _Way(start)
        way.move("approach", over_cube(CUBE_HALF_SIZE + EMPTY_MARGIN), tempo.travel, READY_GRIPPER)
        way.move("descend", at_cube, tempo.lower, READY_GRIPPER)
        grasp = way.steps
        way.stay("close", _GRASP_STEPS, 0.0)
        way.move("lift", over_cube(height - CUBE_HALF_SIZE), tempo.lift, 0.0)
        way.move("lower", at_cube, tempo.lower, 0.0)
        way.stay("lower", _REST_STEPS, 0.0)
        release = way.steps
        way.stay("let go", _LOOSE_STEPS, LOOSE_GRIPPER)
        way.stay("let go", _OPEN_STEPS, READY_GRIPPER)
        way.move("rise", over_cube(CUBE_HALF_SIZE + LEAVING_MARGIN), tempo.lower, READY_GRIPPER)
        way.move("go", end, tempo.travel, 0.0)
        return cls(*way.table(), grasp=grasp, release=release)

    def follows(self, scene: HandScene, step: int, cube: int, place: Cube) -> bool:
        """Return whether at `step` all is as it should be: the hand on its way, the cube at `place` or in the grip."""
        if not 0 <= step < len(self.grippers):
            return False
        off = float(np.linalg.norm(scene.tool.position - self.positions[step]))
        turn = abs(hand_yaw(scene.tool.rotation) - self.yaws[step])
        if off > STRAY or turn > STRAY_TURN:
            return False
        if step <= self.grasp + _GRASP_STEPS - 1 or step > self.release + _LOOSE_STEPS:
            at_place = np.linalg.norm(scene.cubes[cube].position - place.position) < SHIFTED
            return bool(at_place) and (scene.held is None or self.grasp < step < self.release)
        return step > self.release or scene.held == cube

    def step(self, scene: HandScene, step: int) -> Step:
        """Return the phase, and the action (7,) from `step` to the next."""
        tool = scene.tool
        gone = (1 - MENDING) * (tool.position - self.positions[step])
        turned = (1 - MENDING) * (hand_yaw(tool.rotation) - self.yaws[step])
        goal = self.positions[step + 1] + gone
        delta = tool.delta_towards(goal, facing(self.yaws[step + 1] + turned), speed=1.0)
        return self.phases[step], np.append(delta, self.grippers[step])


class _Way:
    """A way that is being written."""

    def __init__(self, start: Posture) -> None:
        self._postures = [np.append(start.position, start.yaw)]
        self._grippers: list[float] = []
        self._phases: list[str] = []

    @property
    def steps(self) -> int:
        """Return how many are written."""
        return len(self._grippers)

    def move(self, phase: str, to: Posture, speed: float, gripper: float) -> None:
        """Go straight to a posture, no faster than `speed` (m per step), starting and stopping at half of it."""
        start, end = self._postures[-1], np.append(to.position, to.yaw)
        way = end - start
        paces = max(float(np.linalg.norm(way[:3])) / speed, abs(float(way[3])) / _MOST_TURN, 1.0)
        weights = np.ones(ceil(paces) + 1)
        weights[[0, -1]] = 0.5
        for share in np.cumsum(weights) / weights.sum():
            self._add(phase, start + share * way, gripper)

    def stay(self, phase: str, steps: int, gripper: float) -> None:
        """Stay where the way has come to."""
        for _ in range(steps):
            self._add(phase, self._postures[-1], gripper)

    def table(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
        """Return the positions, yaws, gripper commands and phases of `LiftScript`."""
        postures = np.array(self._postures)
        return postures[:, :3], postures[:, 3], np.array(self._grippers), tuple(self._phases)

    def _add(self, phase: str, posture: Vector, gripper: float) -> None:
        self._postures.append(posture)
        self._grippers.append(gripper)
        self._phases.append(phase)
