"""Expert for temporal sequencing: go home, wait there, lift the next cube, put it back.

Every step is decided from the present state alone: the scene, and what the environment counts of lifts and visits.
From the end of a visit on, a lift follows its script by the clock. Whatever goes wrong with it is corrected by the
moves of `grasping`, and then the hand goes home for the next.

Without expert variation there are neither visits nor scripts: no image tells whether the hand comes from home or goes
there, or what the clock says. It goes from cube to cube.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.actions import TOOL_DELTA_SIZE
from kc_vla_sim.envs.home_visits import AT_HOME
from kc_vla_sim.envs.lifting import BACK_RADIUS, LET_GO_GAP, LIFTED_HEIGHT, REST_FRAMES
from kc_vla_sim.envs.pick_place_three_times import SHUT
from kc_vla_sim.envs.temporal import CUBES
from kc_vla_sim.experts.grasping import LEARNABLE, Step, Tempo, fetch, go, put, release
from kc_vla_sim.experts.hand import Cube, HandScene, hand_yaw, see_scene
from kc_vla_sim.experts.lift_script import MENDING, LiftScript, Posture
from kc_vla_sim.experts.plan_ahead import plan_ahead
from kc_vla_sim.experts.tool import Vector

if TYPE_CHECKING:
    from kc_vla_sim.envs.pick_place_three_times import PickPlaceThreeTimesEnv

HIGH_ENOUGH = 0.004
"""A lift is over when the cube is no lower than this below the height that it is to reach, m: it slows down before."""
OVERSHOOT = 0.015
"""A slow hand that settles far below what it aims at would never be high enough: it aims so much higher, m."""
COMING_DOWN = 0.01
"""A cube that is so much lower than it has been is on its way down, m."""
START_STEPS = 10
"""Steps of standing still at the start: a plan that arrives late must find the arm where it began."""
FACING = 0.02
"""The hand faces as at home when it is turned to within this, rad."""


@dataclass(frozen=True)
class _Routine:
    """What was drawn for the episode: the poses, waits and heights before and of each lift, and the speeds."""

    places: tuple[Cube, ...]
    homes: tuple[tuple[Vector, Rotation], ...]
    waits: tuple[int, ...]
    heights: tuple[float, ...]
    tempo: Tempo
    scripts: tuple[LiftScript, ...]


@dataclass(frozen=True)
class _State:
    """All that the next action depends on.

    Attributes:
        frame: of the scene.
        completed: cubes lifted and put back.
        lifted: the present cube was lifted and is not back yet.
        peak: its highest point so far, m; 0 before it was lifted.
        back_since: frame since which it has been back; -1 while it is not.
        home_since: frame since which the hand has been home before the next lift; -1 while it has not.
        begun: the lift that was begun last, and the frame in which it was: when the visit at home before it ended.
    """

    scene: HandScene
    frame: int
    completed: int
    lifted: bool
    peak: float
    back_since: int
    home_since: int
    begun: tuple[int, int] | None


class PickPlaceThreeTimesExpert:
    """Plans tool deltas from the state of `world`."""

    def __init__(self, world: PickPlaceThreeTimesEnv) -> None:
        self._world = world
        self._written: tuple[bytes, _Routine] | None = None

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the next `horizon` tool deltas (horizon, 7) and the present phase: see `Expert.plan`."""
        routine = self._routine()
        decide = partial(_decide if self._world.whims else _decide_from_what_is_seen, routine)
        return plan_ahead(horizon, self._present(), decide, partial(_after, routine))

    def _routine(self) -> _Routine:
        """Return the drawn variations, with the scripts that follow from them, which are written once an episode."""
        world = self._world
        drawn = (world.tempo, world.places, world.yaws, world.homes, world.waits, world.lift_heights)
        key = b"".join(values[0].numpy().tobytes() for values in drawn)
        if self._written is None or self._written[0] != key:
            self._written = key, self._write_routine()
        return self._written[1]

    def _write_routine(self) -> _Routine:
        world = self._world
        travel, lower = world.tempo[0].tolist()
        tempo = Tempo(travel=travel, lower=lower, lift=travel) if world.whims else LEARNABLE
        positions, yaws = world.places[0].numpy().astype(float), world.yaws[0].tolist()
        places = tuple(Cube(position, yaw) for position, yaw in zip(positions, yaws, strict=True))
        homes = tuple(
            (home[:3], Rotation.from_quat(np.roll(home[3:], -1))) for home in world.homes[0].numpy().astype(float)
        )
        postures = [Posture(position, hand_yaw(rotation)) for position, rotation in homes]
        heights = tuple(world.lift_heights[0].tolist())
        scripts = tuple(
            LiftScript.write(start, place, height, end, tempo)
            for start, place, height, end in zip(postures, places, heights, [*postures[1:], postures[-1]], strict=True)
        )
        return _Routine(places, homes, tuple(world.waits[0].tolist()), heights, tempo, scripts)

    def _present(self) -> _State:
        """Read the simulator."""
        world = self._world
        progress = world.progress
        completed = int(progress.completed[0])
        return _State(
            scene=see_scene(world.agent, world.cubes),
            frame=int(world.elapsed_steps[0]),
            completed=completed,
            lifted=bool(progress.lifted[0]),
            peak=float(progress.peak[0, min(completed, CUBES - 1)]),
            back_since=int(progress.back_since[0]),
            home_since=int(world.visits.since[0]),
            begun=max(((lift, frame) for frame, lift in world.decisions_until_now()), default=None),
        )


