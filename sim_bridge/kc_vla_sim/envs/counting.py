"""Rules and chance of the counting task, as plain functions on batches of N environments.

The lamp is off, on, off, on, off. Its four changes are the edges: frame `edges[0]` is the first that shows it lit.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kc_vla_sim.envs.batches import with_rows
from kc_vla_sim.robot import CONTROL_RATE

FLASHES = 2


@dataclass(frozen=True)
class CountingRanges:
    """What chance decides: lowest and highest value of each quantity, positions in the world frame."""

    cube_x: tuple[float, float] = (-0.2, -0.1)  # m
    cube_y: tuple[float, float] = (-0.06, 0.06)  # m
    cube_yaw: tuple[float, float] = (-0.3, 0.3)  # rad
    goal_x: tuple[float, float] = (0.08, 0.12)  # m
    goal_y: tuple[float, float] = (-0.04, 0.04)  # m
    start_noise: float = 0.02  # rad, either way, each arm joint
    # The first wait is so much longer than what follows that the time hardly tells which flash has just ended.
    lamp: tuple[tuple[float, float], ...] = ((3.0, 43.0), (0.5, 1.5), (0.5, 1.5), (0.5, 1.5))  # s: off, on, off, on
    distractors: int = 2


COUNTING_RANGES = {
    "standard": CountingRanges(),
    "hard": CountingRanges(lamp=((3.0, 63.0), (0.35, 0.8), (0.35, 1.5), (0.35, 0.8)), distractors=5),
    "paper": CountingRanges(lamp=((2.0, 3.0), (1.0, 4.0), (2.0, 4.0), (1.0, 4.0)), distractors=0),
}


def edge_frames(durations: Tensor) -> Tensor:
    """Return the edges (N, 4), int32, of lamps whose first four states last `durations` (N, 4), s."""
    return torch.cumsum(torch.round(durations * CONTROL_RATE), dim=1).to(torch.int32)


def edges_passed(edges: Tensor, frame: Tensor) -> Tensor:
    """Return how many of the `edges` (N, 4) lie in or before `frame` (N,); the lamp is lit while that is odd."""
    return (edges <= frame[:, None]).sum(dim=1)


@dataclass(frozen=True)
class CountingProgress:
    """What an episode has come to so far, each (N,).

    Attributes:
        moved_early: the cube moved before the second flash had ended; never taken back.
        completed: stages reached in order, int32; never fewer, and no more once the cube moved early.
        success: the cube is at the target, and was pushed in time.
    """

    moved_early: Tensor
    completed: Tensor
    success: Tensor

    @classmethod
    def start(cls, batch: int, device: torch.device) -> CountingProgress:
        """Return the state in which nothing has happened yet in any of `batch` environments."""
        no = torch.zeros(batch, dtype=torch.bool, device=device)
        return cls(no, torch.zeros(batch, dtype=torch.int32, device=device), no)

    def after(self, flashes_ended: Tensor, moved: Tensor, at_goal: Tensor) -> CountingProgress:
        """Return the progress one frame on.

        It says which flashes are over, whether the cube has left its place, and whether it is at the target.
        """
        moved_early = self.moved_early | (moved & (flashes_ended < FLASHES))
        success = at_goal & (flashes_ended == FLASHES) & ~moved_early
        reached = torch.where(moved_early, 0, flashes_ended + success).to(torch.int32)
        return CountingProgress(moved_early, torch.maximum(self.completed, reached), success)

    def restarted(self, index: Tensor) -> CountingProgress:
        """Return the same with the environments in `index` at their start again."""
        return with_rows(self, index, CountingProgress.start(len(index), index.device))
