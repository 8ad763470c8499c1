"""Which objects a camera sees, from the numbers of bodies in its pixels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from kc_vla_sim.frame import VisibleObject


def visible_objects(
    bodies: NDArray[np.int16],
    object_ids: Mapping[int, str],
    points_of: Callable[[str], NDArray[np.float64]],
    projection: NDArray[np.float64],
) -> dict[str, VisibleObject]:
    """Return what a camera sees of each object that has a pixel in its image.

    Args:
        bodies: number of the body in each pixel (H, W).
        object_ids: the object that a body belongs to, by its number; several bodies can belong to one.
        points_of: returns points (N, 3) of the surface of an object, in the world, m.
        projection: from the world into the image, (3, 4), px.
    """
    names = sorted(set(object_ids.values()))
    numbers = np.zeros(max(int(bodies.max()), *object_ids) + 1, np.int32)
    for body, name in object_ids.items():
        numbers[body] = names.index(name) + 1
    labels = numbers[bodies]
    counts = np.bincount(labels.ravel(), minlength=len(names) + 1)
    seen = {}
    for number, region in enumerate(ndimage.find_objects(labels, len(names)), start=1):
        if region is not None:
            rows, columns = region
            name, pixels = names[number - 1], int(counts[number])
            whole = silhouette_area(points_of(name), projection)
            box = (columns.start, rows.start, columns.stop, rows.stop)
            seen[name] = VisibleObject(pixels, min(1.0, pixels / whole) if whole > 0 else 0.0, box)
    return seen


def silhouette_area(points: NDArray[np.float64], projection: NDArray[np.float64]) -> float:
    """Return how many pixels the convex hull of points (N, 3) covers, in and beside the image; 0 behind the camera."""
    projected = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ projection.T
    if projected[:, 2].min() <= 0:
        return 0.0
    outline = cv2.convexHull((projected[:, :2] / projected[:, 2:]).astype(np.float32))
    return float(cv2.contourArea(outline))
