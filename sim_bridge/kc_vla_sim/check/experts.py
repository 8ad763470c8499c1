"""How often the experts succeed, in each way of executing them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla_sim.check.episode import CheckedEpisode, CheckSetting, run_episode, simulator_for
from kc_vla_sim.workers import run_jobs

TARGET = 0.97
"""Least share of successes."""
MODES = {"step": ("step", 0), "chunk": ("chunk", 0), "chunk-2": ("chunk", 2), "chunk-5": ("chunk", 5)}
"""Ways of executing an expert by their names: mode and latency (steps) of `run_episode`."""


@dataclass(frozen=True)
class ExpertResult:
    """All episodes of one task in one way of executing its expert, in order of their seeds."""

    task: str
    mode: str
    latency: int
    outcomes: tuple[CheckedEpisode, ...]

    @property
    def successes(self) -> int:
        """Return how many episodes succeeded."""
        return sum(outcome.success for outcome in self.outcomes)

    @property
    def holds(self) -> bool:
        """Return whether enough episodes succeeded."""
        return self.successes >= TARGET * len(self.outcomes)

    @property
    def median_steps(self) -> int:
        """Return the median length of the episodes."""
        return int(np.median([outcome.steps for outcome in self.outcomes]))

    @property
    def failures(self) -> dict[str, list[int]]:
        """Return the seeds of the episodes that failed, by the reason."""
        seeds: dict[str, list[int]] = defaultdict(list)
        for outcome in self.outcomes:
            if not outcome.success:
                seeds[outcome.reason].append(outcome.seed)
        return dict(seeds)


@dataclass(frozen=True)
class _Job:
    setting: CheckSetting
    task: str
    mode: str
    latency: int
    seed: int


def check_experts(
    tasks: Sequence[str], seeds: Sequence[int], modes: Sequence[str], setting: CheckSetting, processes: int
) -> list[ExpertResult]:
    """Run the expert of each of `tasks` on all `seeds` in each of `modes`, some of `MODES`."""
    ways = [MODES[mode] for mode in modes]
    jobs = [_Job(setting, task, *way, seed) for task in tasks for way in ways for seed in seeds]
    outcomes: dict[tuple[str, str, int], list[CheckedEpisode]] = defaultdict(list)
    for job, outcome in run_jobs(_run, jobs, processes, "experts"):
        outcomes[job.task, job.mode, job.latency].append(outcome)
    return [
        ExpertResult(task, *way, tuple(sorted(outcomes[task, *way], key=lambda outcome: outcome.seed)))
        for task in tasks
        for way in ways
    ]


def _run(job: _Job) -> CheckedEpisode:
    return run_episode(simulator_for(job.setting), job.task, job.seed, job.mode, job.latency)
