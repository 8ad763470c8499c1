"""A door that stands open in a depth image, where its handle is not seen: its hinge, its free edge, how far it is open.

The top of furniture, seen from above, shows where its sides are. A door is a vertical plane that begins at a corner of
it and stands out before one of the sides: that side is the front.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.order_statistics import median, percentiles
from kc_vla.core.projection import project
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import INSET_M, Front, fronts_on
from kc_vla.perception.surface_points import SurfacePoints, surface_points
from kc_vla.perception.vertical_planes import FLAT_M, VerticalPlane, surface_normals, vertical_planes

Numbers = NDArray[np.float64]
Place = tuple[float, float]
_AROUND_PX = 8
_LEVEL, _UPRIGHT = 0.97, 0.2
"""Vertical parts of the normals of a level surface, at least, and of an upright one, at most."""
_BIN_M, _FLAT_M = 0.006, 0.008
"""Heights are counted in such steps, and what is level is so flat, m."""
_HIGH = 0.3
"""The top of furniture is higher above its lowest point than this share of its size."""
_LEAST_TOP, _LEAST_SIDE_M = 60, 0.08
"""The top shows so many pixels at least, and no side of it is shorter than this, m."""
_HIDDEN, _GAP_M = 0.06, 0.02
"""Share of the outline of the top that something nearer may hide; that is nearer by this, m."""
_BESIDE_M = 0.015
"""A door stands so far beside the furniture, m ..."""
_AT_CORNER_M = 0.05
"""... and begins no further than this from a corner of it, m."""
_WIDE, _TALL = (0.55, 1.2), 0.5
"""Shares of the front that a door is wide, and the least one of the height of furniture that it is tall."""
_SWUNG = (0.25, 2.2)
"""How far an open door is open, rad."""
_ENDS = 1.0, 99.0
_BEFORE_M, _FACE_M, _FAR_M = 0.05, 0.012, 0.07
"""Its outer side is seen from so far before it at least, m; and where it is located so far off at most, and its handle
stands out of it by less than that, m."""
_CROSS = np.ones((3, 3), np.uint8)


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
        way, front = np.subtract(self.edge, self.hinge), np.subtract(self.middle, self.hinge)
        out = np.array([np.cos(self.yaw), np.sin(self.yaw)])
        across = np.array([-way[1], way[0]]) / np.linalg.norm(way)
        along = front - (front @ out) * out
        return np.asarray(-across if across @ along > 0.0 else across)

    def reach(self, point: Sequence[float]) -> float:
        """Return how far a point (x, y, ...) is from the door, seen from above, m."""
        start, way = np.array(self.hinge), np.subtract(self.edge, self.hinge)
        share = np.clip((np.asarray(point[:2]) - start) @ way / (way @ way), 0.0, 1.0)
        return float(np.linalg.norm(start + share * way - point[:2]))


def open_door_in(frame: CameraFrame, box: PixelBox, size: tuple[float, float, float]) -> OpenDoor | None:
    """Return the door of a piece of furniture that stands open; None where none is seen.

    Args:
        frame: with depth that is NaN where it is not known.
        box: of what can be seen of the furniture, with its door, px.
        size: of it along the axes of the frame that it is located in, m.
    """
    seen = surface_points(frame, box, _AROUND_PX)
    if seen is None:
        return None
    normals = surface_normals(seen.points, frame.pose[:3, 3])
    top = _top(seen, normals, size[2])
    if top is None:
        return None
    corners, high = top
    upright = seen.inside & (np.abs(normals[2]) < _UPRIGHT) & (seen.points[2] < high + _FLAT_M)
    upright &= _outside(corners, seen.points)
    best, most = None, 0
    for plane in vertical_planes(seen, normals, upright):
        number = int(np.count_nonzero(plane.pixels))
        if number > most and (door := _door(seen, plane, corners, high)) is not None:
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
    yaw, long = float(np.arctan2(outwards[1], outwards[0])), float(np.linalg.norm(way))
    extent = np.array([*(np.abs(way)), door.high - door.low])
    box = _shown(frame, middle, np.array([*way, 0.0]) / long, outwards, long, door.high - door.low)
    seen = None if box is None else surface_points(frame, box, _AROUND_PX)
    if seen is None:
        return None
    guess = VerticalPlane(yaw, float(middle @ outwards), np.zeros(seen.inside.shape, bool))
    (ahead, along), at = guess.coordinates(seen.points), float(middle @ guess.aside)
    near = (np.abs(along - at) < long / 2 + _BESIDE_M) & (np.abs(seen.points[2] - middle[2]) < extent[2] / 2)
    face = near & (np.abs(ahead) < _FACE_M)
    if np.count_nonzero(face) < _LEAST_TOP:
        return None
    offset = guess.offset + median(ahead[face])
    plane = VerticalPlane(yaw, offset, near & (np.abs(ahead - (offset - guess.offset)) < FLAT_M))
    if np.count_nonzero(plane.pixels) < _LEAST_TOP:
        return None
    room = extent[2] * np.array([0.0, 0.0, 1.0]) + long * np.abs(plane.aside)
    bars = [each for each in fronts_on(seen, near, plane, middle, room) if each[2].standing]
    return max(bars, key=lambda each: each[0])[2] if bars else None


def _shown(
    frame: CameraFrame, middle: Numbers, way: Numbers, outwards: Numbers, long: float, tall: float
) -> PixelBox | None:
    """Return the part of an image in which a door is; None where it is not, or not as a whole, before the camera."""
    ends = [
        middle + along * way + out * outwards + np.array([0.0, 0.0, up])
        for along in (-long / 2, long / 2)
        for out in (0.0, _FAR_M)
        for up in (-tall / 2, tall / 2)
    ]
    pixels, _ = project(np.array(ends), frame.pose, frame.matrix, frame.distortion_model, frame.distortion)
    if not np.isfinite(pixels).all():
        return None
    rows, columns = frame.image.shape[:2]
    low, high = np.maximum(pixels.min(axis=0), 0.0), np.minimum(pixels.max(axis=0), (float(columns), float(rows)))
    return None if (high - low < 2.0).any() else PixelBox(*low.tolist(), *high.tolist())


def _top(seen: SurfacePoints, normals: Numbers, tall: float) -> tuple[Numbers, float] | None:
    """Return the corners (4, 2) of the top of furniture in their order, and its height, m; None where it is hidden.

    Args:
        seen: the pixels in and around its box.
        normals: of the surface at each pixel (3, H, W).
        tall: about how high the furniture is, m.
    """
    heights = seen.points[2]
    level = seen.inside & (normals[2] > _LEVEL)
    known = heights[seen.inside & np.isfinite(heights)]
    if not len(known):
        return None
    high = level & (heights > float(known.min()) + _HIGH * tall)
    if np.count_nonzero(high) < _LEAST_TOP:
        return None
    counts, edges = np.histogram(
        heights[high], np.arange(heights[high].min(), heights[high].max() + 2 * _BIN_M, _BIN_M)
    )
    at = float(edges[int(np.argmax(counts))]) + _BIN_M / 2
    flat = np.asarray(seen.inside & (np.abs(heights - at) < _FLAT_M))
    wide = cv2.morphologyEx(flat.astype(np.uint8), cv2.MORPH_OPEN, _CROSS)  # the upper edge of a door is thin
    count, labels, sizes, _ = cv2.connectedComponentsWithStats(wide, connectivity=4)
    if count < 2:
        return None
    label = 1 + int(np.argmax(sizes[1:, cv2.CC_STAT_AREA]))
    own = np.asarray(labels == label)
    if np.count_nonzero(own) < _LEAST_TOP or _is_hidden(seen, own):
        return None
    rectangle = cv2.minAreaRect(seen.points[:2, own].T.astype(np.float32))
    if min(rectangle[1]) < _LEAST_SIDE_M:
        return None
    return np.asarray(cv2.boxPoints(rectangle), float), at


def _is_hidden(seen: SurfacePoints, own: NDArray[np.bool_]) -> bool:
    """Return whether something nearer hides a side of what some pixels show, or the rim of the image cuts it.

    What stands on it hides no side.
    """
    reached = np.asarray(cv2.dilate(np.where(own, seen.depth, -np.inf), _CROSS))
    nearer = ~own & np.isfinite(reached) & (seen.depth < reached - _GAP_M)
    hull = cv2.convexHull(np.argwhere(own)[:, ::-1].astype(np.int32))
    filled = cv2.fillConvexPoly(np.zeros(own.shape, np.uint8), hull, 1)
    nearer &= ~np.asarray(cv2.erode(filled, _CROSS, borderValue=0), bool)
    outline = np.count_nonzero(own & ~np.asarray(cv2.erode(own.astype(np.uint8), _CROSS, borderValue=0), bool))
    return bool(np.count_nonzero(nearer) + np.count_nonzero(own & seen.at_rim) > _HIDDEN * outline)


def _outside(corners: Numbers, points: Numbers) -> NDArray[np.bool_]:
    """Return which points (3, H, W) are beside a rectangle (4, 2), seen from above (H, W)."""
    middle = corners.mean(axis=0)
    beside = np.zeros(points.shape[1:], bool)
    for first, second in ((0, 1), (1, 2)):
        side = corners[second] - corners[first]
        half = float(np.linalg.norm(side)) / 2
        along = (points[0] - middle[0]) * side[0] + (points[1] - middle[1]) * side[1]
        beside |= np.abs(along) > 2 * half * (half + _BESIDE_M)
    return beside


def _door(seen: SurfacePoints, plane: VerticalPlane, corners: Numbers, high: float) -> OpenDoor | None:
    """Return the door that a plane is; None where it is none."""
    own = seen.points[:, plane.pixels]
    low, up = percentiles(own[2], *_ENDS)
    if up - low < _TALL * (high - min(low, float(corners.min()))) and up - low < _TALL * high:
        return None
    left, right = percentiles(plane.aside @ own, *_ENDS)
    ends = [(plane.offset * plane.out + at * plane.aside)[:2] for at in (left, right)]
    middle = corners.mean(axis=0)
    for start, free in (ends, ends[::-1]):
        for corner, other in _sides(corners):
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
            hinge, yaw = corner - INSET_M * out, float(np.arctan2(out[1], out[0]))
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
