"""Images of a calibration: the corners that were found, and how far each is from where it should be."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from kc_vla.calibration.board import Array, Corners
from kc_vla.calibration.material import Picture

_FOUND, _LATE, _INK = (40, 200, 60), (220, 50, 40), (255, 255, 255)
_LONGER = 50
"""How much longer than true a residual is drawn."""
_COLUMNS, _WIDTH = 4, 320


def draw_detections(pictures: Sequence[Picture], views: Sequence[Corners], residuals: Sequence[Array]) -> Picture:
    """Return all views in one image: corners in green, residuals, fifty times as long, in red."""
    tiles = [_tile(*row) for row in zip(pictures, views, residuals, strict=True)]
    tiles += [np.zeros_like(tiles[0])] * (-len(tiles) % _COLUMNS)
    rows = [np.concatenate(tiles[k : k + _COLUMNS], axis=1) for k in range(0, len(tiles), _COLUMNS)]
    return np.concatenate(rows)


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
