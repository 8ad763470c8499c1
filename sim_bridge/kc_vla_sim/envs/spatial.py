"""Rules and chance of the spatial task, as plain functions on batches of N environments. World frame.

The cubes are numbered by the level at which they began: 0 bottom, 1 middle, 2 top. The stack and the two places aside
are one draw of three places that may be exchanged, so that no place tells which cube it was for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from kc_vla_sim.envs.batches import with_rows
from kc_vla_sim.envs.cube_stack import BOTTOM, LEVELS, MIDDLE, TABLE, TOP, Cubes
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.envs.stack_faults import RIGHT, find_fault

Range = tuple[float, float]

STAGES = 4
"""Top put aside, middle put aside, bottom put on middle, top put on that."""
RISEN = 0.01
"""A cube has left its place once it is so much higher than where it began, m."""
STILL_MOVE = 0.0005
"""A cube is still in a frame in which its center moved less than this, m ..."""
STILL_FRAMES = 5
"""... and at rest after so many still frames on end."""
HAND_ROOM = (0.078, 0.138)
"""Places further apart than this across, or along, the line between the fingers leave room for the hand, m."""


@dataclass(frozen=True)
class SpatialRanges:
    """What chance decides: lowest and highest value of each quantity."""

    HIDDEN_WAITS: ClassVar[tuple[str, ...]] = ("start_wait", "home_wait")

    place_x: Range = (-0.2, 0.0)  # m, of the stack and of the places aside
    place_y: Range = (-0.15, 0.15)  # m
    place_yaw: Range = (-0.3, 0.3)  # rad
    start_noise: float = 0.02  # rad, either way, each arm joint
    # The way of the hand shifts the elbow a little, which would tell where it put the last cube: chance drowns that.
    start_swivel: Range = (-0.5, 0.5)  # rad of the first joint, of the elbow about the line from shoulder to wrist
    start_wait: Range = (0.0, 4.0)  # s, before the expert begins
    home_x: Range = (-0.2, -0.12)  # m, of the tool between taking apart and rebuilding
    home_y: Range = (-0.06, 0.06)  # m
    home_z: Range = (0.24, 0.3)  # m
    home_yaw: Range = (-0.4, 0.4)  # rad
    home_wait: Range = (1.0, 6.0)  # s at rest there
    travel_speed: Range = (0.018, 0.03)  # m per step
    lower_speed: Range = (0.015, 0.025)  # m per step
    distractors: int = 2


SPATIAL_RANGES = {
    "standard": SpatialRanges(),
    "hard": SpatialRanges(
        place_x=(-0.23, 0.02),
        place_y=(-0.2, 0.2),
        place_yaw=(-0.4, 0.4),
        start_wait=(0.0, 8.0),
        home_wait=(1.0, 12.0),
        travel_speed=(0.024, 0.036),
        lower_speed=(0.02, 0.03),
        distractors=5,
    ),
    "paper": SpatialRanges(
        place_x=(-0.15, -0.05),
        place_y=(-0.1, 0.1),
        place_yaw=(-0.2, 0.2),
        start_wait=(0.0, 0.5),
        home_wait=(1.0, 1.5),
        distractors=0,
    ),
}


def apart(places: Tensor) -> Tensor:
    """Return whether the hand has room at each of the three `places` (..., 3, 3) beside the others.

    A place is x, y (m) and yaw (rad).

    At a place with that yaw, the palm is lower than a stack of two cubes, so it must pass beside one at any other.
    """
    gap = places[..., None, :, :2] - places[..., :, None, :2]
    cosine, sine = torch.cos(places[..., 2])[..., None], torch.sin(places[..., 2])[..., None]
    across = (cosine * gap[..., 0] + sine * gap[..., 1]).abs()
    along = (cosine * gap[..., 1] - sine * gap[..., 0]).abs()
    room = (across > HAND_ROOM[0]) | (along > HAND_ROOM[1])
    itself = torch.eye(3, dtype=torch.bool, device=places.device)
    return (room | itself).all(dim=-1).all(dim=-1)


def first_apart(candidates: Tensor) -> Tensor:
    """Return the first three places (N, 3, 3) of each environment that lie apart, out of `candidates` (N, K, 3, 3).

    Raises:
        ValueError: an environment has none.
    """
    good = apart(candidates)
    if not bool(good.any(dim=1).all()):
        raise ValueError("no room for three places in this area: widen place_x or place_y, or narrow place_yaw")
    chosen = good.to(torch.int32).argmax(dim=1)
    return candidates[torch.arange(len(candidates), device=candidates.device), chosen]


@dataclass(frozen=True)
class SpatialProgress:
    """What an episode has come to so far.

    Attributes:
        completed: stages reached, in order (N,), int32; never fewer.
        left: frame (N, 3), int32, in which each cube first left its place in its turn; -1 before.
        fault: kind of failure (N,), int32; the first one stays.
        culprit: the cube that it is about, and what that stood on (N, 2), int32.
        still: frames on end in which each cube has not moved (N, 3), int32.
        seen: centers (N, 3, 3) in the last frame, m.
    """

    completed: Tensor
    left: Tensor
    fault: Tensor
    culprit: Tensor
    still: Tensor
    seen: Tensor

    @classmethod
    def start(cls, batch: int, device: torch.device) -> SpatialProgress:
        """Return the state in which nothing has happened yet in any of `batch` environments."""
        none = torch.zeros(batch, dtype=torch.int32, device=device)
        each = torch.zeros((batch, LEVELS), dtype=torch.int32, device=device)
        return cls(none, each - 1, none, each[:, :2], each, torch.zeros((batch, LEVELS, 3), device=device))

    @property
    def failed(self) -> Tensor:
        """Return whether something went wrong (N,)."""
        return self.fault != RIGHT

    @property
    def success(self) -> Tensor:
        """Return whether all stages are reached (N,); none is after a failure."""
        return self.completed == STAGES

    def after(self, frame: Tensor, cubes: Cubes) -> SpatialProgress:
        """Return the progress one frame on: `frame` (N,) shows the `cubes`."""
        moved = torch.linalg.norm(cubes.position - self.seen, dim=2)
        still = torch.where(moved < STILL_MOVE, self.still + 1, 0).to(torch.int32)
        support = torch.where((still >= STILL_FRAMES) & ~cubes.held, cubes.support, -1)

        fault, culprit = find_fault(self.completed, cubes.position, support)
        fault = torch.where(self.failed, self.fault, fault).to(torch.int32)
        culprit = torch.where(self.failed[:, None], self.culprit, culprit).to(torch.int32)
        reached = _stage_reached(self.completed, cubes, support) & (fault == RIGHT)
        completed = self.completed + reached.to(torch.int32)

        level = torch.arange(LEVELS, device=frame.device)
        risen = cubes.position[:, :, 2] > (2 * level + 1) * CUBE_HALF_SIZE + RISEN
        in_turn = completed[:, None] >= TOP - level  # the top cube first, the bottom cube after two stages
        left = torch.where(risen & in_turn & (self.left < 0), frame[:, None], self.left).to(torch.int32)
        return SpatialProgress(completed, left, fault, culprit, still, cubes.position)

    def restarted(self, index: Tensor) -> SpatialProgress:
        """Return the same with the environments in `index` at their start again."""
        return with_rows(self, index, SpatialProgress.start(len(index), index.device))


def _stage_reached(completed: Tensor, cubes: Cubes, support: Tensor) -> Tensor:
    """Return whether the stage that comes after those `completed` (N,) is reached now (N,).

    Args:
        completed: stages.
        cubes: as they are now.
        support: what each cube stands on (N, 3); -1 while it moves or is held.
    """
    on_table = support == TABLE
    swapped = on_table[:, MIDDLE] & (support[:, BOTTOM] == MIDDLE) & cubes.neighbours(BOTTOM, MIDDLE)
    conditions = (
        on_table[:, TOP] & (support[:, MIDDLE] == BOTTOM),
        on_table.all(dim=1),
        swapped,
        swapped & (support[:, TOP] == BOTTOM) & cubes.neighbours(TOP, BOTTOM),
        torch.zeros_like(swapped),  # nothing comes after the last
    )
    return torch.stack(conditions, dim=1).gather(1, completed.long()[:, None])[:, 0]


@dataclass(frozen=True)
class Pause:
    """The rest of the hand at its home pose, between taking apart and rebuilding.

    Attributes:
        rested: frames on end that it has rested there (N,), int32.
        over: frame in which it had rested for long enough (N,), int32; -1 before.
    """

    rested: Tensor
    over: Tensor

    @classmethod
    def start(cls, batch: int, device: torch.device) -> Pause:
        """Return the state in which no hand has been there yet in any of `batch` environments."""
        none = torch.zeros(batch, dtype=torch.int32, device=device)
        return cls(none, none - 1)

    def after(self, frame: Tensor, resting: Tensor, wait: Tensor) -> Pause:
        """Return the pause one frame on.

        Args:
            frame: the present one (N,).
            resting: whether the hand rests at home while the stack is apart (N,).
            wait: frames for which it is to rest (N,).
        """
        rested = torch.where(resting, self.rested + 1, 0).to(torch.int32)
        now_over = (self.over < 0) & (rested >= wait)
        return Pause(rested, torch.where(now_over, frame, self.over).to(torch.int32))

    def restarted(self, index: Tensor) -> Pause:
        """Return the same with the environments in `index` at their start again."""
        return with_rows(self, index, Pause.start(len(index), index.device))
