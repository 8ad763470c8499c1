"""Rules and chance of the temporal task, as plain functions on batches of N environments. World frame.

The cubes are numbered in the order in which they are to be lifted: 0 red, 1 green, 2 blue. A height is that of a
cube's center above the table's surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

Range = tuple[float, float]

CUBES = 3
LEAST_GAP = 0.1
"""Centers of two cubes are further apart than this at the start, m."""


@dataclass(frozen=True)
class TemporalRanges:
    """What chance decides: lowest and highest value of each quantity."""

    HIDDEN_WAITS: ClassVar[tuple[str, ...]] = ("home_wait",)
    HIDDEN_CHOICES: ClassVar[tuple[str, ...]] = ("lift_height",)

    disc_x: Range = (-0.12, -0.06)  # m, centre of the disc in which the cubes stand
    disc_y: Range = (-0.04, 0.04)  # m
    disc_radius: float = 0.1  # m
    cube_yaw: Range = (-0.7854, 0.7854)  # rad
    start_noise: float = 0.02  # rad, either way, each arm joint
    # A lift moves the elbow by about 0.01 rad for good. It begins as spread as many lifts would leave it.
    start_swivel: Range = (-0.035, 0.035)  # rad, of the elbow about the line from shoulder to hand
    home_x: Range = (-0.17, -0.09)  # m, of the tool before each lift, drawn anew for each
    home_y: Range = (-0.05, 0.05)  # m
    home_z: Range = (0.2, 0.25)  # m
    home_yaw: Range = (-0.2, 0.2)  # rad
    # The first wait is so much longer than all that follows that the time hardly tells which lift comes next.
    home_wait: tuple[Range, Range, Range] = ((0.5, 60.5), (0.5, 0.6), (0.5, 0.6))  # s at home before each lift
    lift_height: Range = (0.18, 0.205)  # m, highest point of each cube
    travel_speed: Range = (0.028, 0.033)  # m per step
    lower_speed: Range = (0.022, 0.028)  # m per step
    distractors: int = 2


TEMPORAL_RANGES = {
    "standard": TemporalRanges(),
    "hard": TemporalRanges(
        home_x=(-0.18, -0.08),
        home_y=(-0.06, 0.06),
        home_z=(0.2, 0.27),
        home_yaw=(-0.3, 0.3),
        home_wait=((0.5, 90.5), (0.5, 1.0), (0.5, 1.0)),
        lift_height=(0.18, 0.24),
        travel_speed=(0.024, 0.036),
        lower_speed=(0.018, 0.03),
        distractors=5,
    ),
    "paper": TemporalRanges(home_wait=((0.5, 1.0), (0.5, 1.0), (0.5, 1.0)), distractors=0),
}


def places_in_disc(chance: Tensor, radius: float) -> Tensor:
    """Draw places (N, 3, 2) in a disc around 0, all further apart than `LEAST_GAP`, m.

    Args:
        chance: (N, M, 3, 2) in 0..1, M candidates for each environment, of which the first good one is taken.
        radius: of the disc, m.

    Raises:
        ValueError: no candidate of an environment is good.
    """
    places = (2 * chance - 1) * radius
    gaps = torch.cdist(places, places) + torch.eye(CUBES, device=chance.device)
    inside = torch.linalg.norm(places, dim=-1) <= radius
    good = inside.all(dim=2) & (gaps > LEAST_GAP).all(dim=3).all(dim=2)
    if not good.any(dim=1).all():
        raise ValueError(f"no three places further apart than {LEAST_GAP} m were drawn: use more candidates")
    first = good.int().argmax(dim=1)
    return places[torch.arange(len(places), device=chance.device), first]
