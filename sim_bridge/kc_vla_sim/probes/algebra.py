"""The one costly piece of linear algebra of the probes."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

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
