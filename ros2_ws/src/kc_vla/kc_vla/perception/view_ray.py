"""The line on which an object lies that a camera sees, and how large what it sees there is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import rays
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame, CameraFrameError

Numbers = NDArray[np.float64]
Vector = tuple[float, float, float]
_PIXELS = 5
"""Pixels of each object whose rays are looked at: its middle, and the middles of the four sides of its box."""
_EDGE_PX = 1.5
"""A box that is nearer to the edge of the image is cut off there."""


@dataclass(frozen=True, eq=False)
class ViewRay:
    """The ray from a camera through the middle of an object.

    Attributes:
        origin: of the camera (3,), m.
        step: way of the ray for each meter of depth (3,), in the frame that objects are located in.
        pose: of the optical frame (4, 4), m.
        focal_px: horizontal and vertical.
        box_px: width and height of the object's box, as it would be without distortion.
        is_whole: whether the box ends inside of the image, horizontally and vertically.
    """

    origin: Numbers
    step: Numbers
    pose: Pose
    focal_px: tuple[float, float]
    box_px: tuple[float, float]
    is_whole: tuple[bool, bool]

    @cached_property
    def length(self) -> float:
        """Return the way along the ray for each meter of depth, 1 or more."""
        return math.hypot(*self.step.tolist())

    @property
    def direction(self) -> Numbers:
        """Return the direction of the ray (3,), of length 1."""
        return self.step / self.length

    @property
    def steepness(self) -> float:
        """Return the sine of the angle between the ray and the horizontal plane."""
        return abs(float(self.direction[2]))

    def at(self, depth_m: float) -> Vector:
        """Return the point of the ray at that depth, m."""
        x, y, z = (float(value) for value in self.origin + depth_m * self.step)
        return x, y, z

    def depth_at_height(self, height_m: float) -> float | None:
        """Return at which depth the ray is at a height, m; None where it is so nowhere before the camera."""
        if abs(self.step[2]) < 1e-9:
            return None
        depth_m = float((height_m - self.origin[2]) / self.step[2])
        return depth_m if depth_m > 0.0 else None

    def extent_at(self, depth_m: float) -> Vector:
        """Return the size of a thing that fills the box at a depth, m: as wide one way as the other."""
        width_m = self.box_px[0] * depth_m / self.focal_px[0]
        down_m = self.box_px[1] * depth_m / self.focal_px[1]
        rise = abs(float(self.pose[2, 1]))  # how much of the image's vertical is height
        lie = math.sqrt(max(1.0 - rise * rise, 0.0))
        height_m = max(down_m - lie * width_m, 0.1 * down_m) / max(rise, 0.3)
        return width_m, width_m, min(height_m, 3.0 * max(width_m, down_m))

    def shown_size(self, size: Vector) -> tuple[float, float]:
        """Return how wide and how high a thing of that size appears, m: upright, with an oval footprint."""
        along_x, along_y, along_z = self.pose[:3, :2].tolist()
        across, down = (
            math.hypot(size[0] * x, size[1] * y) + size[2] * abs(z)
            for x, y, z in zip(along_x, along_y, along_z, strict=True)
        )
        return across, down

    def hidden_m(self, size: Vector, depth_m: float) -> float:
        """Return how much less of a thing of that size, at a depth, the box shows than the whole of it, m."""
        wide, high = (side * depth_m / focal for side, focal in zip(self.box_px, self.focal_px, strict=True))
        across, down = self.shown_size(size)
        return max(across - wide, down - high, 0.0)


def view_rays(frame: CameraFrame, seen: Sequence[tuple[PixelBox, tuple[float, float]]]) -> list[ViewRay | None]:
    """Return the rays through some pixels, each with the box around it; None where the lens shows nothing there.

    Raises:
        CameraFrameError: The model of the lens is not known.
    """
    if not seen:
        return []
    pixels = [
        pixel
        for (left, top, right, bottom), center in seen
        for pixel in (
            center,
            (left, (top + bottom) / 2),
            (right, (top + bottom) / 2),
            ((left + right) / 2, top),
            ((left + right) / 2, bottom),
        )
    ]
    try:
        found = rays(np.array(pixels, float), frame.matrix, frame.distortion_model, frame.distortion)
    except ValueError as error:
        raise CameraFrameError(f"{error}: give camera_info of plumb_bob, rational_polynomial or equidistant") from error
    steps = found[::_PIXELS] @ frame.pose[:3, :3].T
    return [
        _view_ray(frame, box, flat, step)
        for (box, _), flat, step in zip(seen, found.reshape(-1, _PIXELS, 3).tolist(), steps, strict=True)
    ]


def _view_ray(frame: CameraFrame, box: PixelBox, flat: list[list[float]], step: Numbers) -> ViewRay | None:
    """Return the ray through the middle of an object; None where the lens shows nothing there.

    Args:
        frame: of the image.
        box: of the object, px.
        flat: directions of its middle and of the middles of its left, right, upper and lower sides (5, 3), at depth 1.
        step: the first one in the frame that objects are located in (3,).
    """
    middle, at_left, at_right, at_top, at_bottom = flat
    if not all(map(math.isfinite, middle)):
        return None
    left, top, right, bottom = box
    focal = float(frame.matrix[0, 0]), float(frame.matrix[1, 1])
    sides = at_right[0] - at_left[0], at_bottom[1] - at_top[1]
    plain = ((right - left) / focal[0], (bottom - top) / focal[1])
    width, height = (each if math.isfinite(each) else other for each, other in zip(sides, plain, strict=True))
    rows, columns = frame.image.shape[:2]
    whole = left > _EDGE_PX and right < columns - _EDGE_PX, top > _EDGE_PX and bottom < rows - _EDGE_PX
    return ViewRay(frame.pose[:3, 3], step, frame.pose, focal, (width * focal[0], height * focal[1]), whole)


def half_chord(size: Vector, direction: Numbers) -> float:
    """Return half of the way through the middle of a box along the axes, m, in a direction of length 1."""
    with np.errstate(divide="ignore", over="ignore"):
        return float(np.min(np.asarray(size) / 2 / np.abs(direction)))
