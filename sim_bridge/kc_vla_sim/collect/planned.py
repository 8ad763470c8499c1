"""Records one episode with the expert's plan from each state that is kept; see `kc_vla.datasets.planned`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.core.tasks import find_task
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.planned import PlannedEpisode
from kc_vla_sim.collect.demonstrator import Demonstrator
from kc_vla_sim.collect.drivers import CollectionPolicy, DrivingPolicy, ExpertDriver, PolicyDriver
from kc_vla_sim.collect.event_keyframes import WatchedEvents
from kc_vla_sim.collect.record import (
    MOST_ATTEMPTS,
    Recorded,
    RecordingError,
    RecordingSetting,
    drawn_size,
    kept_views,
    simulator_for,
    state_of,
)
from kc_vla_sim.experts.tool import Tool, Vector
from kc_vla_sim.frame import SimulatedFrame
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


@dataclass(frozen=True)
class PlannedSegment:
    """What is kept of an episode, beside its keyframes until then: many starts, or many middles, for little time.

    Attributes:
        frames: how many, after which the episode is left; None: all.
        begin_by: it begins at a frame drawn up to this one; the expert drives until then.
    """

    frames: int | None = None
    begin_by: int = 0

    def begins(self, seed: int) -> int:
        """Return the frame with which it begins."""
        return int(np.random.default_rng((seed, 3)).integers(self.begin_by + 1))


WHOLE = PlannedSegment()


@dataclass(frozen=True)
class PlanJob:
    """One episode to record.

    Attributes:
        setting: of the simulator.
        task: name in the task table.
        file: where to write it.
        seed: of the episode.
        kicks: whether the arm is pushed off its way at random.
        policy: that drives in place of the expert, most of the time (DAgger).
        stretch: what is kept of it.
        events: whether those are looked for that need no labels, and their frames kept, too.
    """

    setting: RecordingSetting
    task: str
    file: Path
    seed: int
    kicks: bool = True
    policy: DrivingPolicy | None = None
    stretch: PlannedSegment = WHOLE
    events: bool = False


def record_planned(job: PlanJob) -> Recorded:
    """Record an episode that does not fail, or any that a policy drives.

    What the expert would do is right in an episode that fails, too, for as long as it goes on.

    Raises:
        RecordingError: none of `MOST_ATTEMPTS` did.
        DataSetError: it cannot be written; nothing is left of it.
        PolicyError: the policy is not there, or cannot drive here.
    """
    simulator = simulator_for(job.setting, drawn_size(job.setting, job.seed), draw=False, whims=False)
    failures: list[str] = []
    begins = job.stretch.begins(job.seed)
    ends = None if job.stretch.frames is None else begins + job.stretch.frames
    while len(failures) < MOST_ATTEMPTS:
        chance = np.random.default_rng((job.seed, len(failures), 1))
        frame = simulator.reset(job.task, job.seed)
        if job.policy is not None:
            drive: CollectionPolicy = PolicyDriver(job.policy, simulator, job.setting.variant, chance, begins)
        else:
            demonstrator = Demonstrator(simulator.expert, job.seed, len(failures))
            drive = ExpertDriver(demonstrator, chance if job.kicks else None)
        events = WatchedEvents(simulator) if job.events else None
        kept = _Kept(simulator, frame, job.setting.image_size, begins, events)
        while not frame.done and (ends is None or frame.index < ends):
            frame = kept.step(drive)
        if frame.success or not frame.done or job.policy is not None:
            episode = kept.episode(job, len(failures))
            write_planned(episode, job.file)
            return Recorded(tuple(failures), frozenset(map(str, episode.phases)))
        failures.append(frame.reason)
    raise RecordingError(
        f"{job.task}, seed {job.seed}: {MOST_ATTEMPTS} attempts failed ({'; '.join(dict.fromkeys(failures))}): "
        "try another --variant, or report this seed"
    )


def write_planned(episode: PlannedEpisode, file: Path) -> None:
    """Write an episode whole or not at all.

    Raises:
        DataSetError: it cannot be written; the text says what to do.
    """
    try:
        episode.write(file)
    except OSError as error:
        raise DataSetError(
            f"{file} cannot be written: {error.strerror}: free some space and start again, it goes on from there"
        ) from error


class _Kept:
    """What is kept of an episode while it is played."""

    def __init__(
        self, simulator: Simulator, frame: SimulatedFrame, size: int, begins: int, events: WatchedEvents | None
    ) -> None:
        self._events = events
        self._simulator, self._frame, self._size, self._begins = simulator, frame, size, begins
        self._rows: list[dict[str, Any]] = []
        self._waited, self._moved = 0, 0
        self._gripper = 0.0

    def step(self, drive: CollectionPolicy) -> SimulatedFrame:
        """Keep the present frame if it is due, and take the next step."""
        plan, phase = self._simulator.expert.plan(1)
        waits = bool(np.abs(plan[0, :6]).max() < _STILL) and abs(plan[0, 6] - self._gripper) < _GRIPPER_CHANGE
        self._waited, self._moved = (self._waited + 1, 0) if waits else (0, self._moved + 1)
        due = (self._waited - 1) % _EVERY_WAITING == 0 if waits else self._moved <= _FIRST_MOVING
        due = (due or (not waits and self._moved % _EVERY == 0)) and self._frame.index >= self._begins
        taken = self._events is not None and self._events.see(self._frame)
        if due or taken or self._frame.index == 0 or self._frame.keyframe is not None:
            self._keep()
        action = drive.act(self._frame, phase)
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
                **kept_views(self._simulator.views(), self._size),
            }
        )

    def episode(self, job: PlanJob, attempt: int) -> PlannedEpisode:
        """Return the whole episode; a keyframe that ends the episode has no future, and is left out."""
        frames = np.array([row["frames"] for row in self._rows], np.int64)
        keyframes = np.array([k.frame for k in self._simulator.keyframes], np.int64)
        about = {
            "task": job.task,
            "instruction": find_task(job.task).instruction,
            "seed": job.seed,
            "variant": job.setting.variant,
            "looks": job.setting.looks,
            "attempt": attempt,
            "driver": "expert" if job.policy is None else f"policy '{job.policy.model}'",
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
            keyframes=np.unique(
                keyframes[np.isin(keyframes, frames)]
            ),  # the top cube may be the last to leave its place
            events=None if self._events is None else np.array(self._events.keyframes, np.int64),
            pictures={view: np.array([row[view] for row in self._rows]) for view in VIEWS},
        )


def next_place(state: Vector, plan: NDArray[np.float32], gripper: float) -> tuple[Vector, int]:
    """Return the state (8,) at which the gripper changes next in a plan, and the steps until then.

    It is the state in which the plan ends where the gripper does not change.

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
    """Yield where the tool is before each action."""
    tool = Tool(state[:3], Rotation.from_quat(state[3:7]))
    for action in plan.astype(float):
        yield tool
        tool = tool.after(action[:6])