def _decide(routine: _Routine, state: _State) -> Step:
    """Return phase and action (7,) for one step."""
    scene, tempo = state.scene, routine.tempo
    present = state.completed
    if state.frame < START_STEPS:
        return "start", np.zeros(TOOL_DELTA_SIZE)
    if state.begun is not None:
        lift, begin = state.begun
        script, step = routine.scripts[lift], state.frame - begin
        if script.follows(scene, step, lift, routine.places[lift]):
            return script.step(scene, step)
    if scene.held is not None and scene.held != present:
        return put(scene, routine.places[scene.held], tempo)
    if present == CUBES or (state.lifted and _is_back(routine, state)):
        return go(scene, *routine.homes[min(present + 1, CUBES - 1)], tempo)
    if state.lifted:
        if scene.held is None or _still_rises(routine, state):
            return fetch(scene, present, routine.heights[present], tempo)
        return put(scene, routine.places[present], tempo)
    waited = state.home_since >= 0 and state.frame - state.home_since >= routine.waits[present]
    if waited or scene.held is not None:
        return fetch(scene, present, routine.heights[present], tempo)
    if state.home_since >= 0:
        return "wait", go(scene, *routine.homes[present], tempo)[1]
    return go(scene, *routine.homes[present], replace(tempo, settling=MENDING))


def _decide_from_what_is_seen(routine: _Routine, state: _State) -> Step:
    """Return phase and action (7,) without expert variation: from cube to cube."""
    scene, tempo, present = state.scene, routine.tempo, state.completed
    if scene.held is not None and scene.held != present:
        return put(scene, routine.places[scene.held], tempo)
    if present == CUBES or (state.lifted and _is_back(routine, state)):
        return release(scene, tempo)
    if state.lifted and scene.held is not None and not _still_rises(routine, state):
        return put(scene, routine.places[present], tempo)
    return fetch(scene, present, routine.heights[present] + OVERSHOOT, tempo)


def _still_rises(routine: _Routine, state: _State) -> bool:
    """Return whether the held cube is on its way up and not high enough.

    One that comes down is never picked up again.
    """
    height = float(state.scene.cubes[state.completed].position[2])
    return height > state.peak - COMING_DOWN and state.peak < routine.heights[state.completed] - HIGH_ENOUGH


def _is_back(routine: _Routine, state: _State) -> bool:
    """Return whether the present cube lies, released, where it belongs."""
    gap = state.scene.cubes[state.completed].position - routine.places[state.completed].position
    return state.scene.held is None and float(np.linalg.norm(gap)) < 0.8 * BACK_RADIUS


def _after(routine: _Routine, state: _State, action: Vector) -> _State:
    """Return the state one step on, if all goes as it should."""
    scene, frame = state.scene.after(action), state.frame + 1
    present = state.completed
    before, state = state.scene, replace(state, scene=scene, frame=frame)
    if present == CUBES:
        return state
    if scene.held == present:
        # A scene tells where the cube would come to rest: half a step ahead of where it is.
        height = float(scene.cubes[present].position[2] + before.cubes[present].position[2]) / 2
        if height > LIFTED_HEIGHT:
            return replace(state, lifted=True, peak=max(state.peak, height), home_since=-1)
    if state.lifted:
        gap = scene.cubes[present].position - scene.tool.position
        if not _is_back(routine, state) or np.linalg.norm(gap) < LET_GO_GAP:
            return replace(state, back_since=-1)
        since = frame if state.back_since < 0 else state.back_since
        if frame - since < REST_FRAMES:
            return replace(state, back_since=since)
        return replace(state, completed=present + 1, lifted=False, peak=0.0, back_since=-1)
    if state.home_since < 0 and _is_home(routine, state):
        state = replace(state, home_since=frame)
    if state.home_since >= 0 and frame - state.home_since == routine.waits[present]:
        state = replace(state, begun=(present, frame))
    return state


def _is_home(routine: _Routine, state: _State) -> bool:
    """Return whether the hand is, closed, at the home pose before the next lift."""
    position, rotation = routine.homes[state.completed]
    tool = state.scene.tool
    turn = (tool.rotation * rotation.inv()).magnitude()
    return bool(np.linalg.norm(tool.position - position) < AT_HOME and turn < FACING and state.scene.opening < SHUT)
