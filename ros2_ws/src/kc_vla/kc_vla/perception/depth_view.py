"""A depth image as points with normals on a coarse grid: what is compared to know whether a camera still fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import rays
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.smooth_depth import smooth_depth

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
_COLUMNS = 48
"""Columns of the grid; it has as many rows as the image's proportions give."""
_STEP_M, _STEP_SHARE = 0.02, 0.05
"""Neighbors of one surface differ in depth by less than that, or by this share of it."""
_FLATTEST = 0.15
"""Sine of the least angle between the line of sight and a surface whose depth can be compared."""


@dataclass(frozen=True, eq=False)
class DepthView:
    """What a depth camera saw, at the pixels of a grid.

    Attributes:
        pose: of the optical frame (4, 4), m, as it was reported.
        points: in the optical frame (rows, columns, 3), m; NaN where no depth is known.
        normals: of the surface there, of length 1, towards the camera; NaN where it is not known.
        matrix: intrinsic matrix (3, 3), px.
        size: width and height of the image, px.
        model: of the lens distortion.
        distortion: its coefficients.
        stands: the camera is beside the arm, see `CameraFrame`.
    """

    pose: Pose
    points: Numbers
    normals: Numbers
    matrix: Numbers
    size: tuple[int, int]
    model: str
    distortion: tuple[float, ...]
    stands: bool

    @property
    def usable(self) -> Flags:
        """Return where a surface and its normal are known (rows, columns)."""
        return np.asarray(np.isfinite(self.normals[..., 0]))


def depth_view(frame: CameraFrame, farthest_m: float) -> DepthView | None:
    """Return what a frame's depth shows; None of a frame without depth.

    Args:
        frame: of the image.
        farthest_m: what is deeper is left out: depth cameras are inexact there.

    Raises:
        ValueError: The model of the lens is not known.
    """
    if frame.depth_m is None:
        return None
    height, width = frame.depth_m.shape
    columns = min(width, _COLUMNS)
    rows = max(2, min(height, round(columns * height / width)))
    smooth = smooth_depth(frame)
    distortion = tuple(float(each) for each in frame.distortion)
    at, steps = _grid(frame.matrix.tobytes(), (height, width), (rows, columns), frame.distortion_model, distortion)
    deep = smooth[at[0][:, None], at[1][None]].astype(float)
    deep[~(deep < farthest_m)] = np.nan
    points = steps * deep[..., None]
    normals, lens = _normals(points, steps), (frame.matrix, (width, height), frame.distortion_model, distortion)
    return DepthView(frame.pose, points, normals, *lens, frame.stands)


@lru_cache(maxsize=16)
def _grid(
    matrix: bytes, shape: tuple[int, int], grid: tuple[int, int], model: str, distortion: tuple[float, ...]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], Numbers]:
    """Return rows and columns of an image at which it is looked at, and the steps of their rays (rows, columns, 3)."""
    rows, columns = (
        ((np.arange(count) + 0.5) * side / count).astype(np.int64) for count, side in zip(grid, shape, strict=True)
    )
    across, down = np.meshgrid(columns, rows)
    pixels = np.column_stack([across.ravel(), down.ravel()]).astype(float)
    steps = rays(pixels, np.frombuffer(matrix).reshape(3, 3), model, distortion)
    return (rows, columns), steps.reshape(*grid, 3)


def _normals(points: Numbers, steps: Numbers) -> Numbers:
    """Return the normals of the surface at points, both (rows, columns, 3), given the steps of the points' rays."""
    found = np.full(points.shape, np.nan)
    at = np.ascontiguousarray(np.moveaxis(points, 2, 0))  # NumPy computes with long rows much faster
    across, down = at[:, 1:-1, 2:] - at[:, 1:-1, :-2], at[:, 2:, 1:-1] - at[:, :-2, 1:-1]
    (ax, ay, az), (dx, dy, dz), inner = across, down, steps[1:-1, 1:-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        twice_m = 2 * np.maximum(_STEP_M, _STEP_SHARE * at[2, 1:-1, 1:-1])
        normals = np.stack([dy * az - dz * ay, dz * ax - dx * az, dx * ay - dy * ax])
        normals /= np.sqrt(normals[0] ** 2 + normals[1] ** 2 + normals[2] ** 2)
        facing = -(normals * np.moveaxis(inner, 2, 0)).sum(axis=0) / np.sqrt((inner**2).sum(axis=2))
        usable = ~((np.abs(az) > twice_m) | (np.abs(dz) > twice_m)) & (np.abs(facing) >= _FLATTEST)
        normals *= np.sign(facing)
    found[1:-1, 1:-1][usable] = np.moveaxis(normals, 0, 2)[usable]
    return found
