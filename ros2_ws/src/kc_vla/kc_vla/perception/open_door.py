"""A door that stands open in a depth image, where its handle is not seen: its hinge, its free edge, how far it is open.

The top of furniture, seen from above, shows where its sides are. A door is a vertical plane that begins at a corner of
it and stands out before one of the sides: that side is the front.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median, percentiles
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import INSET_M, Front, fronts_on
from kc_vla.perception.level_top import LevelTop, level_top
from kc_vla.perception.surface_points import SurfacePoints, surface_points
from kc_vla.perception.vertical_planes import FLAT_M, VerticalPlane, vertical_planes

Numbers = NDArray[np.float64]
Place = tuple[float, float]
_AROUND_PX = 8
_LEAST_SHARE = 0.04
"""A door shows this share of the pixels in the box of its furniture at least."""
_UPRIGHT, _OFF_M = 0.2, 0.008
"""The vertical part of the normal of a door is smaller, and it reaches no further above the furniture, m."""
_LEAST_M = 1e-6
_LEAST_PIXELS, _LEAST_PX = 60, 2.0
"""The outer side of a door shows so many pixels at least, and no side of it is shorter in an image, px."""
_BESIDE_M = 0.015
"""A door stands so far beside the furniture, m ..."""
_AT_CORNER_M = 0.05
"""... and begins no further than this from a corner of it, m."""
_WIDE, _TALL = (0.55, 1.2), 0.5
"""Shares of the front that a door is wide, and the least one of the height of furniture that it is tall."""
_SWUNG = (0.25, 2.2)
"""How far an open door is open, rad."""
_ENDS = 1.0, 99.0
_BEFORE_M, _FACE_M, _FAR_M = 0.05, 0.02, 0.07
"""Its outer side is seen from so far before it at least, m; and where it is located so far off at most, and its handle
stands out of it by less than that, m."""


@dataclass(frozen=True)
class OpenDoor:
    """A door that stands open.

    Attributes:
        yaw: of the direction in which the front of its furniture looks, rad.
        hinge: point of its axis (x, y), m.
        edge: point of its free edge (x, y), m.
        opening: how far it is open, rad.
        middle: of the furniture behind it (x, y), m.
        sides: how deep and how wide that is, m.
        low: height of its lower edge, m.
        high: height of its upper edge, m.
    """

    yaw: float
    hinge: Place
    edge: Place
    opening: float
    middle: Place
    sides: Place
    low: float
    high: float

    @property
    def outwards(self) -> Numbers:
        """Return the direction in which the side with its handle looks (2,)."""
        out = np.array([np.cos(self.yaw), np.sin(self.yaw)])
        return outer_side(np.array(self.hinge), np.array(self.edge), np.array(self.middle), out)

    def reach(self, point: Sequence[float]) -> float:
        """Return how far a point (x, y, ...) is from the door, seen from above, m."""
        start, way = np.array(self.hinge), np.subtract(self.edge, self.hinge)
        share = np.clip((np.asarray(point[:2]) - start) @ way / (way @ way), 0.0, 1.0)
        return float(np.linalg.norm(start + share * way - point[:2]))


def outer_side(hinge: Numbers, edge: Numbers, middle: Numbers, out: Numbers) -> Numbers:
    """Return the direction in which the side of an open door looks that has its handle (2,).

    Args:
        hinge: point of its axis (2,), m.
        edge: point of its free edge (2,), m.
        middle: of the furniture behind it (2,), m.
        out: direction in which the front of that looks (2,).
    """
    way, front = edge - hinge, middle - hinge
    across = np.array([-way[1], way[0]]) / max(float(np.linalg.norm(way)), _LEAST_M)
    along = front - (front @ out) * out  # along the front, away from the hinge
    return np.asarray(-across if across @ along > 0.0 else across)


def open_door_in(frame: CameraFrame, box: PixelBox, bottom: float, tall: float) -> OpenDoor | None:
    """Return the door of a piece of furniture that stands open; None where none is seen.

    Args:
        frame: with depth that is NaN where it is not known.
        box: of what can be seen of the furniture, with its door, px.
        bottom: about the height of the bottom of the furniture, m.
        tall: about how high it is, m.
    """
    seen = surface_points(frame, box, _AROUND_PX)
    if seen is None:
        return None
    top = level_top(seen, bottom, tall)
    if top is None:
        return None
    upright = seen.inside & (np.abs(seen.normals[2]) < _UPRIGHT) & (seen.points[2] < top.height + _OFF_M)
    upright &= top.is_beside(seen.points, _BESIDE_M)
    best, most = None, 0
    for plane in vertical_planes(seen, upright, _LEAST_SHARE):
        number = int(np.count_nonzero(plane.pixels))
        if number > most and (door := _door(seen, plane, top)) is not None:
            best, most = door, number
    return best


def bar_of(frame: CameraFrame, door: OpenDoor) -> Front | None:
    """Return the front of an open door with the bar of its handle; None where the image does not show that side of it.

    Args:
        frame: with depth that is NaN where it is not known.
        door: as it was seen from the other side.
    """
    outwards, way = np.array([*door.outwards, 0.0]), np.subtract(door.edge, door.hinge)
    middle = np.array([*(np.add(door.edge, door.hinge) / 2 + INSET_M * door.outwards), (door.low + door.high) / 2])
    if (frame.pose[:3, 3] - middle) @ outwards < _BEFORE_M:
        return None
    yaw, long, tall = float(np.arctan2(outwards[1], outwards[0])), float(np.linalg.norm(way)), door.high - door.low
    box = frame.box_around(_corners(middle, np.array([*way, 0.0]) / long, outwards, long, tall), _LEAST_PX)
    seen = None if box is None else surface_points(frame, box, _AROUND_PX)
    if seen is None:
        return None
    guess = VerticalPlane(yaw, float(middle @ outwards), np.zeros(seen.inside.shape, bool))
    (ahead, along), at = guess.coordinates(seen.points), float(middle @ guess.aside)
    near = (np.abs(along - at) < long / 2 + _BESIDE_M) & (np.abs(seen.points[2] - middle[2]) < tall / 2)
    face = near & (np.abs(ahead) < _FACE_M)
    if np.count_nonzero(face) < _LEAST_PIXELS:
        return None
    offset = guess.offset + median(ahead[face])
    plane = VerticalPlane(yaw, offset, near & (np.abs(ahead - (offset - guess.offset)) < FLAT_M))
    if np.count_nonzero(plane.pixels) < _LEAST_PIXELS:
        return None
    room = tall * np.array([0.0, 0.0, 1.0]) + long * np.abs(plane.aside)
    bars = [each for each in fronts_on(seen, near, plane, middle, room) if each[2].standing]
    return max(bars, key=lambda each: each[0])[2] if bars else None


def _corners(middle: Numbers, way: Numbers, outwards: Numbers, long: float, tall: float) -> Numbers:
    """Return the corners of the space in which a door and its handle are (8, 3), m."""
    return np.array(
        [
            middle + along * way + out * outwards + np.array([0.0, 0.0, up])
            for along in (-long / 2, long / 2)
            for out in (0.0, _FAR_M)
            for up in (-tall / 2, tall / 2)
        ]
    )


def _door(seen: SurfacePoints, plane: VerticalPlane, top: LevelTop) -> OpenDoor | None:
    """Return the door that a plane is; None where it is none."""
    own = seen.points[:, plane.pixels]
    low, up = percentiles(own[2], *_ENDS)
    if up - low < _TALL * (top.height - low):
        return None
    left, right = percentiles(plane.aside @ own, *_ENDS)
    ends = [(plane.offset * plane.out + at * plane.aside)[:2] for at in (left, right)]
    middle = top.middle
    for start, free in (ends, ends[::-1]):
        for corner, other in _sides(top.corners):
            side = other - corner
            wide, long = float(np.linalg.norm(side)), float(np.linalg.norm(free - corner))
            if np.linalg.norm(start - corner) > _AT_CORNER_M or not _WIDE[0] * wide < long < _WIDE[1] * wide:
                continue
            along = side / wide
            out = np.array([along[1], -along[0]])
            out = out if out @ (middle - corner) < 0.0 else -out
            way = (free - start) / np.linalg.norm(free - start)
            opening = float(np.arctan2(way @ out, way @ along))
            if not _SWUNG[0] < opening < _SWUNG[1]:
                continue
            hinge, yaw = corner, float(np.arctan2(out[1], out[0]))  # a door is hung before the furniture
            sides = 2.0 * abs(float((middle - corner) @ out)), wide
            edge = hinge + long * way
            return OpenDoor(yaw, _place(hinge), _place(edge), opening, _place(middle), sides, low, up)
    return None


def _sides(corners: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the sides of a rectangle (4, 2), each from both of its ends."""
    for at in range(4):
        yield corners[at], corners[at - 1]
        yield corners[at - 1], corners[at]


def _place(point: Numbers) -> Place:
    x, y = point.tolist()
    return x, y
