"""What many looks say of the front of a drawer or a door: its handle, how it moves, and how far it is open."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import Front
from kc_vla.perception.swung_door import door_turn, swung_in

Numbers = NDArray[np.float64]
HANDLE, HINGE, OPENING = "handle", "hinge", "opening"
"""Attributes that say it: the middle of the bar (x, y, z), m; a point of the axis of a door (x, y), m; m or rad."""
OF_FRONT = frozenset({HANDLE, HINGE, OPENING})
_SHUT_LOOKS, _OPEN_LOOKS = 7, 3
"""Looks that count: where it is shut stays, and how far it is open changes."""


@dataclass(frozen=True)
class KnownFront:
    """What is known of a front.

    Attributes:
        yaw: of the direction in which it looks when it is shut, rad; None where that is not known.
        bar: middle of the bar of its handle now, m.
        hinge: point of the axis of a door (x, y), m.
        opening: how far it is open, m or rad.
    """

    yaw: float | None = None
    bar: tuple[float, float, float] | None = None
    hinge: tuple[float, float] | None = None
    opening: float | None = None

    @property
    def attributes(self) -> dict[str, str]:
        """Return it as attributes of what it belongs to; nothing where no bar is known."""
        if self.bar is None:
            return {}
        found = {HANDLE: _text(self.bar)}
        if self.hinge is not None:
            found[HINGE] = _text(self.hinge)
        if self.opening is not None:
            found[OPENING] = _text([self.opening])
        return found


class FrontRecord:
    """The last looks at one front."""

    def __init__(self) -> None:
        self._shut: deque[Front] = deque(maxlen=_SHUT_LOOKS)
        self._open: deque[Front] = deque(maxlen=_OPEN_LOOKS)
        self._swung: deque[float] = deque(maxlen=_OPEN_LOOKS)
        self._opened: Front | None = None
        self._closed: Front | None = None

    @property
    def bar_height(self) -> float:
        """Return how high the bar is, m; NaN where none was seen."""
        known = self._closed or self._opened
        return np.nan if known is None else known.bar[2]

    def see(self, front: Front, opened: bool) -> None:
        """Take in a look that showed a bar.

        Args:
            front: as it was seen.
            opened: whether it was open then.
        """
        if not opened:
            self._open.clear()
            self._swung.clear()
            self._opened = None
        (self._open if opened else self._shut).append(front)
        if opened:
            self._opened = _middle_of(self._open)
        else:
            self._closed = _middle_of(self._shut)

    def look(self, frame: CameraFrame, opened: bool) -> None:
        """Take in how far a door with a known axis is open in an image, if it is open and no bar was seen."""
        shut = self._closed
        if opened and not self._open and shut is not None:
            swung = swung_in(frame, shut)
            if swung is not None:
                self._swung.append(swung)

    def known(self, opened: bool, position: Numbers, size: Numbers) -> KnownFront:
        """Return what is known of the front now.

        Args:
            opened: whether it is open.
            position: of the middle of what it belongs to (3,), m.
            size: of that along the axes of the frame (3,), m.
        """
        shut, now = self._closed, self._opened
        if not opened:
            return KnownFront() if shut is None else KnownFront(shut.yaw, shut.bar, shut.hinge, 0.0)
        if now is None and shut is not None and shut.hinge is not None:
            return _swung(shut, self._swung)
        if now is None or not now.standing:
            return _drawer(shut, now)
        return _door(shut, now, position, size)


def _drawer(shut: Front | None, now: Front | None) -> KnownFront:
    """Return an open drawer, or what is left of an open door that is not seen."""
    if now is None:
        return KnownFront() if shut is None else KnownFront(shut.yaw)
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


def _text(numbers: Iterable[float]) -> str:
    return " ".join(f"{each:.4f}" for each in numbers)


def _middle_of(fronts: Iterable[Front]) -> Front | None:
    """Return the look whose bar is nearest to those of the others; None for none."""
    looks = list(fronts)
    if not looks:
        return None
    bars = np.array([each.bar for each in looks])
    return looks[int(np.argmin(np.linalg.norm(bars[:, None] - bars[None], axis=-1).sum(axis=1)))]
