"""Records one episode with the expert's plan from each state that is kept; see `kc_vla.datasets.planned`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.core.tasks import find_task
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.planned import PlannedEpisode
from kc_vla_sim.collect.demonstrator import Demonstrator
from kc_vla_sim.collect.record import MOST_ATTEMPTS, RecordingError, Setting, state_of
from kc_vla_sim.experts.tool import Tool, Vector
from kc_vla_sim.frame import Frame
from kc_vla_sim.simulator import VIEWS, Simulator

HORIZON = 16
"""Actions of a plan that are kept."""
_FORESIGHT = 64
"""Control steps that the expert looks ahead for the place where the gripper changes next."""
_EVERY, _EVERY_WAITING, _FIRST_MOVING = 4, 12, 8
"""One of so many frames is kept while the tool moves, and while it waits; the first ones after a wait all are."""
_STILL = 1e-3
"""A planned action that moves the tool less than this (m, rad) is waiting."""
_GRIPPER_CHANGE = 0.25
_KICKS = 0.01
"""Probability in a step that the arm is pushed off its way from then on for a few."""
_KICKED = ("approach", "go", "carry", "descend", "wait")
"""Phases in which it is: no cube is being gripped, let go or pushed. Whoever never saw the arm off the place where it
waits learns nothing that would bring it back there, and drifts away."""


@dataclass(frozen=True)
class PlanJob:
    """One episode to record.

    Attributes:
        setting: of the simulator.
        task: name in the task table.
        file: where to write it.
        seed: of the episode.
        kicks: whether the arm is pushed off its way at random.
    """

    setting: Setting
    task: str
    file: Path
    seed: int
    kicks: bool = True


@lru_cache(maxsize=1)
def _simulator_for(setting: Setting) -> Simulator:
    """This process's simulator; it draws only what is kept."""
    return Simulator(setting.image_size, setting.renderer, draw=False, variant=setting.variant, looks=setting.looks)


def record_planned(job: PlanJob) -> tuple[str, ...]:
    """Record an episode that succeeds; return why the attempts before it failed.

    Raises:
        RecordingError: none of `MOST_ATTEMPTS` did.
        DataSetError: it cannot be written; nothing is left of it.
    """
    simulator = _simulator_for(job.setting)
    failures: list[str] = []
    while len(failures) < MOST_ATTEMPTS:
        chance = np.random.default_rng((job.seed, len(failures), 1))
        frame = simulator.reset(job.task, job.seed)
        drive = _Driver(Demonstrator(simulator.expert, job.seed, len(failures)), chance if job.kicks else None)
        kept = _Kept(simulator, frame)
        while not frame.done:
            frame = kept.step(drive)
        if frame.success:
            _write(kept.episode(job, len(failures)), job.file)
            return tuple(failures)
        failures.append(frame.reason)
    raise RecordingError(
        f"{job.task}, seed {job.seed}: {MOST_ATTEMPTS} attempts failed ({'; '.join(dict.fromkeys(failures))}): "
        "try another --variant, or report this seed"
    )


def _write(episode: PlannedEpisode, file: Path) -> None:
    try:
        episode.write(file)
    except OSError as error:
        raise DataSetError(
            f"{file} cannot be written: {error.strerror}: free some space and start again, it goes on from there"
        ) from error


class _Driver:
    """Moves the arm as a demonstrator does, and kicks it."""

    def __init__(self, demonstrator: Demonstrator, chance: np.random.Generator | None) -> None:
        self._demonstrator, self._chance = demonstrator, chance
        self._kick = np.zeros(6)
        self._left = 0

    def act(self, phase: str) -> NDArray[np.float32]:
        """The next action, (7,)."""
        action = self._demonstrator.act()
        chance = self._chance
        if chance is None:
            return action
        if self._left == 0 and phase in _KICKED and chance.random() < _KICKS:
            self._left = int(chance.integers(3, 9))
            self._kick[:3] = chance.normal(0.0, 0.02, 3)
            self._kick[2] = abs(self._kick[2])  # upwards: nothing below is pushed
            self._kick[3:] = chance.normal(0.0, 0.02, 3)
        if self._left:
            self._left -= 1
            action = action.copy()
            action[:6] += self._kick.astype(np.float32)
        return action


