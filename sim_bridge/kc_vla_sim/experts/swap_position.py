"""Expert for spatial reconfiguration: put the top and the middle cube aside, pause at home, stack in the new order.

Every step is decided from the present state alone: where hand and cubes are, and what the environment has counted.
Plans foresee the end of a wait, so that one plan goes on where the one before it was, however late it arrives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.actions import TOOL_DELTA_SIZE
from kc_vla_sim.envs.cube_stack import BOTTOM, HEIGHT_LIMIT, MIDDLE, NEIGHBOUR_LIMIT, TOP
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.envs.spatial import STAGES
from kc_vla_sim.envs.stack_faults import APART
from kc_vla_sim.experts.grasping import LEARNABLE, Step, Tempo, fetch, go, put, release
from kc_vla_sim.experts.hand import Cube, HandScene, see_scene
from kc_vla_sim.experts.plan_ahead import plan_ahead

if TYPE_CHECKING:
    from kc_vla_sim.envs.swap_position import SwapPositionEnv

_TURN = (TOP, MIDDLE, BOTTOM, TOP)
"""The cube that each stage is about, by the level at which it began."""
_SETTLING = 0.13
"""Share of the way left that one step covers. Where only the later rows of late plans are executed, they correct most
of an error at about this share; a quicker hand is still off its place when it goes down."""
_ASIDE = 0.03
"""Without expert variation a cube may stand so far from its place aside, m ..."""
_LOW = 0.035
"""... and anywhere once it is no higher than this above the table, m."""
_SPARE_ROOM = 0.07
"""A place is free when no cube is closer to it than this in the plane, m."""


@dataclass(frozen=True)
class _Task:
    """What chance has decided for the episode: three places and the home pose in the world frame."""

    places: tuple[Cube, Cube, Cube]
    home: NDArray[np.float64]
    home_turn: Rotation
    tempo: Tempo


@dataclass(frozen=True)
class _State:
    """All that the next action depends on.

    Attributes:
        scene: hand and cubes, these by the level at which they began.
        completed: stages.
        start_wait: frames to wait before the first action.
        home_wait: frames to go on resting at home; None while the hand does not rest there yet.
    """

    scene: HandScene
    completed: int
    start_wait: int
    home_wait: int | None

    @property
    def waits_at_home(self) -> bool:
        """Return whether the stack is apart, and the hand is to rest."""
        return self.completed == APART and self.home_wait != 0

    def advanced(self) -> _State:
        """Return the state with the present stage behind it if its cube is in place, released, and the hand off."""
        if self.completed == STAGES or self.waits_at_home or not _is_placed(self):
            return self
        if self.scene.held is not None or self.scene.between_fingers() is not None:
            return self
        return replace(self, completed=self.completed + 1)

    def after(self, action: NDArray[np.float64]) -> _State:
        """Return the state one step on, if all goes as it should."""
        home_wait = None if self.home_wait is None else max(self.home_wait - 1, 0)
        scene, start_wait = self.scene.after(action), max(self.start_wait - 1, 0)
        return _State(scene, self.completed, start_wait, home_wait).advanced()


class SwapPositionExpert:
    """Plans tool deltas from the state of `world`."""

    def __init__(self, world: SwapPositionEnv) -> None:
        self._world = world

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the next `horizon` tool deltas (horizon, 7) and the present phase: see `Expert.plan`."""
        task = self._task()
        return plan_ahead(horizon, self._present(), partial(_decide, task), _State.after)

    def _task(self) -> _Task:
        world = self._world
        places = [Cube(np.array([x, y, CUBE_HALF_SIZE]), yaw) for x, y, yaw in world.places[0].tolist()]
        home = world.home[0].numpy().astype(float)
        travel, lower = world.tempo[0].tolist()
        turn = Rotation.from_quat(np.roll(home[3:], -1))
        tempo = Tempo(travel, lower, travel, _SETTLING) if world.whims else LEARNABLE
        return _Task((places[0], places[1], places[2]), home[:3], turn, tempo)

    def _present(self) -> _State:
        """Read the simulator."""
        world = self._world
        by_level = [world.cubes[index] for index in world.order[0].tolist()]
        scene = see_scene(world.agent, by_level)
        return _State(scene, world.completed_stages, world.start_wait_left, world.home_wait_left).advanced()


