"""Run an expert over many seeds and print how often it succeeds: `python -m kc_vla_sim.check --help`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter, deque
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from kc_vla.tasks import TASKS
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.simulator import Simulator

CHUNK = 16
"""Actions per chunk."""
REPLAN = 5
"""Steps between two chunks."""


@dataclass(frozen=True)
class Outcome:
    """How one episode ended."""

    seed: int
    success: bool
    reason: str
    steps: int


def run_episode(simulator: Simulator, task: str, seed: int, mode: str, latency: int) -> Outcome:
    """Let the expert play one episode.

    Args:
        simulator: what to run it in.
        task: name in the task table.
        seed: of the episode.
        mode: "step" plans anew at every step, "chunk" every `REPLAN` steps.
        latency: steps from the request for a chunk to its arrival; its actions for them are never executed.
    """
    frame = simulator.reset(task, seed)
    horizon, every = (1 + latency, 1) if mode == "step" else (CHUNK, REPLAN)
    arriving: deque[tuple[int, np.ndarray]] = deque()  # the frame that a chunk starts from, and the chunk
    start, chunk = 0, np.empty((0, 7))
    while not frame.done:
        if frame.index % every == 0:
            arriving.append((frame.index, simulator.expert.plan(horizon)[0]))
        while arriving and arriving[0][0] + latency <= frame.index:
            start, chunk = arriving.popleft()
        row = frame.index - start
        frame = simulator.step(chunk[row]) if row < len(chunk) else simulator.hold()
    return Outcome(seed, frame.success, frame.reason, frame.index)


def seed_range(text: str) -> range:
    """Parse "first:end" (end not included) or a single seed."""
    first, _, end = text.partition(":")
    try:
        seeds = range(int(first), int(end) if end else int(first) + 1)
    except ValueError:
        seeds = range(0)
    if not seeds or seeds[0] < 0:
        raise argparse.ArgumentTypeError(f"'{text}': give a seed, or first:end with 0 <= first < end")
    return seeds


def main(arguments: list[str] | None = None) -> int:
    """Run the check; the exit code is 0 when every episode succeeded."""
    parser = argparse.ArgumentParser(prog="python -m kc_vla_sim.check", description=__doc__)
    parser.add_argument("--task", default="counting", choices=sorted(TASKS))
    parser.add_argument("--seeds", type=seed_range, default=range(1000, 1100), help="first:end (default 1000:1100)")
    parser.add_argument("--mode", choices=("step", "chunk"), default="chunk", help="plan at every step, or chunks")
    parser.add_argument("--latency", type=int, default=0, choices=range(REPLAN + 1), help="steps (default 0)")
    options = parser.parse_args(arguments)
    try:
        simulator = Simulator(image_size=16, draw=False)
        outcomes = [
            run_episode(simulator, options.task, seed, options.mode, options.latency)
            for seed in tqdm(options.seeds, desc=f"{options.task}, {options.mode}", unit="episode")
        ]
    except SimulationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print_table(outcomes, f"{options.task}, {options.mode} mode, latency {options.latency}")
    return 0 if all(outcome.success for outcome in outcomes) else 1


def print_table(outcomes: list[Outcome], title: str) -> None:
    """Print the share of successes, the reasons for ending and the lengths of the episodes."""
    steps = np.array([outcome.steps for outcome in outcomes])
    print(f"{title}: {sum(o.success for o in outcomes)}/{len(outcomes)} succeeded")
    print(f"steps: shortest {steps.min()}, median {np.median(steps):.0f}, longest {steps.max()}")
    for reason, count in Counter(outcome.reason for outcome in outcomes).most_common():
        seeds = [o.seed for o in outcomes if o.reason == reason]
        print(f"{count:5d}  {reason}" + ("" if reason == "success" else f": seeds {seeds}"))


if __name__ == "__main__":
    sys.exit(main())
