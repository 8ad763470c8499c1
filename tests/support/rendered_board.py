"""Pictures of a calibration board as a camera with a known lens would take them from a known place."""

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.calibration.board import Board

MATRIX = np.array([[612.0, 0.0, 325.0], [0.0, 609.0, 236.0], [0.0, 0.0, 1.0]])
DISTORTION = np.array([0.09, -0.2, 0.0006, -0.0011, 0.02])
SIZE = (640, 480)
_FINER = 2
_PAPER, _TABLE = 235, 110
_MARGIN_M = 0.01


def render(board: Board, pose: NDArray[np.float64], noise: np.random.Generator | None = None) -> NDArray[np.uint8]:
    """A picture (480, 640, 3) of a board whose pose in the camera frame is `pose` (4, 4)."""
    width, height = (side * _FINER for side in SIZE)
    columns, rows = np.meshgrid((np.arange(width) + 0.5) / _FINER - 0.5, (np.arange(height) + 0.5) / _FINER - 0.5)
    pixels = np.stack([columns, rows], axis=-1).reshape(-1, 1, 2)
    rays = cv2.undistortPointsIter(
        pixels, MATRIX, DISTORTION, None, None, (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 40, 1e-10)
    ).reshape(-1, 2)
    rays = np.concatenate([rays, np.ones((len(rays), 1))], axis=1) @ pose[:3, :3]  # in the board's frame
    origin = -pose[:3, :3].T @ pose[:3, 3]
    reach = -origin[2] / rays[:, 2]
    points = origin[:2] + reach[:, None] * rays[:, :2]
    picture = board.picture().astype(np.float32)
    per_metre = picture.shape[1] / (board.columns * board.square)
    where = (points * per_metre - 0.5).astype(np.float32).reshape(height, width, 2)
    seen = cv2.remap(picture, where[..., 0], where[..., 1], cv2.INTER_LINEAR, borderValue=_PAPER)
    size = np.array([board.columns, board.rows]) * board.square
    away = np.maximum(-points, points - size).max(axis=1).reshape(height, width)
    seen[(away > _MARGIN_M) | (reach.reshape(height, width) <= 0)] = _TABLE
    grey = cv2.resize(seen, SIZE, interpolation=cv2.INTER_AREA)
    grey = cv2.GaussianBlur(grey, (0, 0), 0.6)
    if noise is not None:
        grey = grey + noise.normal(0.0, 2.0, grey.shape)
    return np.repeat(np.clip(grey, 0, 255).astype(np.uint8)[..., None], 3, axis=2)


def looking_pose(chance: np.random.Generator, board: Board) -> NDArray[np.float64]:
    """A board somewhere in view, tilted by up to 40 degrees (4, 4), camera frame."""
    pose = np.eye(4)
    tilt = Rotation.from_euler("xyz", [*chance.uniform(-40, 40, 2), chance.uniform(-30, 30)], degrees=True)
    pose[:3, :3] = tilt.as_matrix()
    distance = chance.uniform(0.25, 0.5)
    aim = chance.uniform(-0.33, 0.33, 2) * np.array(SIZE) / MATRIX[0, 0] * distance
    middle = np.array([board.columns, board.rows, 0]) * board.square / 2
    pose[:3, 3] = [*aim, distance] - pose[:3, :3] @ middle
    return pose
