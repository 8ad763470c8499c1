"""The probes' classifier: kernel ridge regression onto the choices, its settings chosen on validation vectors.

It is fitted in closed form, so the same data always give the same classifier. The quadratic and the Gaussian kernels
let it combine what several images tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.probes.features import Matrix, symmetric_eigen

Choices = NDArray[np.int64]

KERNELS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "linear": lambda dots, distances: dots,
    "quadratic": lambda dots, distances: (1 + dots) ** 2,
    "steep quadratic": lambda dots, distances: (1 + 4 * dots) ** 2,
    "wide Gaussian": lambda dots, distances: np.exp(-0.3 * distances),
    "Gaussian": lambda dots, distances: np.exp(-distances),
}
"""Likeness of vectors by their scalar products and squared distances, both in units of the usual squared length."""
RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""Larger ones trust the vectors less."""


@dataclass(frozen=True)
class Classifier:
    """Tells choices from vectors.

    Attributes:
        loss: mean squared error on the validation vectors, where the right choice is 1 and the others are 0.
    """

    loss: float
    _kernel: str
    _known: Matrix
    _scale: float
    _weights: Matrix
    _usual: Matrix

    def tell(self, vectors: Matrix) -> Choices:
        """Return the likeliest choice (n,) for each of `vectors` (n, features)."""
        likeness = _likeness(self._kernel, vectors, self._known, self._scale)
        return np.asarray(np.argmax(likeness @ self._weights + self._usual, axis=1))


def fit(train: tuple[Matrix, Choices], validation: tuple[Matrix, Choices], choices: int) -> Classifier:
    """Fit a classifier to vectors (n, features) and right choices (n,) out of 0 to `choices` - 1.

    Args:
        train: what it learns from.
        validation: what its kernel and ridge are chosen by.
        choices: how many there are.
    """
    known = train[0]
    scale = float((known**2).sum(axis=1).mean()) or 1.0
    right, unseen_right = np.eye(choices)[train[1]], np.eye(choices)[validation[1]]
    usual = right.mean(axis=0)
    candidates = []
    for kernel in KERNELS:
        values, directions = symmetric_eigen(_likeness(kernel, known, known, scale))
        along = directions.T @ (right - usual)
        unseen = _likeness(kernel, validation[0], known, scale)
        for ridge in RIDGES:
            weights = directions @ (along / (np.maximum(values, 0) + ridge)[:, None])
            loss = float(((unseen @ weights + usual - unseen_right) ** 2).mean())
            candidates.append(Classifier(loss, kernel, known, scale, weights, usual))
    return min(candidates, key=lambda candidate: candidate.loss)


def _likeness(kernel: str, vectors: Matrix, known: Matrix, scale: float) -> Matrix:
    """Map (n, features) and (m, features) to (n, m)."""
    dots = vectors @ known.T / scale
    lengths = [(some**2).sum(axis=1) / scale for some in (vectors, known)]
    distances = np.maximum(lengths[0][:, None] + lengths[1] - 2 * dots, 0)
    return KERNELS[kernel](dots, distances)
