"""One episode of an expert, executed in each of the ways that the stack executes a policy."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kc_vla_sim.simulator import Simulator

CHUNK = 16
"""Actions per chunk."""
REPLAN = 5
"""Steps between two chunks."""


@dataclass(frozen=True)
class CheckSetting:
    """What a simulator is made with; see `Simulator`."""

    variant: str
    renderer: str = "auto"
    image_size: int = 16


@lru_cache(maxsize=1)
def simulator_for(setting: CheckSetting) -> Simulator:
    """Return this process's simulator with `setting`; it draws only when asked to."""
    return Simulator(setting.image_size, setting.renderer, draw=False, variant=setting.variant)


@dataclass(frozen=True)
class CheckedEpisode:
    """How one episode ended."""

    seed: int
    success: bool
    reason: str
    steps: int


def run_episode(simulator: Simulator, task: str, seed: int, mode: str, latency: int) -> CheckedEpisode:
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
    return CheckedEpisode(seed, frame.success, frame.reason, frame.index)
