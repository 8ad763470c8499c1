"""What the tour of a kitchen does with things: which of them, and where to. In the frame of the arm's base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.furniture import StorageSpace
from kc_vla_sim.kitchen.kinds import DRAWER, ThingKind
from kc_vla_sim.kitchen.placed import PlacedFurniture
from kc_vla_sim.kitchen.stocking import MARGIN

GRASPED_WIDTH = 0.071
"""The arm takes things that are no wider than this, m."""
FINGER_DEPTH, LOWEST_GRASP = 0.035, 0.011
"""It takes them so far below their top, and no lower than this above the worktop, m."""
_ROUND = 0.93
"""What is as wide as this share of its length can be taken from any side."""
_CLEARANCE = 0.03
"""Around a thing that the arm takes or puts down, m ..."""
_LESS_CLEARANCE = 0.003
"""... and where there is no such place."""
_MOVED = 0.1
"""A thing is moved at least so far, m."""
_TRIES = 1000
_RIM, _PUT_RIM = (0.32, 0.64), (0.34, 0.58)
"""Between these distances from the base's axis the arm takes things, and puts them down, m."""


@dataclass(frozen=True)
class StandingThing:
    """A thing as it stands now.

    Attributes:
        thing_id: its id.
        kind: what it is.
        x: of its middle, m.
        y: of that, m.
        z: of that, m.
        yaw: rad.
        size: m.
        place: "on worktop", "in drawer_1".
    """

    thing_id: str
    kind: ThingKind
    x: float
    y: float
    z: float
    yaw: float
    size: tuple[float, float, float]
    place: str

    @property
    def footprint(self) -> Footprint:
        """Return what it covers."""
        return Footprint(self.x, self.y, self.size[0], self.size[1], self.yaw)


def things_for_drawer(things: Sequence[StandingThing], space: StorageSpace) -> list[StandingThing]:
    """Return the things outside of drawers and doors that fit into a drawer, the smallest first."""
    outside = [each for each in things if each.place.startswith("on ") and DRAWER in each.kind.places]
    fitting = [each for each in outside if each.size[2] < space.extent[2] and max(each.size[:2]) < space.extent[1]]
    return sorted(fitting, key=lambda each: each.size[0] * each.size[1])


def things_for_arm(things: Sequence[StandingThing], furniture: Sequence[PlacedFurniture]) -> list[StandingThing]:
    """Return the things on the worktop that the arm can take from above, the nearest to the middle first."""
    found = []
    for each in sorted(things, key=lambda thing: abs(np.hypot(thing.x, thing.y) - 0.45)):
        others = [other.footprint for other in things if other is not each]
        free = not each.footprint.grown(_CLEARANCE).overlaps_any([*others, *(unit.footprint for unit in furniture)])
        near = _RIM[0] < np.hypot(each.x, each.y) < _RIM[1] and each.x > -0.05
        if each.place == "on worktop" and min(each.size[:2]) < GRASPED_WIDTH and each.kind.graspable and near and free:
            found.append(each)
    return found


def spot_in(
    space: StorageSpace, size: tuple[float, float, float], taken: Sequence[Footprint], seed: int
) -> Footprint | None:
    """Return a free place in a space, in the frame of what it moves with; None where there is hardly one.

    Args:
        space: of furniture.
        size: of the thing, m.
        taken: what is covered already, in that frame.
        seed: of the draw.
    """
    chance = np.random.default_rng(seed)
    low, high = np.array(space.low[:2]), np.array(space.high[:2])
    for _ in range(_TRIES):
        x, y = chance.uniform(low, high)
        yaw = float(chance.choice([0, np.pi / 2]))
        spot = Footprint(float(x), float(y), size[0] + 0.01, size[1] + 0.01, yaw)
        if spot.within((low[0], low[1]), (high[0], high[1])) and not spot.overlaps_any(taken):
            return spot
    return None


def spot_on_worktop(
    thing: StandingThing, things: Sequence[StandingThing], furniture: Sequence[PlacedFurniture], seed: int
) -> Footprint | None:
    """Return a free place on the worktop, not near to where the thing is; None where there is hardly one."""
    chance = np.random.default_rng(seed)
    blocked = [other.footprint.grown(MARGIN) for other in things if other is not thing]
    blocked += [unit.kept_free for unit in furniture]
    for clearance in (_CLEARANCE, _LESS_CLEARANCE):
        for _ in range(_TRIES):
            distance, angle = chance.uniform(*_PUT_RIM), chance.uniform(-1.7, 1.7)
            x, y = float(distance * np.cos(angle)), float(distance * np.sin(angle))
            spot = Footprint(x, y, thing.size[0], thing.size[1], thing.yaw)
            far = np.hypot(x - thing.x, y - thing.y) > _MOVED
            if far and not spot.grown(clearance).overlaps_any(blocked):
                return spot
    return None


def grasp_yaw(thing: StandingThing) -> float:
    """Return the yaw of a hand whose fingers close on the narrow side of a thing, nearest to the hand's own, rad."""
    ahead = float(np.arctan2(thing.y, thing.x))
    if min(thing.size[:2]) > _ROUND * max(thing.size[:2]):
        return ahead
    across = thing.yaw if thing.size[1] <= thing.size[0] else thing.yaw + np.pi / 2
    return ahead + float((across - ahead + np.pi / 2) % np.pi - np.pi / 2)
