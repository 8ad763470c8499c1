"""The ChArUco board: how it is printed, and where its corners are in an image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from kc_vla.calibration.errors import PoorCalibrationError

Array = NDArray[np.float64]
_DICTIONARY = cv2.aruco.DICT_5X5_100
_FEWEST = 8
"""Corners without which an image says too little."""
_PX_PER_SQUARE = 200
_A4_MM = (297.0, 210.0)
_EDGE_MM, _TEXT_MM = 5.0, 3.5
"""What printers leave white at the edges of the page; height of the line of text below the board."""


@dataclass(frozen=True, eq=False)
class Corners:
    """What of the board is seen in an image.

    Attributes:
        pixels: (N, 2), px.
        points: the same corners on the board (N, 3), m, z = 0.
    """

    pixels: Array
    points: Array


@dataclass(frozen=True)
class CalibrationBoard:
    """A chessboard with markers in its white squares; its origin is a corner, x along the long side.

    Attributes:
        columns, rows: of squares.
        square: side, m; measure it on the print.
        marker: side, m.
    """

    columns: int = 9
    rows: int = 6
    square: float = 0.030
    marker: float = 0.022

    def __post_init__(self) -> None:
        """Check that there can be such a board.

        Raises:
            PoorCalibrationError: there is none.
        """
        if not 0.0 < self.marker < self.square:
            raise PoorCalibrationError(
                f"markers of {1e3 * self.marker:g} mm do not fit into squares of {1e3 * self.square:g} mm: "
                "a marker must be smaller than a square"
            )
        if self.columns < 3 or self.rows < 3:
            raise PoorCalibrationError(f"{self.columns} x {self.rows} squares: at least 3 x 3 are needed")

    @cached_property
    def _board(self) -> cv2.aruco.CharucoBoard:
        dictionary = cv2.aruco.getPredefinedDictionary(_DICTIONARY)
        return cv2.aruco.CharucoBoard((self.columns, self.rows), self.square, self.marker, dictionary)

    @cached_property
    def _detector(self) -> cv2.aruco.CharucoDetector:
        return cv2.aruco.CharucoDetector(self._board)

    @property
    def title(self) -> str:
        """Return what is printed beside it."""
        return (
            f"ChArUco, 5x5_100 markers, {self.columns} x {self.rows} squares of {1e3 * self.square:g} mm, markers of "
            f"{1e3 * self.marker:g} mm. Print at 100 % (no fit to page), then measure a square."
        )

    def picture(self, px_per_square: int = _PX_PER_SQUARE) -> NDArray[np.uint8]:
        """Return the board (H, W) uint8, gray."""
        size = (self.columns * px_per_square, self.rows * px_per_square)
        return np.asarray(self._board.generateImage(size), np.uint8)

    def find(self, picture: NDArray[np.uint8]) -> Corners | None:
        """Return the corners in an image (H, W, 3) RGB or (H, W) gray; None if too few are seen."""
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) if picture.ndim == 3 else picture
        pixels, ids, _, _ = self._detector.detectBoard(grey)
        if ids is None or len(ids) < _FEWEST:
            return None
        points = np.asarray(self._board.getChessboardCorners(), float)[ids.ravel()]
        if len(np.unique(points[:, 0])) < 2 or len(np.unique(points[:, 1])) < 2:
            return None  # on one line
        return Corners(np.asarray(pixels, float).reshape(-1, 2), points)

    def write_pdf(self, path: Path) -> None:
        """Write an A4 page with the board in its true size.

        Raises:
            PoorCalibrationError: the board and the line that says what it is do not fit on the page.
            OSError: it cannot be written.
        """
        size_mm = np.array([self.columns, self.rows]) * self.square * 1e3
        below_mm = _EDGE_MM + 2 * _TEXT_MM
        if (size_mm > np.array(_A4_MM) - [2 * _EDGE_MM, _EDGE_MM + below_mm]).any():
            raise PoorCalibrationError(
                f"a board of {size_mm[0]:.0f} x {size_mm[1]:.0f} mm does not fit on A4 "
                f"({_A4_MM[0]:.0f} x {_A4_MM[1]:.0f} mm): choose fewer or smaller squares"
            )
        px_per_mm = _PX_PER_SQUARE / (self.square * 1e3)
        width, height = (round(side * px_per_mm) for side in _A4_MM)
        page = Image.new("1", (width, height), 1)
        board = Image.fromarray(self.picture()).convert("1")
        left, top = (width - board.width) // 2, (height - board.height) // 2
        page.paste(board, (left, min(top, height - board.height - round(below_mm * px_per_mm))))
        font = ImageFont.load_default(_TEXT_MM * px_per_mm)
        edge = round(_EDGE_MM * px_per_mm)
        ImageDraw.Draw(page).text((edge, height - edge), self.title, fill=0, font=font, anchor="ls")
        page.save(path, "PDF", resolution=px_per_mm * 25.4)  # two colours: packed without loss
