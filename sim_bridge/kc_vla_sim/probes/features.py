"""Images and frame numbers as vectors: colors on a grid, colored blobs, and a clock to be read in many ways.

Nothing is learned from labels here. The same reduction, fitted on training episodes, serves all probes.
"""

from __future__ import annotations

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from kc_vla_sim.probes.gather import Views
from kc_vla_sim.robot import CONTROL_RATE

GRID = 24
"""Cells along each side of an image."""
BLOB_NUMBERS = 15
_VIVID = 0.15
"""A pixel belongs to a blob by as much as one channel exceeds the others by more than this; the table does not."""
_CLOCK_STEPS = 24
_CLOCK_WAVES_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_MOST = 4.0
"""Standard deviations; what lies further out is as far."""
_SMALL = 1e-6

Matrix = NDArray[np.float64]


def symmetric_eigen(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Return the eigenvalues (n,), ascending, and eigenvectors (n, n), by column, of a symmetric matrix.

    On one thread: on a busy machine several wait for each other a hundred times as long.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        values, vectors = torch.linalg.eigh(torch.from_numpy(matrix))
    finally:
        torch.set_num_threads(threads)
    return values.numpy(), vectors.numpy()


def colours(views: Views) -> Matrix:
    """Return how red, green, blue and bright each cell of the grid is in each view: (2, 4 * GRID * GRID), 0..1.

    Red is what exceeds the other two channels, and so on: the mass and the place of a colored thing.
    """
    seen = []
    for picture in views:
        cells = cv2.resize(_opponents(picture), (GRID, GRID), interpolation=cv2.INTER_AREA)
        seen.append(cells.reshape(-1))
    return np.asarray(seen, np.float64)


def blobs(views: Views) -> Matrix:
    """Return how much red, green and blue there is in each view, where, and how far spread: (2, BLOB_NUMBERS).

    Mass, center (column, row) and spread (column, row) of each color, in shares of the image; 0 where there is none.
    """
    seen = []
    for picture in views:
        height, width = picture.shape[:2]
        vivid = np.maximum(_opponents(picture)[..., :3] - _VIVID, 0).astype(np.float64)
        places = np.stack(np.meshgrid(np.arange(width) / width, np.arange(height) / height), axis=-1).reshape(-1, 2)
        weights = vivid.reshape(-1, 3).T
        mass = weights.sum(axis=1, keepdims=True)
        share = weights / np.maximum(mass, _SMALL)
        centre = share @ places
        spread = np.sqrt(np.maximum(share @ places**2 - centre**2, 0))
        seen.append(np.concatenate([np.sqrt(mass / len(places)), centre, spread], axis=1).reshape(-1))
    return np.asarray(seen)


def _opponents(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    rgb = picture.astype(np.float32) / 255
    others = np.stack([rgb[..., [1, 2]].max(-1), rgb[..., [0, 2]].max(-1), rgb[..., [0, 1]].max(-1)], axis=-1)
    return np.concatenate([np.maximum(rgb - others, 0), rgb.mean(-1, keepdims=True)], axis=-1)


class Reduction:
    """The directions in which samples differ most, and their places along these, each of variance 1."""

    def __init__(self, samples: Matrix, most: int) -> None:
        """Learn the directions in which samples differ most.

        Args:
            samples: (n, features) to learn from.
            most: directions to keep.
        """
        self._mean = samples.mean(axis=0)
        centred = samples - self._mean
        # Few samples of many features: their scalar products give the same directions as an SVD, much sooner.
        squares, places = symmetric_eigen(centred @ centred.T)
        kept = np.flatnonzero(squares > _SMALL**2 * max(squares[-1], _SMALL))[::-1][:most]
        self._directions = np.sqrt(len(samples)) * (centred.T @ places[:, kept] / squares[kept]).T

    def __call__(self, samples: Matrix) -> Matrix:
        """Map (n, features) to (n, at most `most`)."""
        return np.asarray(np.clip((samples - self._mean) @ self._directions.T, -_MOST, _MOST))


class TimeFeatures:
    """Frame numbers as a probe can use them: the time, its logarithm, waves, and which part of the episodes it is."""

    def __init__(self, frames: NDArray[np.int64]) -> None:
        """Learn the usual times.

        Args:
            frames: (n,) to learn from.
        """
        self._steps = np.unique(np.quantile(frames, np.linspace(0, 1, _CLOCK_STEPS + 1)[1:-1]))
        self._scale = float(max(frames.max(), 1))

    def __call__(self, frames: NDArray[np.int64]) -> Matrix:
        """Map (n,) to (n, features)."""
        seconds = frames[:, None] / CONTROL_RATE
        waves = 2 * np.pi * seconds / np.array(_CLOCK_WAVES_S)
        passed = frames[:, None] >= self._steps
        share = frames[:, None] / self._scale
        return np.concatenate([share, np.log1p(seconds), np.sin(waves), np.cos(waves), passed], axis=1)
