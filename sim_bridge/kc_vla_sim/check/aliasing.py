"""Plays the episodes that the probes of state aliasing need, and lets them be judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tqdm import tqdm

from kc_vla.core.tasks import find_task
from kc_vla_sim.check.episode import CheckSetting, simulator_for
from kc_vla_sim.probes.gather import ProbeEpisode, play_for_probes
from kc_vla_sim.probes.inputs import INPUTS
from kc_vla_sim.probes.verdict import Verdict, chance, judge
from kc_vla_sim.workers import run_jobs


@dataclass(frozen=True)
class ProbeResult:
    """What the probes of one task showed, and on how many episodes."""

    task: str
    train: int
    validation: int
    test: int
    verdict: Verdict


@dataclass(frozen=True)
class _Job:
    setting: CheckSetting
    task: str
    split: str
    seed: int


def check_aliasing(
    tasks: Sequence[str], seeds: Mapping[str, Sequence[int]], setting: CheckSetting, processes: int
) -> list[ProbeResult]:
    """Probe each of `tasks` on `seeds` to learn from ("train"), to choose by ("validation") and to report ("test")."""
    return [_probe(task, seeds, setting, processes) for task in tasks]


def _probe(task: str, seeds: Mapping[str, Sequence[int]], setting: CheckSetting, processes: int) -> ProbeResult:
    jobs = [_Job(setting, task, split, seed) for split, some in seeds.items() for seed in some]
    episodes: dict[str, list[ProbeEpisode]] = defaultdict(list)
    for job, episode in run_jobs(_run, jobs, processes, f"probes of {task}"):
        episodes[job.split].append(episode)
    for some in episodes.values():
        some.sort(key=lambda episode: episode.seed)  # what is learned must not depend on who was ready first
    train, validation, test = (episodes[split] for split in ("train", "validation", "test"))
    judged = judge(find_task(task), train, validation, test)
    accuracies = dict(tqdm(judged, total=len(INPUTS), desc=f"classifiers of {task}", unit="probe"))
    return ProbeResult(task, len(train), len(validation), len(test), Verdict(chance(test), accuracies))


def _run(job: _Job) -> ProbeEpisode:
    return play_for_probes(simulator_for(job.setting), job.task, job.seed)
