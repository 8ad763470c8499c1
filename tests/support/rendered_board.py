"""Pictures of a calibration board as a camera with a known lens would take them from a known place."""

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.calibration.board import CalibrationBoard

MATRIX = np.array([[612.0, 0.0, 325.0], [0.0, 609.0, 236.0], [0.0, 0.0, 1.0]])
DISTORTION = np.array([0.09, -0.2, 0.0006, -0.0011, 0.02])
SIZE = (640, 480)
_FINER = 2
_PAPER, _TABLE = 235, 110
_MARGIN_M = 0.01


@cache
def _rays() -> NDArray[np.float32]:
    """Where each fine pixel looks (n, 1, 2), camera frame, at depth 1: it takes longer than the rest of a picture."""
    width, height = (side * _FINER for side in SIZE)
    columns, rows = np.meshgrid((np.arange(width) + 0.5) / _FINER - 0.5, (np.arange(height) + 0.5) / _FINER - 0.5)
    pixels = np.stack([columns, rows], axis=-1).reshape(-1, 1, 2)
    stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 40, 1e-10)
    return cv2.undistortPointsIter(pixels, MATRIX, DISTORTION, None, None, stop).astype(np.float32)


def render(
    board: CalibrationBoard, pose: NDArray[np.float64], noise: np.random.Generator | None = None
) -> NDArray[np.uint8]:
    """A picture (480, 640, 3) of a board whose pose in the camera frame is `pose` (4, 4)."""
    width, height = (side * _FINER for side in SIZE)
    turn, origin = pose[:3, :3], -pose[:3, :3].T @ pose[:3, 3]
    onto_board = np.outer([*origin[:2], 1.0], turn[:, 2])  # the board is flat: where a ray meets it is a homography
    onto_board[:2] -= origin[2] * turn[:, :2].T
    per_metre = board.picture().shape[1] / (board.columns * board.square)
    margin = round(_MARGIN_M * per_metre)
    picture = cv2.copyMakeBorder(board.picture(), *[margin] * 4, cv2.BORDER_CONSTANT, value=_PAPER).astype(np.float32)
    pixels = np.diag([per_metre, per_metre, 1.0])
    pixels[:2, 2] = margin - 0.5
    where = cv2.perspectiveTransform(_rays(), pixels @ onto_board).reshape(height, width, 2)
    seen = cv2.remap(picture, where, None, cv2.INTER_LINEAR, borderValue=_TABLE)
    grey = cv2.resize(seen, SIZE, interpolation=cv2.INTER_AREA)
    grey = cv2.GaussianBlur(grey, (0, 0), 0.6)
    if noise is not None:
        grey = grey + noise.normal(0.0, 2.0, grey.shape)
    return np.repeat(np.clip(grey, 0, 255).astype(np.uint8)[..., None], 3, axis=2)


def looking_pose(chance: np.random.Generator, board: CalibrationBoard) -> NDArray[np.float64]:
    """A board somewhere in view, tilted by up to 40 degrees (4, 4), camera frame."""
    pose = np.eye(4)
    tilt = Rotation.from_euler("xyz", [*chance.uniform(-40, 40, 2), chance.uniform(-30, 30)], degrees=True)
    pose[:3, :3] = tilt.as_matrix()
    distance = chance.uniform(0.25, 0.5)
    aim = chance.uniform(-0.33, 0.33, 2) * np.array(SIZE) / MATRIX[0, 0] * distance
    middle = np.array([board.columns, board.rows, 0]) * board.square / 2
    pose[:3, 3] = [*aim, distance] - pose[:3, :3] @ middle
    return pose
