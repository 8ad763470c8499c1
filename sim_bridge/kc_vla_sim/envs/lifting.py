"""What an episode of the temporal task has come to: which cubes were lifted and put back, and what went wrong.

Plain functions on batches of N environments. The cubes are numbered in the order in which they are to be lifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kc_vla.keyframes.smoothing import WINDOW_FRAMES
from kc_vla_sim.envs.batches import with_rows
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.envs.temporal import CUBES

LIFTED_HEIGHT = 0.15
"""A cube is lifted once its center is higher than this above the table's surface, m (paper: h_lift)."""
BACK_RADIUS = 0.05
"""A cube is back when its center is closer than this to where it began, m (paper: epsilon)."""
LET_GO_GAP = 0.04
"""A cube has been released when the tool center point is further than this from its center, m."""
REST_SPEED = 0.02
"""A cube is at rest when it is slower than this, m/s."""
REST_FRAMES = 5
"""It has come back when it has been at its place, at rest and released, for so many frames on end."""
RISE_STEP = 0.002
"""A new highest point counts when it is so much higher than the last that counted, m."""

NO_FAULT, TOO_SOON, NOT_PUT_BACK, AGAIN, PUSHED = range(5)
"""Faults: lifted before its turn; lifted before the last was back; lifted a second time; moved without being lifted."""


@dataclass(frozen=True)
class CubesObserved:
    """The three cubes of each environment in one frame, each (N, 3).

    Attributes:
        height: m above the table's surface.
        displaced: distance from where each began, m.
        resting: it is slow.
        touched: the tool is at it.
    """

    height: Tensor
    displaced: Tensor
    resting: Tensor
    touched: Tensor


@dataclass(frozen=True)
class LiftingProgress:
    """What an episode has come to so far.

    Attributes:
        completed: cubes lifted and put back in order, (N,), int32; the cube of that number is the present one.
        lifted: the present cube has been lifted and is not back yet, (N,).
        back_since: frame since which the lifted cube has been at its place, (N,), int32; -1 while it is not.
        peak: highest counted height of each cube while it was lifted, m, (N, 3); 0 before.
        peak_frame: frame of that, (N, 3), int32; -1 before.
        fault: one of the faults above, (N,), int32; the first stays, and nothing counts after it.
        culprit: number of the cube that the fault is about, (N,), int64.
        success: all are back, at rest and released, (N,).
    """

    completed: Tensor
    lifted: Tensor
    back_since: Tensor
    peak: Tensor
    peak_frame: Tensor
    fault: Tensor
    culprit: Tensor
    success: Tensor

    @classmethod
    def start(cls, batch: int, device: torch.device) -> LiftingProgress:
        """Return the state in which nothing has happened yet in any of `batch` environments."""
        count = torch.zeros(batch, dtype=torch.int32, device=device)
        no = torch.zeros(batch, dtype=torch.bool, device=device)
        each = torch.zeros((batch, CUBES), device=device)
        return cls(count, no, count - 1, each, each.to(torch.int32) - 1, count, count.to(torch.int64), no)

    @property
    def failed(self) -> Tensor:
        """Return whether there was a fault, (N,)."""
        return self.fault != NO_FAULT

    def restarted(self, index: Tensor) -> LiftingProgress:
        """Return the same with the environments in `index` at their start again."""
        return with_rows(self, index, LiftingProgress.start(len(index), index.device))

    def after(self, frame: Tensor, seen: CubesObserved) -> LiftingProgress:
        """Return the progress in `frame` (N,), in which the cubes are as `seen`."""
        number = torch.arange(CUBES, device=frame.device)
        present = number == self.completed[:, None]
        high = seen.height > LIFTED_HEIGHT

        low = seen.height < 1.5 * CUBE_HALF_SIZE
        pushed = low & (seen.displaced > BACK_RADIUS) & ~(present & self.lifted[:, None])
        wrong = (high & ~present) | pushed
        culprit = wrong.int().argmax(dim=1)
        early = torch.where(self.lifted, NOT_PUT_BACK, TOO_SOON)
        fault = torch.where(culprit < self.completed, AGAIN, early)
        fault = torch.where(pushed.gather(1, culprit[:, None])[:, 0], PUSHED, fault)
        fault = torch.where(wrong.any(dim=1), fault, NO_FAULT).to(torch.int32)
        culprit = torch.where(self.failed, self.culprit, culprit)
        fault = torch.where(self.failed, self.fault, fault)
        going_on = fault == NO_FAULT

        lifted = self.lifted | (high & present).any(dim=1) & going_on
        at_place = (seen.displaced < BACK_RADIUS) & seen.resting & ~seen.touched
        back = (at_place & present).any(dim=1) & lifted & going_on
        back_since = torch.where(back, torch.where(self.back_since < 0, frame, self.back_since), -1)
        done = back & (frame - back_since >= REST_FRAMES)
        completed = self.completed + done.to(torch.int32)

        rises = high & present & going_on[:, None] & (seen.height >= self.peak + RISE_STEP)
        # Later than that, a selector has committed to the highest point so far.
        rises &= (self.peak_frame < 0) | (frame[:, None] - self.peak_frame <= WINDOW_FRAMES)
        return LiftingProgress(
            completed=completed,
            lifted=lifted & ~done,
            back_since=torch.where(done, -1, back_since).to(torch.int32),
            peak=torch.where(rises, seen.height, self.peak),
            peak_frame=torch.where(rises, frame[:, None], self.peak_frame).to(torch.int32),
            fault=fault,
            culprit=culprit,
            success=(completed == CUBES) & at_place.all(dim=1) & going_on,
        )


def fault_in_words(fault: int, culprit: int, completed: int, names: Sequence[str]) -> str:
    """Return what went wrong, for people.

    It takes the fault, the numbers of its cube and of those done, and all names.
    """
    cube, present = names[culprit], names[min(completed, CUBES - 1)]
    return {
        NO_FAULT: "",
        TOO_SOON: f"{cube} cube lifted before {present}",
        NOT_PUT_BACK: f"{present} cube not put back before {cube} was lifted",
        AGAIN: f"{cube} cube lifted a second time",
        PUSHED: f"{cube} cube pushed off its place",
    }[fault]
