"""Two floors of a house, one above the other, with stairs between their halls.

The stairs are left of the halls, which are open to them: a landing on each floor, and the staircase beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from kc_vla_sim.household.floor_plan import FloorArea, FloorPlan, Stairs, Vector, Wall
from kc_vla_sim.household.layout import HALL, HALL_M, RoomPlan, lay_out
from kc_vla_sim.household.types import ThingType

STOREY_M = 3.0
"""From the ground of a floor to that of the next one."""
_LANDING_M, _STAIRS_M, _SLOPE_DEG = 1.2, 2.4, 30.0
"""Lengths of landing and staircase along x, and the slope of the stairs."""
Rooms = Sequence[tuple[str, Sequence[ThingType]]]


class Staircase(NamedTuple):
    """One end of the stairs, as one sees it from a floor.

    Attributes:
        area: the landing.
        anchor: the middle of its foot, m.
        size: along the axes, m.
    """

    area: str
    anchor: Vector
    size: Vector


def lay_out_house(floors: Mapping[str, Rooms]) -> tuple[FloorPlan, list[RoomPlan], list[Staircase]]:
    """Lay out floors of at least two rooms each, the lowest first.

    Args:
        floors: by their names the rooms of each, as for `lay_out`.
    """
    areas: dict[str, FloorArea] = {}
    walls: dict[str, Sequence[Wall]] = {}
    plans: list[RoomPlan] = []
    staircases: list[Staircase] = []
    for number, (floor, rooms) in enumerate(floors.items()):
        height_m = number * STOREY_M
        plan, some = lay_out(rooms, floor, height_m, len(areas))
        hall = min((each for each in plan.areas.values() if each.room == HALL), key=lambda each: each.position[0])
        landing = FloorArea(
            f"area_{len(areas) + len(plan.areas)}",
            HALL,
            (-_LANDING_M / 2, -HALL_M / 2, height_m),
            (hall.id,),
            floor,
        )
        areas |= {**plan.areas, hall.id: replace(hall, adjacent=(*hall.adjacent, landing.id)), landing.id: landing}
        walls[floor] = _opened(plan.walls[floor])
        plans += some
        tall = STOREY_M - 0.2 if number + 1 < len(floors) else 1.0  # on the top floor one sees its railing
        middle = (-_LANDING_M - _STAIRS_M / 2, -HALL_M / 2, height_m)
        staircases.append(Staircase(landing.id, middle, (_STAIRS_M, HALL_M / 2, tall)))
    length_m = round(STOREY_M / math.sin(math.radians(_SLOPE_DEG)), 2)
    pairs = pairwise(staircases)
    return FloorPlan(areas, walls, [Stairs(low.area, high.area, length_m) for low, high in pairs]), plans, staircases


def _opened(walls: Sequence[Wall]) -> list[Wall]:
    """Return the walls of a floor without the left one of the hall, with those around the stairs."""
    end, left = ((0.0, 0.0), (0.0, -HALL_M)), -_LANDING_M - _STAIRS_M
    around = [(0.0, 0.0), (left, 0.0), (left, -HALL_M), (0.0, -HALL_M)]
    return [*(each for each in walls if each != end), *pairwise(around)]
