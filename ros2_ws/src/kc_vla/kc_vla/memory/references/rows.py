"""Places in a row of things: the one in the middle, the one on the left, the one on the right."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum

import numpy as np

from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.things import KnownThing

_ASIDE, _END, _APART_M = 0.15, 0.25, 0.02
"""How far a thing of a row may be off its line, and the middle one from an end, as shares of the row's length; least
distance of the outermost thing from the next one, m."""
_OF_THEM = r"(?: of (?:the )?(?:row|line|stack|tower|three|five|them|all))?"


class RowPlace(Enum):
    """Which thing of a row."""

    MIDDLE = "in the middle"
    LEFT = "on the left"
    RIGHT = "on the right"


_END_OF_ROW = r"(?:most)?(?:[- ]hand)?(?: (?:side|end|place))?"
_WORDS = (
    (RowPlace.MIDDLE, rf"(?:in|at) the (?:very )?(?:middle|cent(?:er|re))(?: (?:place|position|slot))?{_OF_THEM}"),
    (RowPlace.LEFT, rf"(?:on|at|to|in) the (?:far |very )?left{_END_OF_ROW}{_OF_THEM}"),
    (RowPlace.RIGHT, rf"(?:on|at|to|in) the (?:far |very )?right{_END_OF_ROW}{_OF_THEM}"),
)
_PATTERNS = tuple((place, re.compile(f"^{pattern}$")) for place, pattern in _WORDS)


def row_place(text: str) -> RowPlace | None:
    """Return the place in a row that a text names: "in the middle"; None where it names none."""
    return next((place for place, pattern in _PATTERNS if pattern.match(text)), None)


def in_row(things: Sequence[KnownThing], place: RowPlace, viewpoint: Viewpoint | None = None) -> KnownThing | None:
    """Return the thing at a place of a row; None where the things make no such row, or nobody can tell.

    Args:
        things: of the row, with their positions, m.
        place: that is asked for.
        viewpoint: from which left and right are; the middle needs none.
    """
    return _middle(things) if place is RowPlace.MIDDLE else _outermost(things, place, viewpoint)


def alike(things: Sequence[KnownThing]) -> list[KnownThing]:
    """Return the things of the only type of which three or more can be carried; all of them where there is none."""
    by_type = defaultdict(list)
    for each in things:
        if each.movable:
            by_type[each.object_type].append(each)
    rows = [some for some in by_type.values() if len(some) > 2]
    return rows[0] if len(rows) == 1 else list(things)


def _middle(things: Sequence[KnownThing]) -> KnownThing | None:
    if len(things) < 3 or not len(things) % 2:
        return None
    places = np.array([each.position for each in things], float)
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    one, other = np.unravel_index(int(apart.argmax()), apart.shape)
    length = float(apart[one, other])
    if length < _APART_M:
        return None
    line = (places[other] - places[one]) / length
    along = (places - places[one]) @ line
    aside = np.linalg.norm(places - places[one] - along[:, None] * line, axis=1)
    middle = int(np.argsort(along)[len(things) // 2])
    if aside.max() > _ASIDE * length or not _END <= along[middle] / length <= 1 - _END:
        return None
    return things[middle]


def _outermost(things: Sequence[KnownThing], place: RowPlace, viewpoint: Viewpoint | None) -> KnownThing | None:
    if len(things) < 2 or viewpoint is None:
        return None
    center = np.mean([each.position for each in things], axis=0)
    x, y = viewpoint.direction[:2] if any(viewpoint.direction[:2]) else (center - viewpoint.position)[:2]
    length = math.hypot(x, y)
    if length < 1e-9:
        return None
    side = 1.0 if place is RowPlace.LEFT else -1.0
    left = [side * (-y * each.position[0] + x * each.position[1]) / length for each in things]
    first, second = sorted(range(len(things)), key=lambda at: -left[at])[:2]
    return things[first] if left[first] - left[second] >= _APART_M else None
