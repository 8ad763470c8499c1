"""The line on which an object lies that a camera sees, and how large what it sees there is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import rays
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame, CameraFrameError

Numbers = NDArray[np.float64]
Vector = tuple[float, float, float]
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

    @property
    def length(self) -> float:
        """Return the way along the ray for each meter of depth, 1 or more."""
        return float(np.linalg.norm(self.step))

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
        axes = self.pose[:3, :2]
        across, down = np.hypot(size[0] * axes[0], size[1] * axes[1]) + size[2] * np.abs(axes[2])
        return float(across), float(down)

    def hidden_m(self, size: Vector, depth_m: float) -> float:
        """Return how much less of a thing of that size, at a depth, the box shows than the whole of it, m."""
        shown = np.array(self.box_px) * depth_m / np.array(self.focal_px)
        return float(np.clip(np.array(self.shown_size(size)) - shown, 0.0, None).max())


def view_ray(frame: CameraFrame, box: PixelBox, center: tuple[float, float]) -> ViewRay | None:
    """Return the ray through a pixel; None where the lens shows nothing there.

    Raises:
        CameraFrameError: The model of the lens is not known.
    """
    left, top, right, bottom = box
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    pixels = np.array([center, (left, middle_y), (right, middle_y), (middle_x, top), (middle_x, bottom)], float)
    try:
        found = rays(pixels, frame.matrix, frame.distortion_model, frame.distortion)
    except ValueError as error:
        raise CameraFrameError(f"{error}: give camera_info of plumb_bob, rational_polynomial or equidistant") from error
    if not np.isfinite(found[0]).all():
        return None
    focal = float(frame.matrix[0, 0]), float(frame.matrix[1, 1])
    sides = found[2, 0] - found[1, 0], found[4, 1] - found[3, 1]
    plain = ((right - left) / focal[0], (bottom - top) / focal[1])
    width, height = (each if np.isfinite(each) else other for each, other in zip(sides, plain, strict=True))
    rows, columns = frame.image.shape[:2]
    whole = left > _EDGE_PX and right < columns - _EDGE_PX, top > _EDGE_PX and bottom < rows - _EDGE_PX
    step = frame.pose[:3, :3] @ found[0]
    return ViewRay(
        frame.pose[:3, 3], step, frame.pose, focal, (float(width) * focal[0], float(height) * focal[1]), whole
    )


def half_chord(size: Vector, direction: Numbers) -> float:
    """Return half of the way through the middle of a box along the axes, m, in a direction of length 1."""
    with np.errstate(divide="ignore", over="ignore"):
        return float(np.min(np.asarray(size) / 2 / np.abs(direction)))
