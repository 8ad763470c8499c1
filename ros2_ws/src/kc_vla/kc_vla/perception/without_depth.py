"""Where an object is in an image without depth: on the surface that things stand on, or as far as its size says."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kc_vla.perception.view_ray import ViewRay

Vector = tuple[float, float, float]
_FLATTEST = 0.1
"""Sine of the least angle at which a ray is let onto a surface; flatter ones end anywhere."""
_ROUNDS = 4
"""The height of a thing of unknown size follows from its distance, which follows from its height."""
_SUPPORT_SIGMA_M = 0.01
_SIZE_SHARE, _CUT_SHARE = 0.1, 0.25
"""Standard deviation of the size of things of one type, as a share of it, and of what the image's edge leaves of it."""
_BOX_SIGMA_PX = 2.0


@dataclass(frozen=True)
class Estimate:
    """A place that was estimated.

    Attributes:
        position: of the object's middle, m.
        size: of its box along the axes of the frame, m.
        sigma_m: standard deviation of the position, m.
        way: how it was found, in words.
    """

    position: Vector
    size: Vector
    sigma_m: float
    way: str


def on_support(ray: ViewRay, size: Vector | None, support_m: float | None) -> Estimate | None:
    """Return where a thing stands that is seen along a ray; None where the ray does not meet the surface.

    Args:
        ray: of the object's box.
        size: of the object, m; None: estimated from its box and the distance.
        support_m: height of the surface that it stands on, m; None where that is not known.
    """
    if support_m is None:
        return None
    depth_m = ray.depth_at_height(support_m)
    if depth_m is None or ray.steepness < _FLATTEST:
        return None
    for _ in range(_ROUNDS):
        extent = size if size is not None else ray.extent_at(depth_m)
        above_m = ray.depth_at_height(support_m + extent[2] / 2)
        if above_m is None:
            return None
        depth_m = above_m
    away_m = depth_m * ray.length
    sigma_m = math.hypot(_SUPPORT_SIGMA_M / ray.steepness, 0.0 if size else extent[2] / 4, 0.003)
    return Estimate(ray.at(depth_m), extent, max(sigma_m, 0.005 * away_m), "on the support surface")


def by_size(ray: ViewRay, size: Vector | None) -> Estimate | None:
    """Return where a thing of known size is that fills its box; None where its size is not known."""
    if size is None or not any(size):
        return None
    across_m, down_m = ray.shown_size(size)
    width_px, height_px = ray.box_px
    far = [
        (focal * extent_m / side_px, side_px)
        for focal, extent_m, side_px, whole in zip(
            ray.focal_px, (across_m, down_m), (width_px, height_px), ray.is_whole, strict=True
        )
        if extent_m > 0.0 and side_px > 0.0 and whole
    ]
    if not far:
        return None
    depth_m = float(np.mean([each for each, _ in far]))
    share = _SIZE_SHARE if all(ray.is_whole) else _CUT_SHARE
    sigma_m = depth_m * math.hypot(share, *(_BOX_SIGMA_PX / side for _, side in far))
    return Estimate(ray.at(depth_m), size, sigma_m, "by its known size")
