"""Records one episode of a demonstrator; what runs in each of the processes that collect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import Codec
from kc_vla.core.tasks import find_task
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import ACTION, JOINT_POSITIONS, JOINT_VELOCITIES, STATE
from kc_vla.datasets.lerobot.meta import Form
from kc_vla_sim.actions import TOOL_DELTA_SIZE
from kc_vla_sim.collect.demonstrator import Demonstrator
from kc_vla_sim.frame import Frame
from kc_vla_sim.robot import CONTROL_RATE, RIG
from kc_vla_sim.simulator import Simulator

MOST_ATTEMPTS = 5
"""Recordings of a seed before it is given up."""
SOURCE, AUTHOR = "oracle", "kc_vla_sim"
"""Who says which frames are the keyframes."""
_CODEC = Codec(RIG, ActionType.TOOL_DELTA)


class RecordingError(DataSetError):
    """A seed cannot be recorded."""


@dataclass(frozen=True)
class Setting:
    """What a simulator is made with; see `Simulator`."""

    variant: str
    looks: str
    image_size: int
    renderer: str


@dataclass(frozen=True)
class Job:
    """One episode to record.

    Attributes:
        setting: of the simulator.
        form: of the data set.
        folder: where to record the episode.
        index: of the episode in the data set.
        seed: of the episode.
    """

    setting: Setting
    form: Form
    folder: Path
    index: int
    seed: int


@lru_cache(maxsize=1)
def _simulator_for(setting: Setting) -> Simulator:
    """This process's simulator."""
    return Simulator(setting.image_size, setting.renderer, variant=setting.variant, looks=setting.looks)


def record(job: Job) -> tuple[str, ...]:
    """Record an episode that succeeds; return why the attempts before it failed.

    Raises:
        RecordingError: none of `MOST_ATTEMPTS` did.
        DataSetError: it cannot be written; nothing is left of it.
    """
    simulator = _simulator_for(job.setting)
    failures: list[str] = []
    try:
        while len(failures) < MOST_ATTEMPTS:
            failure = _attempt(job, simulator, len(failures))
            if not failure:
                return tuple(failures)
            failures.append(failure)
    except OSError as error:
        raise DataSetError(
            f"episode {job.index} cannot be written into {job.folder.parent}: {error.strerror}: "
            "free some space and start again, it goes on from there"
        ) from error
    raise RecordingError(
        f"{job.form.task}, seed {job.seed}: {MOST_ATTEMPTS} attempts failed ({'; '.join(dict.fromkeys(failures))}): "
        "try another --variant, or report this seed"
    )


def _attempt(job: Job, simulator: Simulator, attempt: int) -> str:
    """Record an episode; where it fails, nothing is left and the reason is returned."""
    task = find_task(job.form.task)
    frame = simulator.reset(task.name, job.seed)
    demonstrator = Demonstrator(simulator.expert, job.seed, attempt)
    with EpisodeWriter(job.folder, job.form) as writer:
        while not frame.done:
            action = demonstrator.act()
            writer.add(row_of(frame, action), frame.views)
            frame = simulator.step(action)
        if not frame.success:
            return frame.reason
        if tuple(keyframe.label for keyframe in simulator.keyframes) != task.keyframes:
            return "keyframes are missing"
        still = np.zeros(TOOL_DELTA_SIZE, np.float32)
        still[6] = action[6]
        writer.add(row_of(frame, still), frame.views)
        about = EpisodeInfo(
            index=job.index,
            length=writer.length,
            task=task.name,
            instruction=task.instruction,
            seed=job.seed,
            variant=job.setting.variant,
            looks=job.setting.looks,
            attempt=attempt,
        )
        writer.finish(about, _annotations(job, simulator))
    return ""


def row_of(frame: Frame, action: np.ndarray) -> dict[str, Any]:
    """The numbers of a frame, and the action that is executed from it on."""
    return {
        STATE.key: state_of(frame),
        ACTION.key: action,
        JOINT_POSITIONS.key: frame.joint_positions,
        JOINT_VELOCITIES.key: frame.joint_velocities,
    }


def state_of(frame: Frame) -> np.ndarray:
    """Tool pose and gripper of a frame, (8,)."""
    pose = np.array([*frame.tool_pose.position, *frame.tool_pose.quaternion])
    return _CODEC.state(pose, frame.joint_names, frame.joint_positions)


def _annotations(job: Job, simulator: Simulator) -> list[Annotation]:
    """The ground-truth keyframes of the episode that has just ended."""
    return [
        Annotation(
            episode=job.index,
            frame=keyframe.frame,
            stamp_ns=keyframe.frame * 1_000_000_000 // CONTROL_RATE,
            phase=phase,
            label=keyframe.label,
            source=SOURCE,
            author=AUTHOR,
            score=1.0,
        )
        for phase, keyframe in enumerate(simulator.keyframes)
    ]
