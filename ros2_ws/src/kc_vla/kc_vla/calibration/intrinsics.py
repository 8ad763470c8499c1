"""Lens of a camera from images of the board (OpenCV's calibrateCamera, model plumb_bob), and how well it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from kc_vla.calibration.board import Array, Corners
from kc_vla.calibration.errors import PoorCalibrationError
from kc_vla.calibration.material import Picture

FEWEST_VIEWS = 10
_GRID = 4
_COVERED = 0.6
"""Share of the cells of a 4 x 4 grid over the image in which corners must lie."""
_TILT = np.radians(15.0)
"""Some views must be tilted so far against each other: else focal length and distance cannot be told apart."""
_WORST_RMS = 1.0
"""px."""

_FOUND, _LATE, _INK = (40, 200, 60), (220, 50, 40), (255, 255, 255)
_LONGER = 50
"""How much longer than true a residual is drawn."""
_COLUMNS, _WIDTH = 4, 320


@dataclass(frozen=True, eq=False)
class Intrinsics:
    """A lens.

    Attributes:
        matrix: (3, 3), px.
        distortion: k1, k2, p1, p2, k3.
        rms: of all corners, px.
        view_rms: of each view's (V,), px.
        boards: pose (V, 4, 4) of the board in the camera frame in each view, m.
    """

    matrix: Array
    distortion: Array
    rms: float
    view_rms: Array
    boards: Array


def calibrate_intrinsics(views: Sequence[Corners], size: tuple[int, int]) -> Intrinsics:
    """Return the lens that explains the views.

    Args:
        views: of the board.
        size: width and height of the images, px.

    Raises:
        PoorCalibrationError: too few views, views that are all alike, or a residual that is too large.
    """
    if len(views) < FEWEST_VIEWS:
        raise PoorCalibrationError(f"the board is seen in {len(views)} images: at least {FEWEST_VIEWS} are needed")
    covered = coverage(views, size)
    if covered < _COVERED:
        raise PoorCalibrationError(
            f"the board covers {covered:.0%} of the image over all views, {_COVERED:.0%} are needed: "
            "show it in the corners, too, and from near by"
        )
    rms, *lens, turns, places = cv2.calibrateCamera(
        [view.points.astype(np.float32) for view in views],
        [view.pixels.astype(np.float32) for view in views],
        size,
        None,
        None,
    )
    matrix, distortion = (np.asarray(part, float) for part in lens)
    boards = np.array([_pose(turn, place) for turn, place in zip(turns, places, strict=True)])
    normals = boards[:, :3, 2]
    if np.arccos(np.clip(normals @ normals.T, -1.0, 1.0)).max() < _TILT:
        raise PoorCalibrationError("the board is parallel to itself in all views: tilt it, to all sides, by 30 degrees")
    if rms > _WORST_RMS:
        raise PoorCalibrationError(
            f"the residual is {rms:.2f} px, {_WORST_RMS:g} px is the worst: is the board flat, the image sharp, and "
            "its squares of the size that was given?"
        )
    view_rms = np.array([reprojection_rms(v, matrix, distortion, b) for v, b in zip(views, boards, strict=True)])
    return Intrinsics(matrix, distortion.ravel(), float(rms), view_rms, boards)


def board_pose(view: Corners, matrix: Array, distortion: Array) -> Array:
    """Return the pose (4, 4) of the board in the camera frame, m."""
    _, turn, place = cv2.solvePnP(view.points, view.pixels, matrix, distortion, flags=cv2.SOLVEPNP_IPPE)
    turn, place = cv2.solvePnPRefineLM(view.points, view.pixels, matrix, distortion, turn, place)
    return _pose(turn, place)


def reprojection_rms(view: Corners, matrix: Array, distortion: Array, board: Array) -> float:
    """Return the root mean square distance of a view's corners from where they should be, px."""
    return float(np.sqrt(np.mean(np.sum(residuals(view, matrix, distortion, board) ** 2, axis=1))))


def residuals(view: Corners, matrix: Array, distortion: Array, board: Array) -> Array:
    """Return the way from where each corner should be to where it is seen (N, 2), px."""
    turn, _ = cv2.Rodrigues(board[:3, :3])
    expected, _ = cv2.projectPoints(view.points, turn, board[:3, 3], matrix, distortion)
    return np.asarray(view.pixels - expected.reshape(-1, 2))


def coverage(views: Sequence[Corners], size: tuple[int, int]) -> float:
    """Return the share of the cells of a grid over the image in which a corner was seen in any view."""
    cells = np.concatenate([view.pixels for view in views]) / size * _GRID
    inside = np.clip(cells.astype(int), 0, _GRID - 1)
    return len(np.unique(inside, axis=0)) / _GRID**2


def draw_detections(pictures: Sequence[Picture], views: Sequence[Corners], residuals: Sequence[Array]) -> Picture:
    """Return all views in one image: corners in green, residuals, fifty times as long, in red."""
    tiles = [_tile(*row) for row in zip(pictures, views, residuals, strict=True)]
    tiles += [np.zeros_like(tiles[0])] * (-len(tiles) % _COLUMNS)
    rows = [np.concatenate(tiles[k : k + _COLUMNS], axis=1) for k in range(0, len(tiles), _COLUMNS)]
    return np.concatenate(rows)


def _pose(turn: Any, place: Any) -> Array:
    pose = np.eye(4)
    pose[:3, :3], _ = cv2.Rodrigues(turn)
    pose[:3, 3] = np.ravel(place)
    return pose


def _tile(picture: Picture, view: Corners, residuals: Array) -> Picture:
    drawn = picture.copy()
    for at, off in zip(view.pixels, residuals, strict=True):
        start, end = (tuple(int(v) for v in np.round(point)) for point in (at, at + _LONGER * off))
        cv2.line(drawn, start, end, _LATE, 2, cv2.LINE_AA)
        cv2.circle(drawn, start, 4, _FOUND, 1, cv2.LINE_AA)
    height = round(picture.shape[0] * _WIDTH / picture.shape[1])
    small = cv2.resize(drawn, (_WIDTH, height), interpolation=cv2.INTER_AREA)
    rms = np.sqrt(np.mean(np.sum(residuals**2, axis=1)))
    small[:28] = small[:28] // 3
    cv2.putText(small, f"{rms:.2f} px", (8, 20), cv2.FONT_HERSHEY_SIMPLEX, 0.5, _INK, 1, cv2.LINE_AA)
    return np.asarray(small, np.uint8)
