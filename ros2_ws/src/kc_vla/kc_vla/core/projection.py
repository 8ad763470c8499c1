"""Where points are in an image, for a lens as camera_info has it: the one place that projects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_NEAREST_M = 1e-6


def project(
    points: Numbers, camera: Numbers, matrix: Numbers, model: str = "plumb_bob", distortion: Sequence[float] = ()
) -> tuple[Numbers, Numbers]:
    """Project points of a frame into the image of a camera whose pose is known in that frame.

    Args:
        points: (N, 3), m.
        camera: pose (4, 4) of its optical frame (x right, y down, z forwards) in the frame of the points, m.
        matrix: its intrinsic matrix (3, 3), px.
        model: of the distortion: "plumb_bob", "rational_polynomial" or "equidistant".
        distortion: its coefficients, in the order of camera_info; empty for none.

    Returns:
        Pixels (N, 2), x to the right and y down, NaN behind the camera; and depths (N,), m, along its axis.

    Raises:
        ValueError: the model is not known.
    """
    seen = (np.asarray(points, float) - camera[:3, 3]) @ camera[:3, :3]
    depths = seen[:, 2]
    pixels = np.full((len(seen), 2), np.nan)
    ahead = depths > _NEAREST_M
    flat = _distorted(seen[ahead, :2] / depths[ahead, None], model, list(distortion))
    pixels[ahead] = flat @ np.asarray(matrix)[:2, :2].T + np.asarray(matrix)[:2, 2]
    return pixels, np.asarray(depths)


def _distorted(flat: Numbers, model: str, given: list[float]) -> Numbers:
    """Return where a lens shows points of the plane at depth 1 (N, 2), in that plane."""
    if model == "equidistant":
        return _equidistant(flat, given + [0.0] * (4 - len(given)))
    if model not in ("plumb_bob", "rational_polynomial"):
        raise ValueError(f"the distortion model '{model}' is not known")
    k1, k2, p1, p2, k3, k4, k5, k6 = (given + [0.0] * 8)[:8]
    x, y = flat.T
    r2 = x * x + y * y
    radial = (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1 + r2 * (k4 + r2 * (k5 + r2 * k6)))
    return np.stack(
        [x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y],
        axis=1,
    )


def _equidistant(flat: Numbers, k: list[float]) -> Numbers:
    radius = np.linalg.norm(flat, axis=1)
    angle = np.arctan(radius)
    a2 = angle * angle
    bent = angle * (1 + a2 * (k[0] + a2 * (k[1] + a2 * (k[2] + a2 * k[3]))))
    factor = np.divide(bent, radius, out=np.ones_like(radius), where=radius > 1e-9)
    return np.asarray(flat * factor[:, None])
