"""Rules and chance of the identity task, as plain functions on batches of N environments.

Three cubes that look the same stand in the slots left, middle and right, as the robot sees them. Cube k starts in
slot k; the one that counts starts in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from kc_vla_sim.envs.batches import with_rows

SLOTS = ("left", "middle", "right")
MIDDLE = 1
_MOVES, _GRIPS = 7, 6
_REST = 1.0
"""Time in which the teacher comes to rest after its last move, s."""


@dataclass(frozen=True)
class IdentityRanges:
    """What chance decides: lowest and highest value of each quantity, positions in the world frame."""

    HIDDEN_WAITS: ClassVar[tuple[str, ...]] = ("hesitation",)
    HIDDEN_CHOICES: ClassVar[tuple[str, ...]] = ("expert_speed",)

    cube_x: tuple[float, float] = (-0.012, 0.012)  # m, from the centre of its slot, at the start and when put down
    cube_y: tuple[float, float] = (-0.012, 0.012)  # m
    cube_yaw: tuple[float, float] = (-0.35, 0.35)  # rad
    home_x: tuple[float, float] = (-0.34, -0.26)  # m, tool of the waiting robot
    home_y: tuple[float, float] = (0.0, 0.1)  # m
    home_z: tuple[float, float] = (0.32, 0.4)  # m
    home_yaw: tuple[float, float] = (-0.2, 0.2)  # rad
    teacher_wait: tuple[float, float] = (0.5, 6.0)  # s, before it begins
    teacher_move: tuple[float, float] = (1.0, 1.9)  # s, each of its moves, however far it goes
    teacher_grip: tuple[float, float] = (0.45, 0.7)  # s, each time that it grips or lets go
    hesitation: tuple[float, float] = (0.1, 1.5)  # s, from the end of the shuffle until the expert moves
    expert_speed: tuple[float, float] = (0.6, 1.0)  # share of its full speed
    distractors: int = 2

    @property
    def durations(self) -> tuple[tuple[float, float], ...]:
        """Return the ranges of the durations of all segments of the shuffle, s."""
        legs = [self.teacher_move, self.teacher_grip] * _GRIPS
        return (self.teacher_wait, *legs, self.teacher_move, (_REST, _REST))


IDENTITY_RANGES = {
    "standard": IdentityRanges(),
    "hard": IdentityRanges(
        teacher_wait=(0.5, 20.0), teacher_move=(0.8, 1.3), teacher_grip=(0.4, 0.5), hesitation=(0.1, 4.0), distractors=5
    ),
    "paper": IdentityRanges(
        teacher_wait=(1.0, 1.0), teacher_move=(2.8, 2.8), teacher_grip=(1.2, 1.2), hesitation=(0.2, 0.2), distractors=0
    ),
}

FAILURES = (
    "",
    "a cube moved before the shuffle ended",
    "the teacher dropped a cube",
    "a wrong cube lifted",
)
"""Why an episode failed, by the number in `IdentityProgress.failure`."""
_MOVED_EARLY, _DROPPED, _WRONG = 1, 2, 3


@dataclass(frozen=True)
class IdentityProgress:
    """What an episode has come to so far, each (N,).

    Attributes:
        failure: index into `FAILURES`, int32; the first failure stays.
        completed: stages reached in order, int32; never fewer, and no more after a failure.
        success: the cube that started in the middle is held up.
    """

    failure: Tensor
    completed: Tensor
    success: Tensor

    @classmethod
    def start(cls, batch: int, device: torch.device) -> IdentityProgress:
        """Return the state in which nothing has happened yet in any of `batch` environments."""
        none = torch.zeros(batch, dtype=torch.int32, device=device)
        return cls(none, none, none.bool())

    def after(
        self, ended: Tensor, astray: Tensor, robot_near: Tensor, lifted: Tensor, held_up: Tensor
    ) -> IdentityProgress:
        """Return the progress one frame on.

        Args:
            ended: (N,), the shuffle is over.
            astray: (N,), a cube is not where the shuffle has it.
            robot_near: (N,), the robot's tool is close to that cube or to the teacher's tool.
            lifted: (N, 3), each cube is off the table.
            held_up: (N, 3), each cube is in the robot's grip above the height of success.
        """
        early = astray & ~ended
        wrong = lifted.clone()
        wrong[:, MIDDLE] = False
        now = torch.where(ended & wrong.any(dim=1), _WRONG, 0)
        now = torch.where(early, torch.where(robot_near, _MOVED_EARLY, _DROPPED), now)
        failure = torch.where(self.failure > 0, self.failure, now.to(torch.int32))
        success = ended & held_up[:, MIDDLE] & (failure == 0)
        reached = torch.where(failure > 0, 0, ended.int() + success.int())
        return IdentityProgress(failure, torch.maximum(self.completed, reached).to(torch.int32), success)

    def restarted(self, index: Tensor) -> IdentityProgress:
        """Return the same with the environments in `index` at their start again."""
        return with_rows(self, index, IdentityProgress.start(len(index), index.device))
