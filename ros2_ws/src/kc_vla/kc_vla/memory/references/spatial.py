"""How known things stand to one another, from their poses and sizes, also as seen from a viewpoint.

Left, right, in front and behind are those of the one who looks: "in front of the mug" is between the viewer and the
mug, whatever side the mug has a handle on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import NamedTuple

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import Vector
from kc_vla.memory.long_term.relations import NEXT_TO_M, Boxed, gap_m
from kc_vla.memory.references.closeness import around, with_nearest
from kc_vla.memory.references.holders import Holders
from kc_vla.memory.things import KnownThing


class Spatial(Enum):
    """How a thing stands to another one."""

    LEFT_OF = "left of"
    RIGHT_OF = "right of"
    IN_FRONT_OF = "in front of"
    BEHIND = "behind"
    NEXT_TO = "next to"
    ON = "on"
    IN = "in"
    UNDER = "under"
    ABOVE = "above"
    NEAREST = "nearest to"
    FARTHEST = "farthest from"
    BETWEEN = "between"


DIRECTIONAL = frozenset({Spatial.LEFT_OF, Spatial.RIGHT_OF, Spatial.IN_FRONT_OF, Spatial.BEHIND})
"""Relations that hold only as seen from somewhere."""
REACH_M = 3.0
"""No thing is left of another one, or above it, across a wider gap."""
_LEVEL_M, _OVERLAP_M, _LEAST_M = 1.0, 0.05, 0.02
"""Between two heights at which one is still beside the other; by which noisy boxes may overlap; least offset."""
_SLACK_M, _SHARE_OF_SIZE = 0.3, 0.5
"""Allowed for an unknown size, things on one holder, and heights; how far "next to" reaches, as a share of the size."""
_ENCLOSED_M, _HOLDER_M, _ASIDE = 1.0, 1.0, 0.2
"""Added to the distance of what is in something else; to that of what the other thing is on or in, which is no
neighbor; weight of an offset across the direction."""
_MIDDLE, _CORRIDOR = 0.1, 0.3
"""Ends of the line between two things that are not between them; half width of the way, as a share of its length."""

_MOST_OTHERS, _MOST_PAIRS = 300, 100
"""Others from which pairs are made, and the pairs, the nearest to one another first, that something may be between."""

_ANOTHER_FLOOR_M, _STOREY_M = 10.0, 2.2
"""Added to the distance of a thing that is on another floor: so far above or below, it is."""

_Measure = Callable[[KnownThing], float | None]
"""How far a thing is from ideal for a relation, m; None where it does not stand in it."""


@dataclass(frozen=True)
class Viewpoint:
    """Where one looks from and whereto, in the frame of the map.

    Attributes:
        position: of the viewer, m.
        direction: of the look, of any length; (0, 0, 0) looks at each thing that another one is compared with.
    """

    position: Vector
    direction: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        values = (*self.position, *self.direction)
        if len(values) != 6 or not all(map(math.isfinite, values)):
            raise GraphError("a viewpoint whose position or direction is no number: give x, y, z of both, in m")


def looking(position: Vector, yaw: float) -> Viewpoint:
    """Return the viewpoint of one who looks ahead, e.g. of a robot: yaw in rad, 0 along x, growing to the left."""
    return Viewpoint(position, (math.cos(yaw), math.sin(yaw), 0.0))


@dataclass(frozen=True)
class _Point:
    """A place without an extent."""

    position: Vector
    size: Vector = (0.0, 0.0, 0.0)


class InRelation(NamedTuple):
    """A thing that stands in a relation.

    Attributes:
        far_m: how far it is from ideal for that relation, m; the nearest one has the least.
        thing: that does.
        to: ids of what it stands so to: of one thing, or of the two that it is between; empty for the viewer.
    """

    far_m: float
    thing: KnownThing
    to: tuple[str, ...] = ()


def related(
    things: Sequence[KnownThing],
    relation: Spatial,
    others: Sequence[KnownThing],
    viewpoint: Viewpoint | None = None,
) -> list[KnownThing]:
    """Return the things that stand in a relation to one of the others, the best first; see `measured`."""
    return [each.thing for each in measured(things, relation, others, viewpoint)]


def measured(
    things: Sequence[KnownThing],
    relation: Spatial,
    others: Sequence[KnownThing],
    viewpoint: Viewpoint | None = None,
) -> list[InRelation]:
    """Return the things that stand in a relation to one of the others, the best first, with how well they do.

    Args:
        things: to choose from.
        relation: asked for.
        others: of which any will do, never among the result. `BETWEEN` takes pairs of them, of two types where there
            are two. Without others, what is nearest, farthest or to one side of the viewpoint itself is meant.
        viewpoint: needed for left, right, in front and behind.

    Raises:
        GraphError: the relation needs a viewpoint, or others, that are not given.
    """
    given = {each.object_id for each in others}
    chosen = [each for each in things if each.object_id not in given]
    holders = Holders((*things, *others))
    if relation in DIRECTIONAL and viewpoint is None:
        raise GraphError(
            f"{relation.value!r} depends on where one looks from: name a viewpoint, "
            'for example "seen from the door" or --from ID'
        )
    if relation is Spatial.BETWEEN:
        found = _between(chosen, _pairs(others), holders)
    elif others:
        found = _compared(chosen, relation, others, viewpoint, holders)
    elif relation in (*DIRECTIONAL, Spatial.NEAREST, Spatial.FARTHEST):
        measure = _from_viewpoint(relation, viewpoint)
        found = [InRelation(far, each) for each in chosen if (far := measure(each)) is not None]
    else:
        found = []
    return sorted(found, key=lambda each: (each.far_m, -each.thing.confidence, each.thing.object_id))


def _compared(
    things: Sequence[KnownThing],
    relation: Spatial,
    others: Sequence[KnownThing],
    viewpoint: Viewpoint | None,
    holders: Holders,
) -> list[InRelation]:
    """Return the things that stand in a relation to one of the others."""
    compare: dict[Spatial, Callable[[KnownThing, KnownThing], float | None]] = {
        Spatial.NEXT_TO: lambda one, other: _next_to(one, other, holders),
        Spatial.ON: lambda one, other: _held(one, other, "on", holders),
        Spatial.IN: lambda one, other: _held(one, other, "in", holders),
        Spatial.UNDER: lambda one, other: _under(one, other, holders),
        Spatial.ABOVE: lambda one, other: None if holders.link(one, other)[0] else _below(other, one),
        Spatial.NEAREST: lambda one, other: _distance_m(one, other) + _HOLDER_M * bool(holders.link(other, one)[0]),
        Spatial.FARTHEST: lambda one, other: -_distance_m(one, other),
    }
    if viewpoint is not None:
        compare |= {each: _beside(each, viewpoint, holders) for each in DIRECTIONAL}
    reach = math.inf if relation in (Spatial.NEAREST, Spatial.FARTHEST) else REACH_M
    best = max if relation is Spatial.FARTHEST else min
    found = []
    for each, near in with_nearest(things, others, reach):
        fars = ((far, other.object_id) for other in near if (far := compare[relation](each, other)) is not None)
        if (one := best(fars, default=None)) is not None:
            found.append(InRelation(one[0], each, (one[1],)))
    return found


def _from_viewpoint(relation: Spatial, viewpoint: Viewpoint | None) -> _Measure:
    if viewpoint is None:
        raise GraphError(f"{relation.value!r} what? name another thing, or a viewpoint (--from ID)")
    here = _Point(viewpoint.position)
    if relation is Spatial.NEAREST:
        return lambda thing: _distance_m(thing, here)
    if relation is Spatial.FARTHEST:
        return lambda thing: -_distance_m(thing, here)
    ahead = _unit(viewpoint.direction)
    if ahead is None:
        raise GraphError(f"{relation.value!r} of a viewer who looks nowhere: give the viewpoint a direction")
    # What a viewer has in front is on the far side of that viewer.
    turned = {Spatial.IN_FRONT_OF: Spatial.BEHIND, Spatial.BEHIND: Spatial.IN_FRONT_OF}
    axis = _axis(turned.get(relation, relation), ahead)
    return lambda thing: _along(thing, here, axis)


def _beside(
    relation: Spatial, viewpoint: Viewpoint, holders: Holders
) -> Callable[[KnownThing, KnownThing], float | None]:
    def compare(thing: KnownThing, other: KnownThing) -> float | None:
        x, y, z = (there - here for here, there in zip(viewpoint.position, other.position, strict=True))
        ahead = _unit(viewpoint.direction) or _unit((x, y, z))
        far = None if ahead is None else _along(thing, other, _axis(relation, ahead))
        return None if far is None or holders.holds(thing, other) else far + _shut(thing, other, holders)

    return compare


def _axis(relation: Spatial, ahead: tuple[float, float]) -> tuple[float, float]:
    """Return the direction in which a thing in that relation is, as seen by one who looks ahead."""
    x, y = ahead
    if relation in (Spatial.LEFT_OF, Spatial.RIGHT_OF):
        return (-y, x) if relation is Spatial.LEFT_OF else (y, -x)
    return (x, y) if relation is Spatial.BEHIND else (-x, -y)


def _along(thing: Boxed, other: Boxed, axis: tuple[float, float]) -> float | None:
    """Return how far a thing is from another one in a direction; None where it is in another direction, or too far."""
    x, y = thing.position[0] - other.position[0], thing.position[1] - other.position[1]
    along, across = x * axis[0] + y * axis[1], abs(x * axis[1] - y * axis[0])
    side = (axis[1], -axis[0])
    clear = along - _half(thing, axis) - _half(other, axis)
    aside = max(across - _half(thing, side) - _half(other, side), 0.0)
    if along < _LEAST_M or clear < -_OVERLAP_M or aside > along:
        return None
    level = max(abs(thing.position[2] - other.position[2]) - (thing.size[2] + other.size[2]) / 2, 0.0)
    gap = gap_m(thing, other)
    return gap + aside + level + _ASIDE * across if level <= _LEVEL_M and gap <= REACH_M else None


def _distance_m(thing: Boxed, other: Boxed) -> float:
    """Return the gap between two boxes, m, and more where they are on two floors."""
    apart = abs(thing.position[2] - other.position[2]) - (thing.size[2] + other.size[2]) / 2
    return gap_m(thing, other) + _ANOTHER_FLOOR_M * (apart > _STOREY_M)


def _next_to(thing: KnownThing, other: KnownThing, holders: Holders) -> float | None:
    unknown = not any(thing.size) or not any(other.size)
    loose = unknown or thing.container == other.container != ""
    reach = max(NEXT_TO_M, _SHARE_OF_SIZE * max(*thing.size, *other.size)) + _SLACK_M * loose
    gap = gap_m(thing, other)
    if gap > reach or holders.holds(thing, other):
        return None
    return gap + _shut(thing, other, holders)


def _held(thing: KnownThing, other: KnownThing, how: str, holders: Holders) -> float | None:
    relation, steps = holders.link(thing, other)
    return float(steps) if relation == how else None


def _under(thing: KnownThing, other: KnownThing, holders: Holders) -> float | None:
    if thing.container and holders.link(thing, other)[0]:
        return None
    return 0.0 if holders.link(other, thing)[0] == "on" else _below(thing, other)


def _below(thing: Boxed, other: Boxed) -> float | None:
    """Return how far below another one a thing is that is over or under it; None where it is not."""
    far = other.position[2] - thing.position[2]
    over = all(
        abs(here - there) <= max(one, extent, _SLACK_M) / 2
        for here, there, one, extent in zip(
            thing.position[:2], other.position[:2], thing.size[:2], other.size[:2], strict=True
        )
    )
    return far if over and _LEAST_M < far <= REACH_M else None


def _pairs(others: Sequence[KnownThing]) -> list[tuple[KnownThing, KnownThing]]:
    """Return the pairs that something can be between: of two types, if there are."""
    pairs = list(combinations(others[:_MOST_OTHERS], 2))
    if not pairs:
        raise GraphError("between what? name two things, or several of one kind")
    mixed = [(one, other) for one, other in pairs if one.object_type != other.object_type]
    return sorted(mixed or pairs, key=lambda pair: math.dist(pair[0].position, pair[1].position))[:_MOST_PAIRS]


def _between(
    things: Sequence[KnownThing], pairs: Sequence[tuple[KnownThing, KnownThing]], holders: Holders
) -> list[InRelation]:
    """Return the things between two of a pair, each for its best pair."""
    best: dict[str, InRelation] = {}
    for one, other in pairs:
        for thing in around(things, one, other):
            far = _middle(thing, one, other, holders)
            if far is not None and far < best.get(thing.object_id, InRelation(math.inf, thing)).far_m:
                best[thing.object_id] = InRelation(far, thing, (one.object_id, other.object_id))
    return list(best.values())


def _middle(thing: KnownThing, one: KnownThing, other: KnownThing, holders: Holders) -> float | None:
    (x, y, _), (left, top, _) = one.position, other.position
    length = math.hypot(left - x, top - y)
    if length < _LEAST_M or holders.holds(thing, one) or holders.holds(thing, other):
        return None
    dx, dy = (left - x) / length, (top - y) / length
    along = ((thing.position[0] - x) * dx + (thing.position[1] - y) * dy) / length
    across = abs((thing.position[0] - x) * dy - (thing.position[1] - y) * dx)
    aside = max(across - _half(thing, (dy, -dx)), 0.0)
    height = one.position[2] + along * (other.position[2] - one.position[2])
    level = abs(thing.position[2] - height) - (thing.size[2] + max(one.size[2], other.size[2])) / 2
    if not _MIDDLE <= along <= 1 - _MIDDLE or aside > _CORRIDOR * length or level > _SLACK_M:
        return None
    return length + across + abs(along - 0.5) * length + 2 * max(level, 0.0)


def _shut(thing: KnownThing, other: KnownThing, holders: Holders) -> float:
    """Return what is added to the distance of a thing that is in something that the other one is not in."""
    return _ENCLOSED_M * (holders.enclosure(thing) not in ("", holders.enclosure(other)))


def _half(box: Boxed, axis: tuple[float, float]) -> float:
    """Return half the extent of a box in a horizontal direction, m."""
    return (box.size[0] * abs(axis[0]) + box.size[1] * abs(axis[1])) / 2


def _unit(direction: Vector) -> tuple[float, float] | None:
    """Return the horizontal part of a direction, of length 1; None where there is none."""
    length = math.hypot(direction[0], direction[1])
    return None if length < 1e-9 else (direction[0] / length, direction[1] / length)
