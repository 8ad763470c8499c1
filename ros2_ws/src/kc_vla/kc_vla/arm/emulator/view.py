"""An image of the emulated arm: from the side and from above, with its angles, so that a person sees it move."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.robot import Vector

_SIDE, _TEXT = 320, 96
"""px: of a view, square, and of the strip of text below."""
_METRES = 1.5
"""That a view spans."""
_PAPER, _INK, _GRID = (250, 250, 250), (40, 40, 40), (215, 215, 215)
_POWERED, _LIMP = (36, 110, 185), (190, 60, 40)
_FONT, _SIZE = cv2.FONT_HERSHEY_SIMPLEX, 0.42


def draw_arm(
    angles: Vector, origins: Vector, powered: NDArray[np.bool_], opening: float, status: str
) -> NDArray[np.uint8]:
    """Draw an arm.

    Args:
        angles: of the joints (6,), rad.
        origins: of their frames in the base frame (6, 3), m.
        powered: which have power (6,); the others are drawn in red.
        opening: of the gripper, m.
        status: in words.

    Returns:
        (416, 640, 3) uint8 RGB.
    """
    picture = np.full((_SIDE + _TEXT, 2 * _SIDE, 3), _PAPER, np.uint8)
    joints = np.concatenate([np.zeros((1, 3)), origins])
    for left, title, across, up, floor in ((0, "side: x, z", 0, 2, 0.8), (_SIDE, "above: x, y", 0, 1, 0.5)):
        view = picture[:_SIDE, left : left + _SIDE]
        _draw_view(view, joints[:, [across, up]], powered, floor)
        cv2.putText(view, title, (8, 16), _FONT, _SIZE, _INK, 1, cv2.LINE_AA)
    cv2.line(picture, (_SIDE, 0), (_SIDE, _SIDE), _GRID, 1)
    degrees = "  ".join(f"J{k} {value:6.1f}" for k, value in enumerate(np.degrees(angles), 1))
    x, y, z = joints[-1] * 1e3
    lines = (
        f"{degrees}  degrees",
        f"flange  x {x:.0f}  y {y:.0f}  z {z:.0f} mm    gripper {opening * 1e3:.0f} mm",
        f"{'power on' if powered.all() else 'no power' if not powered.any() else 'power on some joints'}    {status}",
    )
    for row, line in enumerate(lines):
        cv2.putText(picture, line, (10, _SIDE + 24 + 26 * row), _FONT, _SIZE, _INK, 1, cv2.LINE_AA)
    return picture


def _draw_view(view: NDArray[np.uint8], joints: Vector, powered: NDArray[np.bool_], floor: float) -> None:
    """Draw joints (7, 2), m, the base first; the origin lies at the share `floor` of the height."""
    origin, scale = np.array([0.4, floor]) * _SIDE, _SIDE / _METRES
    for k in range(-6, 8):
        at = origin + 0.2 * k * scale
        cv2.line(view, (round(at[0]), 0), (round(at[0]), _SIDE), _GRID, 1)
        cv2.line(view, (0, round(at[1])), (_SIDE, round(at[1])), _GRID, 1)
    points = np.round(origin + joints * (scale, -scale)).astype(int)
    for k, (start, end) in enumerate(pairwise(points)):
        colour = _POWERED if powered[k] else _LIMP
        cv2.line(view, tuple(map(int, start)), tuple(map(int, end)), colour, 6, cv2.LINE_AA)
    for point in points:
        cv2.circle(view, tuple(map(int, point)), 5, _INK, -1, cv2.LINE_AA)