class _Kept:
    """What is kept of an episode while it is played."""

    def __init__(self, simulator: Simulator, frame: Frame) -> None:
        self._simulator, self._frame = simulator, frame
        self._rows: list[dict[str, Any]] = []
        self._waited, self._moved = 0, 0
        self._gripper = 0.0

    def step(self, drive: _Driver) -> Frame:
        """Keep the present frame if it is due, and take the next step."""
        plan, phase = self._simulator.expert.plan(1)
        waits = bool(np.abs(plan[0, :6]).max() < _STILL) and abs(plan[0, 6] - self._gripper) < _GRIPPER_CHANGE
        self._waited, self._moved = (self._waited + 1, 0) if waits else (0, self._moved + 1)
        due = (self._waited - 1) % _EVERY_WAITING == 0 if waits else self._moved <= _FIRST_MOVING
        due = due or (not waits and self._moved % _EVERY == 0)
        if due or self._frame.index == 0 or self._frame.keyframe is not None:
            self._keep()
        action = drive.act(phase)
        self._gripper = float(action[6])
        self._frame = self._simulator.step(action)
        return self._frame

    def _keep(self) -> None:
        frame = self._frame
        plan, phase = self._simulator.expert.plan(_FORESIGHT)
        state = state_of(frame)
        place, ahead = next_place(state, plan, self._gripper)
        self._rows.append(
            {
                "frames": frame.index,
                "states": state,
                "plans": plan[:HORIZON],
                "phases": phase,
                "places": place,
                "ahead": ahead,
                **dict(zip(VIEWS, self._simulator.look(), strict=True)),
            }
        )

    def episode(self, job: PlanJob, attempt: int) -> PlannedEpisode:
        """All of it; a keyframe that ends the episode has no future, and is left out."""
        frames = np.array([row["frames"] for row in self._rows], np.int64)
        keyframes = np.array([k.frame for k in self._simulator.keyframes], np.int64)
        about = {
            "task": job.task,
            "instruction": find_task(job.task).instruction,
            "seed": job.seed,
            "variant": job.setting.variant,
            "looks": job.setting.looks,
            "attempt": attempt,
            "driver": "expert",
            "success": self._frame.success,
        }
        return PlannedEpisode(
            about=about,
            frames=frames,
            states=np.array([row["states"] for row in self._rows], np.float32),
            plans=np.array([row["plans"] for row in self._rows], np.float32),
            phases=np.array([row["phases"] for row in self._rows]),
            places=np.array([row["places"] for row in self._rows], np.float32),
            ahead=np.array([row["ahead"] for row in self._rows], np.int64),
            keyframes=keyframes[np.isin(keyframes, frames)],
            pictures={view: np.array([row[view] for row in self._rows]) for view in VIEWS},
        )


def next_place(state: Vector, plan: NDArray[np.float32], gripper: float) -> tuple[Vector, int]:
    """The state (8,) at which the gripper changes next in a plan, or in which the plan ends, and the steps until then.

    Args:
        state: (8,), tool pose and gripper, now.
        plan: (N, 7), tool deltas and gripper.
        gripper: as commanded last, 0..1.
    """
    for ahead, (tool, action) in enumerate(zip(_way(state, plan), plan, strict=True)):  # noqa: B007  # used after it
        if abs(action[6] - gripper) > _GRIPPER_CHANGE or ahead == len(plan) - 1:
            break
    return np.array([*tool.position, *tool.rotation.as_quat(), action[6]]), ahead


def _way(state: Vector, plan: NDArray[np.float32]) -> Iterator[Tool]:
    """Where the tool is before each action."""
    tool = Tool(state[:3], Rotation.from_quat(state[3:7]))
    for action in plan.astype(float):
        yield tool
        tool = tool.after(action[:6])
