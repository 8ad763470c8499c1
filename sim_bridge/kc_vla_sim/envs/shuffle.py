"""The teacher's way through a shuffle, as plain functions on batches of N environments.

The teacher waits, swaps cube A and cube B over a buffer place, and goes back. That is `SEGMENTS` segments, one after
the other: a wait, then moves and grips in turn, and a rest. It moves between stops; each stop is x, y, z (m) and yaw
(rad) of its tool in the world, which points straight down.

    segment   0     1   2  3   4   5   6  7   8   9   10 11  12  13  14    15
              wait  ->  g  =>  o   ->  g  =>  o   ->  g  =>  o   ->  rest  ended     (g grips, o releases, => carries)
    stop      0         1      2       3      4       5      6       7
"""

from __future__ import annotations

import torch
from torch import Tensor

from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.robot import CONTROL_RATE

SEGMENTS = 15
STOPS = 8
PUT_ASIDE = 4
"""The segment after which A stands in the buffer."""
GRASPED = 6
"""The segment after which the fingers are closed on B."""
OPEN, CLOSED = 0.04, -0.01
"""Targets of the fingers, m; closed presses on what is held."""
CARRY_HEIGHT = 0.15
"""Height of the tool between two places, m."""
_SETTLE = 4
"""Frames for which the hand stands still before its fingers move."""

_CARRIES_A = (3, 11)
_CARRIES_B = (7,)
_STOP_OF_A = torch.tensor([1, 1, 1, 1, *[2] * 8, *[6] * 4])
_STOP_OF_B = torch.tensor([*[3] * 8, *[4] * 8])
"""Stop at which the cube stands, or to which it was last carried, in each segment."""
_PAIRS = torch.tensor([(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
"""The cubes (or slots) A and B, of three in a row."""


def swapped_pair(chance: Tensor) -> Tensor:
    """Return cubes A, B and the one that stays, (N, 3), from evenly drawn `chance` (N,) in 0..1."""
    pair = _PAIRS.to(chance.device)[torch.clamp((6 * chance).long(), max=5)]
    return torch.cat([pair, 3 - pair.sum(dim=1, keepdim=True)], dim=1)


def stops(home: Tensor, start: Tensor, end: Tensor, buffer: Tensor, roles: Tensor) -> Tensor:
    """Return the stops (N, 8, 4) of a shuffle.

    Args:
        home: (N, 4), where the teacher's tool waits.
        start: (N, 3, 3), x, y, yaw of the cube in each slot at the start.
        end: (N, 3, 3), x, y, yaw at which a cube that is carried into each slot is put down.
        buffer: (N, 3), x, y, yaw of the buffer place.
        roles: (N, 3), see `swapped_pair`.
    """
    every = torch.arange(len(home), device=home.device)
    a, b = roles[:, 0], roles[:, 1]
    places = torch.stack([start[every, a], buffer, start[every, b], end[every, a], buffer, end[every, b]], dim=1)
    height = torch.full_like(places[..., :1], CUBE_HALF_SIZE)
    grasps = torch.cat([places[..., :2], height, places[..., 2:]], dim=-1)
    return torch.cat([home[:, None], grasps, home[:, None]], dim=1)


def segment_ends(durations: Tensor) -> Tensor:
    """Return the first frames (N, 15), int32, after the segments that last `durations` (N, 15), s."""
    return torch.cumsum(torch.round(durations * CONTROL_RATE), dim=1).to(torch.int32)


def segment_at(ends: Tensor, frame: Tensor) -> Tensor:
    """Return the segment (N,) that each `frame` (N,) belongs to; `SEGMENTS` once the shuffle has ended."""
    return (ends <= frame[:, None]).sum(dim=1)


def tool_path(stops: Tensor, ends: Tensor, frames: int) -> tuple[Tensor, Tensor]:
    """Return where the tool is to be in each of the first `frames` frames F.

    Returns:
        tool (N, F, 4) as in `stops`, and the fingers' target (N, F), m.
    """
    frame = torch.arange(frames, device=ends.device)
    segment = (ends[:, :, None] <= frame).sum(dim=1)
    bounds = torch.cat([torch.zeros_like(ends[:, :1]), ends, ends[:, -1:] + 1], dim=1).long()
    first, last = bounds.gather(1, segment), bounds.gather(1, torch.clamp(segment + 1, max=SEGMENTS + 1))
    elapsed = frame - first
    share = elapsed / (last - first)

    stop = torch.clamp(segment // 2, max=STOPS - 1)
    next_stop = torch.clamp((segment + 1) // 2, max=STOPS - 1)
    here, there = _at(stops, stop), _at(stops, next_stop)
    tool = here + smooth((share - 0.2) / 0.6)[..., None] * (there - here)
    top = torch.clamp(torch.maximum(here[..., 2], there[..., 2]), min=CARRY_HEIGHT)
    rising, falling = smooth(2 * share), smooth(2 - 2 * share)
    height = torch.where(
        share < 0.5, here[..., 2] + rising * (top - here[..., 2]), there[..., 2] + falling * (top - there[..., 2])
    )
    moving = (segment % 2 == 1) & (segment < SEGMENTS)
    tool = torch.where(moving[..., None], torch.cat([tool[..., :2], height[..., None], tool[..., 3:]], dim=-1), here)

    settled = elapsed >= _SETTLE
    kind = segment % 4
    holding = (kind == 3) | ((kind == 2) & settled) | ((kind == 0) & (segment > 0) & ~settled)
    return tool, torch.where(holding & (segment < SEGMENTS - 2), CLOSED, OPEN)


def smooth(share: Tensor) -> Tensor:
    """Return a number that goes from 0 to 1 while `share` does, without a jerk at either end.

    It is the motion of least jerk.
    """
    x = torch.clamp(share, 0, 1)
    return x**3 * (10 - 15 * x + 6 * x**2)


def expected_places(stops: Tensor, still: Tensor, roles: Tensor, segment: Tensor, tool: Tensor) -> Tensor:
    """Return where each of the three cubes ought to be, (N, 3, 3), m.

    Args:
        stops: (N, 8, 4).
        still: (N, 3), center of the cube that stays.
        roles: (N, 3), see `swapped_pair`.
        segment: (N,).
        tool: (N, 3), where the teacher's tool is: a carried cube is there.
    """
    device = segment.device
    index = torch.clamp(segment, max=SEGMENTS)
    resting_a = _at(stops, _STOP_OF_A.to(device)[index][:, None])[:, 0, :3]
    resting_b = _at(stops, _STOP_OF_B.to(device)[index][:, None])[:, 0, :3]
    carries_a = torch.isin(segment, torch.tensor(_CARRIES_A, device=device))
    carries_b = torch.isin(segment, torch.tensor(_CARRIES_B, device=device))
    place_a = torch.where(carries_a[:, None], tool, resting_a)
    place_b = torch.where(carries_b[:, None], tool, resting_b)
    by_role = torch.stack([place_a, place_b, still], dim=1)
    places = torch.empty_like(by_role)
    return places.scatter_(1, roles[:, :, None].expand(-1, -1, 3), by_role)


def slots_at_end(roles: Tensor) -> Tensor:
    """Return the slot (N, 3) in which each cube stands after the shuffle; cube k started in slot k."""
    swapped = roles[:, [1, 0, 2]]
    return torch.empty_like(roles).scatter_(1, roles, swapped)


def _at(stops: Tensor, index: Tensor) -> Tensor:
    """Return the stops (N, F, 4) at `index` (N, F)."""
    return stops.gather(1, index[..., None].expand(-1, -1, stops.shape[-1]))
