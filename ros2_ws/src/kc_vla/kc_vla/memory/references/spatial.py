"""How things stand to others, by their positions: left of, on, nearest, between."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from kc_vla.memory.long_term.nodes import Vector
from kc_vla.memory.things import KnownThing

_NEAR_M, _ASIDE_M, _HIGH_M = 1.5, 0.1, 0.1


class Spatial(Enum):
    """A relation of a thing to another."""

    LEFT_OF = "left of"
    RIGHT_OF = "right of"
    IN_FRONT_OF = "in front of"
    BEHIND = "behind"
    NEXT_TO = "next to"
    ON = "on"
    IN = "in"
    UNDER = "under"
    ABOVE = "above"
    NEAREST = "nearest"
    FARTHEST = "farthest"
    BETWEEN = "between"


@dataclass(frozen=True)
class Viewpoint:
    """Where one looks from and whereto, in the map, m."""

    position: Vector
    direction: Vector


def related(
    things: Sequence[KnownThing], relation: Spatial, others: Sequence[KnownThing], viewpoint: Viewpoint | None
) -> list[KnownThing]:
    """Return the things that stand in a relation to others, best first; the others are never among them.

    Args:
        things: that may.
        relation: to the others.
        others: one; of `BETWEEN` two. Of `NEAREST` and `FARTHEST` none: then it is to the viewpoint.
        viewpoint: for left, right, front and behind; nothing stands so without one.
    """
    known = {each.object_id for each in others}
    rest = [each for each in things if each.object_id not in known]
    if relation in (Spatial.NEAREST, Spatial.FARTHEST):
        points = [each.position for each in others] or ([viewpoint.position] if viewpoint else [])
        far = [(min(math.dist(each.position, point) for point in points), each) for each in rest if points]
        return [each for _, each in sorted(far, key=lambda pair: pair[0], reverse=relation is Spatial.FARTHEST)]
    found = [(score, each) for each in rest if (score := _score(each, relation, others, viewpoint)) is not None]
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def _score(
    thing: KnownThing, relation: Spatial, others: Sequence[KnownThing], viewpoint: Viewpoint | None
) -> float | None:
    if relation in (Spatial.ON, Spatial.IN):
        held = thing.container in {each.object_id for each in others} and thing.relation == relation.value
        return 0.0 if held else None
    if relation is Spatial.BETWEEN:
        return _between(thing, others) if len(others) > 1 else None
    scores = [_to(thing, relation, other, viewpoint) for other in others]
    return min((each for each in scores if each is not None), default=None)


def _between(thing: KnownThing, others: Sequence[KnownThing]) -> float | None:
    (ax, ay, _), (bx, by, _), (x, y, _) = others[0].position, others[1].position, thing.position
    length = math.dist((ax, ay), (bx, by))
    if not length:
        return None
    along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length**2
    off = abs((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length
    return off if 0.1 < along < 0.9 and off < length / 2 else None


def _to(thing: KnownThing, relation: Spatial, other: KnownThing, viewpoint: Viewpoint | None) -> float | None:
    dx, dy, dz = (one - two for one, two in zip(thing.position, other.position, strict=True))
    flat = math.hypot(dx, dy)
    if flat > _NEAR_M or other.object_id == thing.container or other.container == thing.object_id:
        return None
    if relation is Spatial.NEXT_TO:
        return flat
    if relation in (Spatial.UNDER, Spatial.ABOVE):
        high = dz if relation is Spatial.ABOVE else -dz
        return flat if high > _HIGH_M and flat < _NEAR_M / 2 else None
    return None if viewpoint is None else _seen_from(dx, dy, relation, viewpoint)


def _seen_from(dx: float, dy: float, relation: Spatial, viewpoint: Viewpoint) -> float | None:
    lx, ly, _ = viewpoint.direction
    length = math.hypot(lx, ly)
    if not length:
        return None
    ahead, left = (dx * lx + dy * ly) / length, (dy * lx - dx * ly) / length
    sides: dict[Spatial, Callable[[], tuple[float, float]]] = {
        Spatial.LEFT_OF: lambda: (left, ahead),
        Spatial.RIGHT_OF: lambda: (-left, ahead),
        Spatial.BEHIND: lambda: (ahead, left),
        Spatial.IN_FRONT_OF: lambda: (-ahead, left),
    }
    along, aside = sides[relation]()
    return math.hypot(along, aside) if along > _ASIDE_M and along > abs(aside) / 2 else None
