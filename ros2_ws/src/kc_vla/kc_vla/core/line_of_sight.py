"""Whether a camera looks freely at a place, and whether its depth image shows that nothing is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import project

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
_SAMPLES = 0.34 * np.array(list(product((-1.0, 0.0, 1.0), repeat=3)))
"""Points of a box at which one looks, as shares of its sides, from its middle: a cylinder has them all."""
_MOST, _ENOUGH = 0.8, 0.4
"""Shares of the samples that have to agree, and of those whose depth is known and that nothing hides."""
_NEAREST_M = 0.05
_AT_ONCE = 64
"""Boxes that are compared with all points at once, which bounds the memory that takes."""
_NO_SIZE_M = 0.03
"""Side of a thing whose size nobody knows."""
_NOISE_M, _NOISE_SHARE = 0.005, 0.005
"""What a depth is off at most, m, and as a share of its square."""
_INTO, _INTO_REDUCED = 0.5, 0.25
"""Share of the way through a box that is free where nothing is in it; less where depth is the least of a block."""


@dataclass(frozen=True, eq=False)
class SightLines:
    """The pose, lens and depth of one image.

    Attributes:
        camera: pose (4, 4) of the optical frame, m.
        matrix: intrinsic matrix (3, 3), px.
        size: width and height of the image, px.
        farthest_m: what is deeper does not count as seen.
        depth_m: depth (rows, columns) of the same view, m, NaN or 0 where it is not known; with fewer rows than the
            image, each is the least of its part of the view. None without.
        model: of the lens distortion, as for `project`.
        distortion: its coefficients; empty for none.
    """

    camera: Pose
    matrix: Numbers
    size: tuple[int, int]
    farthest_m: float
    depth_m: NDArray[np.float32] | None = None
    model: str = "plumb_bob"
    distortion: Sequence[float] = ()


@dataclass(frozen=True, eq=False)
class Sights:
    """What an image says of some boxes, each (N,).

    Attributes:
        in_view: nearly all of it is in the image, and not too deep.
        whole: all of it is.
        free: it is in view, and no measured surface stands before it; without depth as `in_view`.
        empty: it is in view, and the measured surfaces lie clearly behind where its own would be.
        thin: so thin along the line of sight that depth cannot tell whether it is there; without depth all are.
    """

    in_view: Flags
    whole: Flags
    free: Flags
    empty: Flags
    thin: Flags


def look_at(lines: SightLines, middles: Numbers, sizes: Numbers) -> Sights:
    """Return what an image says of boxes along the axes of the frame that its camera's pose is in.

    Args:
        lines: of the image.
        middles: (N, 3), m.
        sizes: (N, 3), m; zeros for things whose size is not known.
    """
    count, samples = len(middles), len(_SAMPLES)
    extents = np.where((sizes > 0.0).any(axis=1, keepdims=True), sizes, _NO_SIZE_M)
    points = (middles[:, None] + _SAMPLES[None] * extents[:, None]).reshape(-1, 3)
    pixels, deep = project(points, lines.camera, lines.matrix, lines.model, lines.distortion)
    inside = (deep > _NEAREST_M) & (deep <= lines.farthest_m) & ((pixels >= 0) & (pixels < lines.size)).all(axis=1)
    inside_share = _share(inside, count, samples)
    in_view, whole = inside_share >= _MOST, inside_share >= 1.0
    if lines.depth_m is None:
        return Sights(in_view, whole, in_view, np.zeros(count, bool), np.ones(count, bool))
    measured, known = _measured(lines, pixels, inside)
    near, far = _passed(points, deep, middles, extents, lines.camera[:3, 3])
    noise = _NOISE_M + _NOISE_SHARE * deep * deep
    slack, into = _reduction(lines, deep)
    before = known & (measured < near - noise - slack)
    passed = known & (measured > near + into * (far - near))
    telling = known & (far - near >= 2.0 * noise)
    enough = _share(known, count, samples) >= _ENOUGH
    free = in_view & enough & (_of(known & ~before, known, count) >= _MOST)
    thin = _of(telling, known, count) < _ENOUGH
    open_to = telling & ~before
    visible = _share(open_to, count, samples) >= _ENOUGH
    empty = in_view & visible & ~thin & (_of(open_to & passed, open_to, count) >= _MOST)
    return Sights(in_view, whole, free, empty, thin)


def hidden_by(lines: SightLines, middles: Numbers, before: tuple[Numbers, Numbers]) -> Flags:
    """Return which points (N, 3), m, lie behind boxes, as the camera sees them: (N,).

    Args:
        lines: of the image.
        middles: the points.
        before: middles and sizes (M, 3) of the boxes, m; one that a point itself is in does not hide it.
    """
    places, sizes = before
    hidden = np.zeros(len(middles), bool)
    eye = lines.camera[:3, 3]
    steps = (middles - eye)[:, None]
    for first in range(0, len(places), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        half, away = sizes[None, some] / 2, places[None, some] - eye
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (away - half) / steps, (away + half) / steps
        enter = np.fmax.reduce(np.minimum(one, other), axis=2)
        leave = np.fmin.reduce(np.maximum(one, other), axis=2)
        hidden |= ((enter <= leave) & (enter > 0.0) & (leave < 1.0)).any(axis=1)
    return hidden


def _measured(lines: SightLines, pixels: Numbers, inside: Flags) -> tuple[Numbers, Flags]:
    """Return the depth at each pixel and whether it is known."""
    assert lines.depth_m is not None
    rows, columns = lines.depth_m.shape
    measured = np.full(len(pixels), np.nan)
    at = (pixels[inside] * (columns / lines.size[0], rows / lines.size[1])).astype(int)
    measured[inside] = lines.depth_m[at[:, 1], at[:, 0]]
    return measured, np.isfinite(measured) & (measured > 0.0)


def _passed(
    points: Numbers, deep: Numbers, middles: Numbers, extents: Numbers, eye: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the depths at which the ray through each point enters and leaves the point's box."""
    steps = (points - eye).reshape(len(middles), -1, 3)
    half = extents[:, None] / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (middles[:, None] - half - eye) / steps, (middles[:, None] + half - eye) / steps
    enter = np.fmax.reduce(np.minimum(one, other), axis=2).ravel()
    leave = np.fmin.reduce(np.maximum(one, other), axis=2).ravel()
    return np.maximum(enter, 0.0) * deep, leave * deep


def _reduction(lines: SightLines, deep: Numbers) -> tuple[Numbers | float, float]:
    """Return how much nearer a block's least depth may be than that of its pixel, m, and the share that is free."""
    assert lines.depth_m is not None
    columns = lines.depth_m.shape[1]
    if columns >= lines.size[0]:
        return 0.0, _INTO
    return lines.size[0] / columns / lines.matrix[0, 0] * deep, _INTO_REDUCED


def _share(flags: Flags, count: int, samples: int) -> Numbers:
    return np.asarray(flags.reshape(count, samples).mean(axis=1) if count else np.zeros(0))


def _of(flags: Flags, among: Flags, count: int) -> Numbers:
    """Return the share of each box's samples that are among some; 0 where none is."""
    if not count:
        return np.zeros(0)
    total = among.reshape(count, -1).sum(axis=1)
    return np.asarray(flags.reshape(count, -1).sum(axis=1) / np.maximum(total, 1))