def _decide(task: _Task, state: _State) -> Step:
    """Return phase and action (7,) for one step."""
    scene, tempo = state.scene, task.tempo
    if state.completed == STAGES:
        return release(scene, tempo)
    cube = _due(state)
    if scene.held is not None and (scene.held != cube or state.waits_at_home):
        return put(scene, _aside(_free_place(task, scene), scene, tempo), tempo)
    if state.waits_at_home:
        return go(scene, task.home, task.home_turn, tempo)
    if scene.held == cube:
        return put(scene, _goal(task, state), tempo)
    if _is_placed(state):
        return release(scene, tempo)
    if state.completed == 0 and state.start_wait > 0:
        return "wait", np.zeros(TOOL_DELTA_SIZE)
    return fetch(scene, cube, task.home[2], tempo)


def _must_mend(state: _State) -> bool:
    """Return whether the bottom cube is off the middle one again, on which it was put, or not yet released there."""
    if state.completed <= APART:
        return False
    return state.scene.held == BOTTOM or not _stands_on(state.scene, BOTTOM, MIDDLE)


def _due(state: _State) -> int:
    """Return the cube that is to be moved now, by the level at which it began."""
    if not _must_mend(state):
        return _TURN[state.completed]
    return TOP if _stands_on(state.scene, TOP, BOTTOM) or state.scene.held == TOP else BOTTOM


def _aside(place: Cube, scene: HandScene, tempo: Tempo) -> Cube:
    """Return where the held cube goes that is to stand aside at `place`.

    Nothing shows the place, so a policy cannot learn it: without expert variation anywhere near it will do, and
    anywhere at all for a cube that is low, as long as there is room.
    """
    assert scene.held is not None
    held = scene.cubes[scene.held].position
    if not tempo.funnel:
        return place
    here = Cube(np.array([held[0], held[1], place.position[2]]), place.yaw)
    if held[2] < place.position[2] + _LOW and _room(here, scene) > _SPARE_ROOM:
        return here
    way = place.position - here.position
    far = float(np.hypot(way[0], way[1]))
    return here if far < _ASIDE else Cube(place.position - way * (_ASIDE / far), place.yaw)


def _goal(task: _Task, state: _State) -> Cube:
    """Return where the cube of the present stage belongs."""
    if state.completed < APART:
        wanted = task.places[state.completed + 1]
        place = wanted if _room(wanted, state.scene) > _SPARE_ROOM else _free_place(task, state.scene)
        return _aside(place, state.scene, task.tempo)
    due = _due(state)
    if due == TOP and _must_mend(state):
        return _aside(_free_place(task, state.scene), state.scene, task.tempo)
    below = state.scene.cubes[MIDDLE if due == BOTTOM else BOTTOM]
    return Cube(below.position + np.array([0.0, 0.0, 2 * CUBE_HALF_SIZE]), below.yaw)


def _free_place(task: _Task, scene: HandScene) -> Cube:
    """Return the place with most room for the held cube."""
    return max(task.places, key=lambda place: _room(place, scene))


def _room(place: Cube, scene: HandScene) -> float:
    """Return the distance in the plane from `place` to the nearest cube that is not held, m."""
    others = (cube.position - place.position for k, cube in enumerate(scene.cubes) if k != scene.held)
    return min(float(np.hypot(gap[0], gap[1])) for gap in others)


def _is_placed(state: _State) -> bool:
    """Return whether the cube of the present stage stands where it should."""
    cubes = state.scene.cubes
    cube = cubes[_TURN[state.completed]].position
    if state.completed < APART:  # anywhere on the table will do
        return bool(cube[2] < CUBE_HALF_SIZE + HEIGHT_LIMIT)
    if state.completed == APART:
        return _stands_on(state.scene, BOTTOM, MIDDLE)
    return _stands_on(state.scene, TOP, BOTTOM) and not _must_mend(state)


def _stands_on(scene: HandScene, cube: int, other: int) -> bool:
    """Return whether a cube stands on another one as neighbors in the stack do."""
    gap = scene.cubes[cube].position - scene.cubes[other].position
    return bool(np.hypot(gap[0], gap[1]) < NEIGHBOUR_LIMIT and abs(gap[2] - 2 * CUBE_HALF_SIZE) < HEIGHT_LIMIT)
