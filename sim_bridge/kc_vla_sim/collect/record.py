"""Records one episode, of a demonstrator or of a policy that drives; runs in each of the processes that collect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import Codec
from kc_vla.core.tasks import find_task
from kc_vla.core.views import Views
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import ACTION, JOINT_POSITIONS, JOINT_VELOCITIES, STATE
from kc_vla.datasets.lerobot.meta import Form
from kc_vla.keyframes.image_crop import trunk_picture
from kc_vla_sim.actions import TOOL_DELTA_SIZE
from kc_vla_sim.collect.demonstrator import Demonstrator
from kc_vla_sim.collect.drivers import CollectionPolicy, DrivingPolicy, ExpertDriver, PolicyDriver
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import CONTROL_RATE, ROBOT
from kc_vla_sim.simulator import Simulator

MOST_ATTEMPTS = 5
"""Recordings of a seed before it is given up."""
SOURCE, AUTHOR = "oracle", "kc_vla_sim"
"""Who says which frames are the keyframes."""
DRAWN = (1.0, 1.5, 2.0, 2.5)
"""Where a policy learns or drives, images are drawn so many times as large as they are kept, by chance for each
episode: cameras have more pixels than a network looks at, and one that has seen only images drawn at its own size
stands still before any others."""
_CODEC = Codec(ROBOT, ActionType.TOOL_DELTA)


class RecordingError(DataSetError):
    """A seed cannot be recorded."""


@dataclass(frozen=True)
class RecordingSetting:
    """What a simulator is made with; see `Simulator`."""

    variant: str
    looks: str
    image_size: int
    renderer: str


@dataclass(frozen=True)
class RecordingJob:
    """One episode to record.

    Attributes:
        setting: of the simulator.
        form: of the data set.
        folder: where to record the episode.
        index: of the episode in the data set.
        seed: of the episode.
        policy: that drives in place of the demonstrator, most of the time: a selector is to know its tempo, too.
    """

    setting: RecordingSetting
    form: Form
    folder: Path
    index: int
    seed: int
    policy: DrivingPolicy | None = None


@dataclass(frozen=True)
class Recorded:
    """What there is to report of an episode.

    Attributes:
        failures: why the attempts before it failed.
        phases: names of the expert's phases in it.
    """

    failures: tuple[str, ...] = ()
    phases: frozenset[str] = frozenset()


def drawn_size(setting: RecordingSetting, seed: int) -> int:
    """Return how large the images of an episode are drawn that are kept at `setting.image_size`, px; see `DRAWN`."""
    return round(setting.image_size * float(np.random.default_rng((seed, 2)).choice(DRAWN)))


@lru_cache(maxsize=len(DRAWN))
def simulator_for(setting: RecordingSetting, size: int, draw: bool, whims: bool) -> Simulator:
    """Return this process's simulator of that kind, whose images have `size` px."""
    return Simulator(size, setting.renderer, draw=draw, variant=setting.variant, looks=setting.looks, whims=whims)


def record(job: RecordingJob) -> Recorded:
    """Record an episode that succeeds.

    Raises:
        RecordingError: none of `MOST_ATTEMPTS` did.
        DataSetError: it cannot be written; nothing is left of it.
        PolicyError: the policy is not there, or cannot drive here.
    """
    setting = job.setting
    size = setting.image_size if job.policy is None else drawn_size(setting, job.seed)
    simulator = simulator_for(setting, size, draw=True, whims=job.policy is None)
    failures: list[str] = []
    try:
        while len(failures) < MOST_ATTEMPTS:
            failure, phases = _attempt(job, simulator, len(failures))
            if not failure:
                return Recorded(tuple(failures), phases)
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


def _attempt(job: RecordingJob, simulator: Simulator, attempt: int) -> tuple[str, frozenset[str]]:
    """Record an episode; where it fails, nothing is left and the reason is returned, beside the expert's phases."""
    task = find_task(job.form.task)
    frame = simulator.reset(task.name, job.seed)
    drive, size = _driver(job, simulator, attempt), job.setting.image_size
    with EpisodeWriter(job.folder, job.form) as writer:
        while not frame.done:
            action = drive.act(frame, "")
            writer.add(row_of(frame, action), kept_views(frame.views, size))
            frame = simulator.step(action)
        if not frame.success:
            return frame.reason, frozenset()
        if tuple(keyframe.label for keyframe in simulator.keyframes) != task.keyframes:
            return "keyframes are missing", frozenset()
        still = np.zeros(TOOL_DELTA_SIZE, np.float32)
        still[6] = action[6]
        writer.add(row_of(frame, still), kept_views(frame.views, size))
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
    return "", drive.phases


def _driver(job: RecordingJob, simulator: Simulator, attempt: int) -> CollectionPolicy:
    if job.policy is None:
        return ExpertDriver(Demonstrator(simulator.expert, job.seed, attempt), None)
    chance = np.random.default_rng((job.seed, attempt, 1))
    return PolicyDriver(job.policy, simulator, job.setting.variant, chance)


def kept_views(views: Views, size: int) -> Views:
    """Return images as they are kept, `size` px."""
    return {view: trunk_picture(shown, size) for view, shown in views.items()}


def row_of(frame: SimulatedFrame, action: np.ndarray) -> dict[str, Any]:
    """Return the numbers of a frame, and the action that is executed from it on."""
    return {
        STATE.key: state_of(frame),
        ACTION.key: action,
        JOINT_POSITIONS.key: frame.joint_positions,
        JOINT_VELOCITIES.key: frame.joint_velocities,
    }


def state_of(frame: SimulatedFrame) -> np.ndarray:
    """Return the tool pose and gripper of a frame, (8,)."""
    pose = np.array([*frame.tool_pose.position, *frame.tool_pose.quaternion])
    return _CODEC.state(pose, frame.joint_names, frame.joint_positions)


def _annotations(job: RecordingJob, simulator: Simulator) -> list[Annotation]:
    """Return the ground-truth keyframes of the episode that has just ended."""
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
