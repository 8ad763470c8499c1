"""What an image shows of one object: the part of it in a box, which a detector gives or a 3-D box leads to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import project

Pixels = NDArray[np.uint8]
_NEAR_M = 0.01
"""What is nearer to the lens than that is cut off before it is projected."""
_SIGNS = np.array(list(product((-0.5, 0.5), repeat=3)))
_EDGES = [(a, b) for a in range(8) for b in range(a + 1, 8) if (_SIGNS[a] != _SIGNS[b]).sum() == 1]


class CropError(StackError, ValueError):
    """An object cannot be cut out of an image, or a crop cannot be kept or read; the message is one line for people."""


class PixelBox(NamedTuple):
    """A part of an image, px, from its left upper corner: x to the right, y down; the far sides are outside of it."""

    left: float
    top: float
    right: float
    bottom: float


def cropped(image: Pixels, box: PixelBox, margin: float = 0.0) -> Pixels:
    """Return the part of an image in a box, as a view of it.

    Args:
        image: (H, W, 3) uint8, RGB.
        box: cut to the image, whole pixels outwards.
        margin: of the surroundings, on each side, as a share of the box's side.

    Raises:
        CropError: the image has another form, or nothing of the box is in it.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
        raise CropError(f"an image of {image.dtype} {image.shape}: give RGB of uint8 (H, W, 3) to cut from")
    height, width = image.shape[:2]
    inside = _inside(box, width, height)
    across, down = margin * (box.right - box.left), margin * (box.bottom - box.top)
    wider = PixelBox(box.left - across, box.top - down, box.right + across, box.bottom + down)
    left, top, right, bottom = _inside(wider, width, height) if margin else inside
    return image[int(top) : int(bottom), int(left) : int(right)]


def projected_box(
    pose: Pose,
    size: Sequence[float],
    camera: Pose,
    matrix: NDArray[np.float64],
    image_size: tuple[int, int],
    model: str = "plumb_bob",
    distortion: Sequence[float] = (),
) -> PixelBox:
    """Return where the box of an object is in an image, cut to the image.

    Args:
        pose: of the middle of the object's box (4, 4), m, in any frame.
        size: along the axes of that pose, m.
        camera: pose (4, 4) of the camera's optical frame (x right, y down, z forwards) in the same frame, m.
        matrix: its intrinsic matrix (3, 3), px.
        image_size: width and height, px.
        model: of the lens distortion, as `camera_info` names it ...
        distortion: ... and its coefficients; empty for none.

    Raises:
        CropError: the box is behind the camera or outside of the image, or a number is not finite.
        ValueError: the model of the distortion is not known.
    """
    corners = _SIGNS * np.asarray(size, float) @ pose[:3, :3].T + pose[:3, 3]
    seen = (corners - camera[:3, 3]) @ camera[:3, :3]
    if not (np.isfinite(seen).all() and np.isfinite(matrix).all()):
        raise CropError("the box of an object, or the camera's pose, has a number that is not finite")
    points = _before_lens(seen)
    if not points.size:
        raise CropError("the object is behind the camera: nothing of it is in the image")
    pixels, _ = project(points, np.eye(4), matrix, model, distortion)
    (left, top), (right, bottom) = pixels.min(axis=0), pixels.max(axis=0)
    return _inside(PixelBox(float(left), float(top), float(right), float(bottom)), *image_size)


def _before_lens(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is before the lens of a box's corners, and where its edges pass the lens (N, 3)."""
    kept = [each for each in corners if each[2] >= _NEAR_M]
    for a, b in _EDGES:
        near, far = sorted((corners[a], corners[b]), key=lambda each: float(each[2]))
        if near[2] < _NEAR_M <= far[2]:
            kept.append(near + (far - near) * (_NEAR_M - near[2]) / (far[2] - near[2]))
    return np.array(kept)


def _inside(box: PixelBox, width: int, height: int) -> PixelBox:
    """Return the whole pixels of a box that an image has."""
    if not all(map(math.isfinite, box)):
        raise CropError(f"the box {tuple(box)} has a side that is no number: give left, top, right, bottom, px")
    left, top = max(0, math.floor(box.left)), max(0, math.floor(box.top))
    right, bottom = min(width, math.ceil(box.right)), min(height, math.ceil(box.bottom))
    if right <= left or bottom <= top:
        told = ", ".join(f"{each:.6g}" for each in box)
        raise CropError(f"nothing of the box ({told}) px is in an image of {width}x{height} px")
    return PixelBox(left, top, right, bottom)
