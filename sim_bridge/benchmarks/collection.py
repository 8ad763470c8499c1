"""Episodes per hour that parallel processes collect: the expert plays, both cameras are drawn in every frame.

`python benchmarks/collection.py [--tasks counting ...] [--sizes 128 224] [--processes 1 2] [--episodes 4]`; prints a
table. Each process has a simulator of its own; several use one thread each. The time runs from the first reset, which
makes the environment, to the end of the last episode.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import lru_cache

from kc_vla.core.tasks import simulated_tasks
from kc_vla_sim.simulator import Simulator
from kc_vla_sim.workers import run_jobs


@dataclass(frozen=True)
class Job:
    """One episode."""

    task: str
    variant: str
    image_size: int
    seed: int


@lru_cache(maxsize=1)
def simulator_for(variant: str, image_size: int) -> Simulator:
    """Return this process's simulator."""
    return Simulator(image_size, variant=variant)


def play(job: Job) -> tuple[int, float, float]:
    """Play one episode: its frames, and when it began and ended (s, a clock that all processes share)."""
    simulator = simulator_for(job.variant, job.image_size)
    began = time.time()
    frame = simulator.reset(job.task, job.seed)
    while not frame.done:
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    return frame.index + 1, began, time.time()


def measure(task: str, variant: str, size: int, processes: int, episodes: int) -> tuple[float, float, int]:
    """Measure episodes per hour, frames per second and median frames of an episode of `processes` together."""
    jobs = [Job(task, variant, size, seed) for seed in range(episodes * processes)]
    title = f"{task}, 2 x {size} pixels, {processes} processes"
    played = [result for _, result in run_jobs(play, jobs, processes, title)]
    seconds = max(ended for *_, ended in played) - min(began for _, began, _ in played)
    frames = sorted(count for count, *_ in played)
    return 3600 * len(played) / seconds, sum(frames) / seconds, frames[len(frames) // 2]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tasks", nargs="+", choices=sorted(simulated_tasks()), default=sorted(simulated_tasks()), help="(default all)"
    )
    parser.add_argument("--variant", default="standard", help="(default standard)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 224], help="pixels (default 128 224)")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], help="(default 1 2)")
    parser.add_argument("--episodes", type=int, default=4, help="episodes of each process (default 4)")
    options = parser.parse_args()
    print("| task | pixels | processes | episodes per hour | frames per second | frames of an episode (median) |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for task in options.tasks:
        for size in options.sizes:
            for processes in options.processes:
                hourly, rate, frames = measure(task, options.variant, size, processes, options.episodes)
                row = f"| {task} | 2 x {size} | {processes} | {hourly:.0f} | {rate:.1f} | {frames} |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
