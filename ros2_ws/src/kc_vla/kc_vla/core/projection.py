"""Where points are in an image, for a lens as camera_info has it: the one place that projects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_NEAREST_M = 1e-6
_MOST_STEPS, _STEP, _EXACT, _CLOSE = 20, 1e-6, 1e-9, 1e-5
"""How Newton's method searches, in the plane at depth 1."""
_POLYNOMIALS = frozenset({"plumb_bob", "rational_polynomial"})
_WIDEST = 1.5
"""rad; to the side of it nothing is projected onto that plane."""


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


def rays(pixels: Numbers, matrix: Numbers, model: str = "plumb_bob", distortion: Sequence[float] = ()) -> Numbers:
    """Return the direction that each pixel looks in, in the optical frame (N, 3), scaled to a depth of 1.

    It is NaN where the lens shows nothing at that pixel.

    Args:
        pixels: (N, 2), x to the right and y down, px.
        matrix: the camera's intrinsic matrix (3, 3), px.
        model: of the distortion, as for `project`.
        distortion: its coefficients; empty for none.

    Raises:
        ValueError: the model is not known.
    """
    shown = (np.asarray(pixels, float) - matrix[:2, 2]) @ np.linalg.inv(np.asarray(matrix, float)[:2, :2]).T
    flat = _straightened(shown, model, list(distortion))
    return np.column_stack([flat, np.ones(len(flat))])


def _straightened(shown: Numbers, model: str, given: list[float]) -> Numbers:
    """Return the points of the plane at depth 1 (N, 2) that a lens shows there (Newton's method)."""
    flat = _begun(shown, model)
    if not any(given) and model != "equidistant":
        return _distorted(flat, model, given)
    for _ in range(_MOST_STEPS):
        here = _distorted(flat, model, given)
        off = shown - here
        if not (np.abs(off) > _EXACT).any():
            break
        across = (_distorted(flat + np.array((_STEP, 0.0)), model, given) - here) / _STEP
        down = (_distorted(flat + np.array((0.0, _STEP)), model, given) - here) / _STEP
        span = across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0]
        span = np.where(np.abs(span) > 1e-9, span, np.nan)
        flat = flat + np.column_stack(
            [
                (off[:, 0] * down[:, 1] - off[:, 1] * down[:, 0]) / span,
                (across[:, 0] * off[:, 1] - across[:, 1] * off[:, 0]) / span,
            ]
        )
    missed = ~(np.abs(_distorted(flat, model, given) - shown) < _CLOSE).all(axis=1)
    missed |= (flat * shown).sum(axis=1) < 0.0  # a far point that the polynomial folds over to the other side
    return np.where(missed[:, None], np.nan, flat)


def _begun(shown: Numbers, model: str) -> Numbers:
    """Return where to begin the search: an equidistant lens shows angles."""
    if model != "equidistant":
        return shown
    angle = np.linalg.norm(shown, axis=1)
    factor = np.divide(np.tan(np.minimum(angle, _WIDEST)), angle, out=np.ones_like(angle), where=angle > 1e-9)
    return np.asarray(shown * factor[:, None])


def _distorted(flat: Numbers, model: str, given: list[float]) -> Numbers:
    """Return where a lens shows points of the plane at depth 1 (N, 2), in that plane."""
    if model in _POLYNOMIALS and not any(given):
        return flat
    if model == "equidistant":
        return _equidistant(flat, given + [0.0] * (4 - len(given)))
    if model not in _POLYNOMIALS:
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
