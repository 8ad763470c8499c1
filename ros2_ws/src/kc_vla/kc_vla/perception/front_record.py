"""What many looks say of the front of a drawer or a door: its handle, how it moves, and how far it is open."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median, percentiles
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import INSET_M, Front
from kc_vla.perception.open_door import OpenDoor, bar_of
from kc_vla.perception.swung_door import door_turn, swung_in

Numbers = NDArray[np.float64]
HANDLE, HINGE, OPENING, EDGE = "handle", "hinge", "opening", "edge"
"""Attributes that say it: the middle of the bar (x, y, z), m; a point of the axis of a door (x, y), m; m or rad; and
while no bar of an open door was seen, a point of its free edge (x, y), m."""
OF_FRONT = frozenset({HANDLE, HINGE, OPENING, EDGE})
_SHUT_LOOKS, _OPEN_LOOKS, _PLACES = 7, 3, 15
"""Looks that count: where it is shut stays, how far it is open changes, and where its bar is on it stays, too."""
_LEAST_SIDE, _MOST_SIDE = 0.35, 1.2
"""Share of the size that was located, bars and open doors included, that a side of furniture has."""
_DOOR_LOOKS, _AT_DOOR_M = 5, 0.09
"""Looks at an open door that count; its bar is no further from it than that, m."""
_PLATE, _LARGE = (0.7, 1.5), 85.0
"""Shares of the width and height of a drawer, as it was located, that its front has; and the percentile of the looks
that says how large it is."""
_SURE_LOOKS, _SAME_M = 3, 0.03
"""After so many looks it is known where a bar is that is shut: one that is further away is not, m."""


@dataclass(frozen=True)
class KnownFront:
    """What is known of a front.

    Attributes:
        yaw: of the direction in which it looks when it is shut, rad; None where that is not known.
        bar: middle of the bar of its handle now, m.
        hinge: point of the axis of a door (x, y), m.
        opening: how far it is open, m or rad.
        edge: point of the free edge of an open door whose bar was not seen (x, y), m.
        sides: how deep and how wide the furniture behind an open door is, m; None where that was not measured.
    """

    yaw: float | None = None
    bar: tuple[float, float, float] | None = None
    hinge: tuple[float, float] | None = None
    opening: float | None = None
    edge: tuple[float, float] | None = None
    sides: tuple[float, float] | None = None

    def behind_door(self, into: float, across: float, middle: Numbers) -> tuple[float, float]:
        """Return how deep and how wide what has a door is without that, m: its axis is at an edge of the front.

        Args:
            into: its size in the direction of the front, as it was located, with a door that may be open, m.
            across: its size across that, m.
            middle: of it (3,), m.
        """
        if self.sides is not None:
            return self.sides
        if self.hinge is None or self.yaw is None:
            return into, across
        away = np.subtract(self.hinge, middle[:2])
        deep = 2.0 * (float(away @ (np.cos(self.yaw), np.sin(self.yaw))) + INSET_M)
        wide = 2.0 * abs(float(away @ (-np.sin(self.yaw), np.cos(self.yaw))))
        return _trusted(deep, into), _trusted(wide, across)

    @property
    def attributes(self) -> dict[str, str]:
        """Return it as attributes of what it belongs to; nothing where neither bar nor door is known."""
        if self.bar is None and self.edge is None:
            return {}
        return front_attributes(self.bar, self.hinge, self.opening, self.edge)


def front_attributes(
    bar: Iterable[float] | None,
    hinge: Iterable[float] | None,
    opening: float | None,
    edge: Iterable[float] | None = None,
) -> dict[str, str]:
    """Return what is known of a front as attributes of what it belongs to; the arguments as in `KnownFront`."""
    known = {HANDLE: bar, HINGE: hinge, OPENING: None if opening is None else [opening], EDGE: edge}
    return {name: " ".join(f"{each:.4f}" for each in numbers) for name, numbers in known.items() if numbers is not None}


class FrontRecord:
    """The last looks at one front."""

    def __init__(self) -> None:
        self._shut: deque[Front] = deque(maxlen=_SHUT_LOOKS)
        self._strange: deque[Front] = deque(maxlen=_SHUT_LOOKS)
        self._open: deque[Front] = deque(maxlen=_OPEN_LOOKS)
        self._swung: deque[float] = deque(maxlen=_OPEN_LOOKS)
        self._doors: deque[OpenDoor] = deque(maxlen=_DOOR_LOOKS)
        self._places: deque[tuple[float, float]] = deque(maxlen=_PLACES)
        self._widths: deque[float] = deque(maxlen=_PLACES)
        self._heights: deque[tuple[float, float]] = deque(maxlen=_PLACES)
        self._wide: float | None = None
        """How wide the front of a drawer is, m; None where few looks showed it."""
        self._reach: tuple[float, float] | None = None
        """How far that reaches below its bar and above it, m; None likewise. Something may hide a part of it: most of
        the largest looks agree."""
        self._away: tuple[float, float] | None = None
        """How far the middle of what it belongs to is before its bar, and above it: the median of the looks, m."""
        self._opened: Front | None = None
        self._closed: Front | None = None

    @property
    def bar(self) -> Numbers:
        """Return the middle of the bar as it was seen last (3,), m; NaN where none was seen."""
        return np.full(3, np.nan) if self.newest is None else np.array(self.newest.bar)

    @property
    def shut(self) -> Front | None:
        """Return the front as it is when it is shut; None where it was never seen so by many looks."""
        return self._closed if len(self._shut) >= _SURE_LOOKS else None

    @property
    def newest(self) -> Front | None:
        """Return the front as it was seen last; None where none was seen."""
        return self._opened or self._closed

    @property
    def bar_height(self) -> float:
        """Return how high the bar is, m; NaN where none was seen."""
        known = self._closed or self._opened
        return np.nan if known is None else known.bar[2]

    def see(self, front: Front, opened: bool, middle: Sequence[float], size: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Take in a look that showed a bar.

        Args:
            front: as it was seen.
            opened: whether it was open then.
            middle: of what it belongs to, as that was located in this look (3,), m.
            size: of that along the axes of the frame, likewise, m.
        """
        if opened and self._is_of_another(front):
            return
        across = float(np.abs((-np.sin(front.yaw), np.cos(front.yaw))) @ size[:2])
        if _PLATE[0] * across < front.wide < _PLATE[1] * across:
            self._see_plate(front, size[2])
        if not opened or (self._closed is None and not front.standing):
            away = np.subtract(middle, front.bar)
            self._places.append((float(away[:2] @ (np.cos(front.yaw), np.sin(front.yaw))), float(away[2])))
            along, rise = (median(each) for each in np.array(self._places).T)
            self._away = along, rise
        if opened:
            self._open.append(self._level(front))
            self._opened = _middle_of(self._open)
            return
        self._open.clear()
        self._swung.clear()
        self._opened = None
        self._see_shut(front)
        self._closed = _middle_of(self._shut)

    def see_door(self, door: OpenDoor | None, opened: bool) -> None:
        """Take in a look that showed a door without its bar, or none.

        Args:
            door: as it was seen.
            opened: whether it was open then.
        """
        if not opened:
            self._doors.clear()
        elif door is not None:
            self._doors.append(door)
            if self._opened is not None and door.reach(self._opened.bar) > _AT_DOOR_M:  # it was moved since
                self._open.clear()
                self._opened = None

    def look_for_bar(self, frame: CameraFrame) -> None:
        """Take in the bar of a door that is known to stand open, where an image shows the side with it."""
        door = self._door()
        if door is not None and self._closed is None and len(self._open) < _OPEN_LOOKS:
            front = bar_of(frame, door)
            if front is not None:
                self.see(front, True, (*door.middle, front.bar[2]))

    def _door(self) -> OpenDoor | None:
        """Return the open door whose opening is the middle one of the last looks; None where none was seen."""
        doors = sorted(self._doors, key=lambda each: each.opening)
        return doors[len(doors) // 2] if doors else None

    def _moved(self, position: Numbers) -> float:
        """Return how far in front of where it is when the drawer is shut the middle of it was located, m."""
        shut = self._closed
        if shut is None or self._away is None:
            return 0.0
        out = np.array([np.cos(shut.yaw), np.sin(shut.yaw)])
        return max(0.0, float((position[:2] - shut.bar[:2]) @ out) - self._away[0])

    def _level(self, front: Front) -> Front:
        """Return an open drawer with its bar as high as when it was seen shut."""
        shut = self._closed
        if shut is None or shut.standing or front.standing:
            return front
        return replace(front, bar=(*front.bar[:2], shut.bar[2]))

    def _is_of_another(self, front: Front) -> bool:
        """Return whether a bar cannot be that of the front that was seen shut: a drawer slides, and a door turns."""
        shut = self._closed
        if shut is None:
            door = self._door()
            return door is not None and not (front.standing and door.reach(front.bar) < _AT_DOOR_M)
        ahead, aside, up = np.subtract(front.bar, shut.bar).tolist()
        if shut.standing != front.standing or abs(up) > _SAME_M:
            return True
        if shut.hinge is not None:
            reach, before = (math.dist(each.bar[:2], shut.hinge) for each in (front, shut))
            return abs(reach - before) > _SAME_M
        return bool(abs(aside * np.cos(shut.yaw) - ahead * np.sin(shut.yaw)) > _SAME_M)

    def _see_plate(self, front: Front, tall: float) -> None:
        """Take in how large the front of a drawer is that was located so tall (m) with what is behind it."""
        self._widths.append(front.wide)
        if len(self._widths) >= _SURE_LOOKS:
            self._wide = percentiles(np.array(self._widths), _LARGE)[0]
        if front.low + front.high >= _PLATE[1] * tall:  # those of two drawers may be one surface
            return
        self._heights.append((front.low, front.high))
        if len(self._heights) >= _SURE_LOOKS:
            low, high = (percentiles(each, _LARGE)[0] for each in np.array(self._heights).T)
            self._reach = low, high

    def _see_shut(self, front: Front) -> None:
        """Take in a look at what is shut: its bar is where it was, but for furniture that was moved.

        While something opens, its state is known some looks later than it has changed.
        """
        known = self._closed
        if known is None or len(self._shut) < _SURE_LOOKS or math.dist(front.bar, known.bar) < _SAME_M:
            self._shut.append(front)
            self._strange.clear()
            return
        self._strange.append(front)
        if len(self._strange) == _SHUT_LOOKS:
            self._shut, self._strange = self._strange, deque(maxlen=_SHUT_LOOKS)

    def look(self, frame: CameraFrame, opened: bool) -> None:
        """Take in how far a door with a known axis is open in an image, if it is open and no bar was seen."""
        shut = self._closed
        if opened and not self._open and shut is not None:
            swung = swung_in(frame, shut)
            if swung is not None:
                self._swung.append(swung)

    def behind(self, opened: bool, slides: bool, position: Numbers) -> Numbers:
        """Return the middle of what the front belongs to (3,), m: depth shows a bar better than what is behind it.

        A drawer goes with its bar, which is in the middle of its front. What has a door stays behind where that was
        shut. How far the middle is behind the bar, and below it, is the median of many looks.

        Args:
            opened: whether it is open.
            slides: whether it is a drawer.
            position: where its middle was located (3,), m.
        """
        door = self._door()
        if door is not None and self._closed is None and not slides:
            return np.array([*door.middle, position[2]])
        front = self._opened if opened and slides else self._closed
        if front is None or front.standing == slides or self._away is None:
            return position
        out = np.array([np.cos(front.yaw), np.sin(front.yaw), 0.0])
        along, rise = self._away
        if slides:
            if self._reach is not None:
                rise = (self._reach[1] - self._reach[0]) / 2
            return np.asarray(front.bar + along * out + np.array([0.0, 0.0, rise]))
        return np.asarray(position + float((front.bar - position) @ out + along) * out)

    def plate(self, wide: float, high: float) -> tuple[float, float]:
        """Return how wide and how high the front of a drawer is, m, after what was located where that was not seen."""
        return wide if self._wide is None else self._wide, high if self._reach is None else sum(self._reach)

    def depth(self, located: float) -> float:
        """Return how deep what the front belongs to is, m: its front is as far before its middle as its back behind it.

        Args:
            located: its size in that direction, as it was located: with bars, and an open door, or without, m.
        """
        front = self._closed or self._opened
        if front is None or self._away is None:
            return located
        return _trusted(2.0 * (-self._away[0] - front.standoff), located)

    def known(self, opened: bool, position: Numbers, size: Numbers) -> KnownFront:
        """Return what is known of the front now.

        Args:
            opened: whether it is open.
            position: of the middle of what it belongs to (3,), m.
            size: of that along the axes of the frame (3,), m.
        """
        shut, now, door = self._closed, self._opened, self._door()
        if not opened:
            return KnownFront() if shut is None else KnownFront(shut.yaw, shut.bar, shut.hinge, 0.0)
        if now is None and shut is not None and shut.hinge is not None:
            return _swung(shut, self._swung)
        if door is not None and (shut is None or not shut.standing):
            if now is None or not now.standing:
                return KnownFront(door.yaw, None, door.hinge, door.opening, door.edge, door.sides)
            return KnownFront(door.yaw, now.bar, door.hinge, door.opening, sides=door.sides)
        if now is None or not now.standing:
            return _drawer(shut, now, self._moved(position))
        return _door(shut, now, position, size)


def _drawer(shut: Front | None, now: Front | None, moved: float) -> KnownFront:
    """Return an open drawer, or what is left of an open door that is not seen.

    Of a drawer whose bar is not seen it is where the middle of the drawer says: that has moved as far.
    """
    if now is None:
        if shut is None or shut.standing:
            return KnownFront() if shut is None else KnownFront(shut.yaw)
        x, y, z = (np.array(shut.bar) + moved * np.array([np.cos(shut.yaw), np.sin(shut.yaw), 0.0])).tolist()
        return KnownFront(shut.yaw, (x, y, z), None, moved)
    opening = now.opening
    if shut is not None and not shut.standing:
        opening = float(np.subtract(now.bar, shut.bar)[:2] @ (np.cos(shut.yaw), np.sin(shut.yaw)))
    return KnownFront(now.yaw, now.bar, None, opening)


def _swung(shut: Front, openings: Iterable[float]) -> KnownFront:
    """Return an open door whose bar is not seen: it turned about its axis."""
    if not (known := list(openings)) or shut.hinge is None:
        return KnownFront(shut.yaw)
    opening = float(np.median(known))
    turn = door_turn(shut)
    c, s = np.cos(turn * opening), np.sin(turn * opening)
    x, y = (np.array([[c, -s], [s, c]]) @ np.subtract(shut.bar[:2], shut.hinge) + shut.hinge).tolist()
    return KnownFront(shut.yaw, (x, y, shut.bar[2]), shut.hinge, opening)


def _door(shut: Front | None, now: Front, position: Numbers, size: Numbers) -> KnownFront:
    """Return an open door: how far it is open follows from where it looks, or would look if it were shut."""
    hinge = now.hinge if shut is None or shut.hinge is None else shut.hinge
    assert hinge is not None  # its bar is upright
    along = np.subtract(now.bar[:2], hinge)
    turn = 1.0 if along[0] * np.sin(now.yaw) > along[1] * np.cos(now.yaw) else -1.0
    if shut is not None and shut.standing:
        yaw = shut.yaw
    else:  # its axis is at a front corner of what it belongs to
        inwards = position[:2] - hinge
        lies_along_x = abs(np.sin(np.arctan2(inwards[1], inwards[0]) + turn * np.pi / 4)) < np.sqrt(0.5)
        wide, deep = size[:2] if lies_along_x else size[1::-1]
        yaw = float(np.arctan2(inwards[1], inwards[0]) + turn * (np.arctan2(deep, wide) + np.pi / 2))
    opening = (turn * (now.yaw - yaw) + np.pi) % (2 * np.pi) - np.pi
    return KnownFront(yaw, now.bar, hinge, max(float(opening), 0.0))


def _trusted(measured: float, located: float) -> float:
    """Return a side that was measured at a front, m, unless it cannot be one that was located so large."""
    return measured if _LEAST_SIDE * located < measured < _MOST_SIDE * located else located


def _middle_of(fronts: Iterable[Front]) -> Front | None:
    """Return the look whose bar is nearest to those of the others; None for none."""
    looks = list(fronts)
    if not looks:
        return None
    bars = np.array([each.bar for each in looks])
    return looks[int(np.argmin(np.linalg.norm(bars[:, None] - bars[None], axis=-1).sum(axis=1)))]
