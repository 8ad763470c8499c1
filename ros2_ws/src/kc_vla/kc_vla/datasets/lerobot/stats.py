"""Statistics of columns and images as LeRobot keeps them, for normalizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

Stats = dict[str, list[Any]]
"""Lists under "min", "max", "mean", "std" and "count"; of quantiles under "q01", "q99" and the like."""
QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)
"""Those that LeRobot 3.0 keeps."""


def column_stats(values: ArrayLike) -> Stats:
    """Return statistics over the frames of a column, (T,) or (T, D): lists of one number or of D."""
    rows = _rows(values)
    found = {"min": rows.min(axis=0), "max": rows.max(axis=0), "mean": rows.mean(axis=0), "std": rows.std(axis=0)}
    return {**{name: array.tolist() for name, array in found.items()}, "count": [len(rows)]}


def quantile_stats(values: ArrayLike, shares: Sequence[float] = (0.01, 0.99)) -> Stats:
    """Return `column_stats` with quantiles, by default the first and the last percent, as "q01" and "q99"."""
    found = np.quantile(_rows(values), shares, axis=0)
    return {
        **column_stats(values),
        **{f"q{round(100 * q):02d}": row.tolist() for q, row in zip(shares, found, strict=True)},
    }


def merged_stats(parts: Sequence[Stats]) -> Stats:
    """Return statistics over everything of which `parts` are those of disjoint shares, without quantiles."""
    counts = np.array([part["count"][0] for part in parts], float)
    shares = counts / counts.sum()
    means, deviations = (np.array([part[name] for part in parts]) for name in ("mean", "std"))
    mean = np.tensordot(shares, means, 1)
    std = np.sqrt(np.tensordot(shares, deviations**2 + (means - mean) ** 2, 1))
    ends = {name: np.array([part[name] for part in parts]) for name in ("min", "max")}
    found = {"min": ends["min"].min(axis=0), "max": ends["max"].max(axis=0), "mean": mean, "std": std}
    return {**{name: array.tolist() for name, array in found.items()}, "count": [int(counts.sum())]}


class PictureStats:
    """Statistics over all pixels of a video for each color, in 0..1, as lists (3, 1, 1)."""

    def __init__(self) -> None:
        self._count = 0
        self._mean, self._square = np.zeros(3), np.zeros(3)
        self._min, self._max = np.full(3, 255), np.zeros(3, int)

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Take in an image (H, W, 3)."""
        mean, deviation = (np.ravel(values) / 255 for values in cv2.meanStdDev(picture))
        self._count += 1
        self._mean += mean
        self._square += deviation**2 + mean**2
        pixels = picture.reshape(-1, 3)
        self._min = np.minimum(self._min, pixels.min(axis=0))
        self._max = np.maximum(self._max, pixels.max(axis=0))

    def result(self) -> Stats:
        """Return the statistics; of at least one image."""
        mean = self._mean / self._count
        std = np.sqrt(np.maximum(self._square / self._count - mean**2, 0))
        found = {"min": self._min / 255, "max": self._max / 255, "mean": mean, "std": std}
        return {**{name: array.reshape(3, 1, 1).tolist() for name, array in found.items()}, "count": [self._count]}


def _rows(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, float)
    return array.reshape(len(array), -1)
