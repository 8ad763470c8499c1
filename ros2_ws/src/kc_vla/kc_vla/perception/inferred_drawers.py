"""Drawers that a detector has missed: a bar on a cabinet is the handle of one.

The bars are measured by depth. The size of a drawer that was missed is that of another one of the cabinet, or follows
from the cabinet and the distance between its bars.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from kc_vla.memory.long_term.detections import plain_type
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import PART, WHOLE, Front
from kc_vla.perception.located_object import LocatedObject

_SAME_WAY, _NEAR = 0.9, 1.5
"""Cosine between the directions in which two fronts of a cabinet look; and how far from its middle its drawers are, for
its largest side."""
_SAME_M = 0.03
"""Two bars that are no further apart are one, m."""
_BELOW_TOP_M = 0.007
"""A bar is so far below the top of its drawer, m."""
_BEFORE, _ASIDE = (0.7, 0.3), 0.35
"""A bar is further before the middle of its cabinet than this share of half of its depth, and no further before its
front than the second, m; and no further aside than this share of its width."""
_SHARE = 0.5
"""Height of a drawer for that of a cabinet in which no two bars were seen."""
_SHUT_M = 0.02
"""A drawer is open when it is further before where it is shut than this, m."""
_MOST_OPEN = 0.65
"""Share of the depth of a cabinet, as it was located with an open drawer, that is before its front at most."""
_SURE, _SIGMA_M = 0.8, 0.015
"""Confidence in such a drawer, for that in the cabinet; and the standard deviation of its place, m."""
_CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
_LEAST_PX = 1.0


def with_own_fronts(seen: Sequence[LocatedObject]) -> list[LocatedObject]:
    """Return what an image shows, its drawers without fronts that look another way than that of their cabinet.

    What stands beside a drawer, such as an open door, can be in its box. Where the front of the cabinet is not seen,
    those of its other drawers count.
    """
    fronts = _with_front(seen, WHOLE) or _with_front(seen, PART)

    def is_own(drawer: LocatedObject, front: Front) -> bool:
        near = [
            own
            for each, own in fronts
            if own is not front and math.dist(each.position[:2], drawer.position[:2]) < _NEAR * max(each.size)
        ]
        return not near or any(math.cos(own.yaw - front.yaw) > _SAME_WAY for own in near)

    strays = {id(each) for each, front in _with_front(seen, PART) if not is_own(each, front)}
    return [replace(each, front=None) if id(each) in strays else each for each in seen]


def _with_front(seen: Iterable[LocatedObject], kind: str) -> list[tuple[LocatedObject, Front]]:
    return [(each, each.front) for each in seen if plain_type(each.object_type) == kind and each.front is not None]


def inferred_drawers(frame: CameraFrame, seen: Sequence[LocatedObject]) -> list[LocatedObject]:
    """Return the drawers whose bars an image shows, and which the detector has not found.

    Args:
        frame: the image.
        seen: what was found in it.
    """
    drawers = [each for each in seen if plain_type(each.object_type) == PART]
    found = list[LocatedObject]()
    for cabinet in seen:
        if plain_type(cabinet.object_type) != WHOLE or cabinet.front is None or cabinet.faint:
            continue
        bars = [each for each in (cabinet.front, *cabinet.others) if _is_of(cabinet, each)]
        for front in bars:
            if not any(_has(each, front) for each in (*drawers, *found)):
                found.append(_drawer(frame, cabinet, front, bars, drawers))
    return found


def _is_of(cabinet: LocatedObject, front: Front) -> bool:
    """Return whether a bar is that of a drawer of a cabinet: before it, and not beside it."""
    if front.standing:
        return False
    out = np.array([np.cos(front.yaw), np.sin(front.yaw)])
    deep, wide = float(np.abs(out) @ cabinet.size[:2]), float(np.abs(out[::-1]) @ cabinet.size[:2])
    away = np.subtract(front.bar, cabinet.position)
    ahead, aside = float(away[:2] @ out), abs(float(away[0] * out[1] - away[1] * out[0]))
    before = _BEFORE[0] * deep / 2 < ahead < deep / 2 + _BEFORE[1]
    return before and aside < _ASIDE * wide and abs(float(away[2])) < cabinet.size[2] / 2 + _SAME_M


def _has(drawer: LocatedObject, front: Front) -> bool:
    """Return whether a bar is that of a drawer: the one that was seen there, or one that would be in its box."""
    if drawer.front is not None:
        return math.dist(drawer.front.bar, front.bar) < _SAME_M
    middle, half = np.asarray(drawer.position), np.asarray(drawer.size) / 2
    apart = np.abs(np.subtract(front.bar, middle))
    return bool((apart[:2] < half[:2] + front.standoff + _SAME_M).all() and apart[2] < half[2] + _SAME_M)


def _drawer(
    frame: CameraFrame,
    cabinet: LocatedObject,
    front: Front,
    bars: Sequence[Front],
    drawers: Iterable[LocatedObject],
) -> LocatedObject:
    """Return the drawer that a bar belongs to."""
    out = np.array([np.cos(front.yaw), np.sin(front.yaw)])
    size = _size_of(cabinet, front, bars, drawers)
    deep = float(np.abs(out) @ size[:2])
    x, y = (np.array(front.bar[:2]) - (front.standoff + deep / 2) * out).tolist()
    z = front.bar[2] + _BELOW_TOP_M - size[2] / 2
    state = "" if front.opening is None else "opened" if front.opening > _SHUT_M else "closed"
    box = frame.box_around(np.array([x, y, z]) + _CORNERS * np.array(size), _LEAST_PX) or cabinet.box
    return LocatedObject(PART, (x, y, z), size, _SURE * cabinet.confidence, _SIGMA_M, box, state, front=front)


def _size_of(
    cabinet: LocatedObject, front: Front, bars: Sequence[Front], drawers: Iterable[LocatedObject]
) -> tuple[float, float, float]:
    """Return the size of the drawer that a bar belongs to, m: that of another drawer, or what the cabinet says."""
    for each in drawers:
        if each.front is not None and math.dist(each.front.bar[:2], front.bar[:2]) < max(cabinet.size[:2]) / 2:
            return each.size
    wide, deep = _footprint(cabinet, bars)
    rises = [abs(each.bar[2] - front.bar[2]) for each in bars if abs(each.bar[2] - front.bar[2]) > _SAME_M]
    return wide, deep, min([*rises, _SHARE * cabinet.size[2]])


def _footprint(cabinet: LocatedObject, bars: Iterable[Front]) -> tuple[float, float]:
    """Return the size of a cabinet along the axes of its frame (x, y), m, without a drawer that stands open.

    Where its top is not seen, it is located with that drawer. Its shut fronts show where it ends.
    """
    x, y = cabinet.size[:2]
    for each in bars:
        if each.opening is not None and each.opening > _SHUT_M:
            out = np.array([np.cos(each.yaw), np.sin(each.yaw)])
            half = float(np.abs(out) @ cabinet.size[:2]) / 2
            ends = float(np.subtract(each.bar[:2], cabinet.position[:2]) @ out) - each.standoff - each.opening
            if 0.0 < half - ends < _MOST_OPEN * 2 * half:
                too_deep = np.abs(out) * (half - ends)
                return float(x - too_deep[0]), float(y - too_deep[1])
    return x, y
