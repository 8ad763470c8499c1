"""Whether a seed gives the same episode twice, byte for byte, whatever the process played before."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla_sim.check.episode import CheckSetting, simulator_for
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulator import Simulator
from kc_vla_sim.workers import run_jobs

PICTURE_EVERY = 5
"""The states of all frames are compared, and the images of frame 0, of every fifth and of the last."""


@dataclass(frozen=True)
class DeterminismResult:
    """The seeds of one task that were played twice, and those of them that came out different."""

    task: str
    seeds: tuple[int, ...]
    different: tuple[int, ...]

    @property
    def holds(self) -> bool:
        """Return whether every episode repeated."""
        return not self.different


@dataclass(frozen=True)
class _Job:
    setting: CheckSetting
    task: str
    seed: int


def check_determinism(
    tasks: Sequence[str], seeds: Sequence[int], setting: CheckSetting, processes: int
) -> list[DeterminismResult]:
    """Play each seed of each task twice, the second time after all others, and compare."""
    jobs = [_Job(setting, task, seed) for task in tasks for seed in [*seeds, *seeds]]
    prints: dict[tuple[str, int], set[str]] = defaultdict(set)
    for job, fingerprint in run_jobs(_run, jobs, processes, "determinism"):
        prints[job.task, job.seed].add(fingerprint)
    return [
        DeterminismResult(task, tuple(seeds), tuple(seed for seed in seeds if len(prints[task, seed]) > 1))
        for task in tasks
    ]


def episode_fingerprint(simulator: Simulator, task: str, seed: int) -> str:
    """Return a digest of all states and of the images of an expert's episode."""
    digest = hashlib.sha256()
    frame = simulator.reset(task, seed)
    while True:
        digest.update(_state(frame))
        if frame.index % PICTURE_EVERY == 0 or frame.done:
            for picture in simulator.look():
                digest.update(picture.tobytes())
        if frame.done:
            digest.update(repr((simulator.keyframes, simulator.decisions)).encode())
            return digest.hexdigest()
        frame = simulator.step(simulator.expert.plan(1)[0][0])


def _run(job: _Job) -> str:
    return episode_fingerprint(simulator_for(job.setting), job.task, job.seed)


def _state(frame: SimulatedFrame) -> bytes:
    numbers = np.concatenate([frame.joint_positions, frame.joint_velocities]).tobytes()
    words = (frame.tool_pose, frame.detections, frame.keyframe, frame.reason, frame.completed_stages)
    return numbers + repr(words).encode()
