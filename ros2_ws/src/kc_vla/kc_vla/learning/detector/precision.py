"""Average precision of each type, with an interval by resampling whole scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.learning.detector.matching import OVERLAPS

Floats = NDArray[np.float64]
_RECALLS = np.linspace(0.0, 1.0, 101)
_RESAMPLED = 200


@dataclass(frozen=True, eq=False)
class TypeRows:
    """All detections of one type, and how many objects of it there are.

    Attributes:
        confidences: (D,).
        right: (D, 10), for each of `OVERLAPS`.
        scenes: (D,) index of the scene of each.
        objects: (S,) of each scene.
    """

    confidences: Floats
    right: NDArray[np.bool_]
    scenes: NDArray[np.int64]
    objects: NDArray[np.int64]


@dataclass(frozen=True)
class Precision:
    """Average precision, 0..1, with its 95 % interval.

    Attributes:
        at_50: with boxes that overlap by half.
        low, high: interval of that.
        average: over all of `OVERLAPS`.
        objects: that were asked for.
    """

    at_50: float
    low: float
    high: float
    average: float
    objects: int


def precisions(rows: Sequence[TypeRows], scenes: int, seed: int = 0) -> tuple[list[Precision | None], Precision]:
    """Return the precision of each type, None where there is no object of it, and the mean of all.

    Args:
        rows: of each type.
        scenes: how many there are.
        seed: of the resampling.
    """
    chance = np.random.default_rng(seed)
    draws = [np.bincount(chance.integers(0, scenes, scenes), minlength=scenes) for _ in range(_RESAMPLED)]
    found = np.array([_of_type(each, np.ones(scenes)) for each in rows])  # (T, 10)
    again = np.array([[_of_type(each, draw, 1)[0] for each in rows] for draw in draws])  # (draws, T)
    there = ~np.isnan(found[:, 0])
    each_one = [
        _precision(found[index], again[:, index], int(row.objects.sum())) if there[index] else None
        for index, row in enumerate(rows)
    ]
    if not there.any():
        return each_one, Precision(0.0, 0.0, 0.0, 0.0, 0)
    means = np.array([np.nanmean(draw[there]) if not np.isnan(draw[there]).all() else 0.0 for draw in again])
    objects = sum(int(row.objects.sum()) for row in rows)
    return each_one, _precision(found[there].mean(axis=0), means, objects)


def _precision(found: Floats, again: Floats, objects: int) -> Precision:
    known = again[~np.isnan(again)]
    low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (0.0, 1.0)
    return Precision(float(found[0]), float(low), float(high), float(found.mean()), objects)


def _of_type(rows: TypeRows, counts: NDArray[np.int64] | Floats, overlaps: int = len(OVERLAPS)) -> Floats:
    """Return the average precision at each overlap, with scenes that count so often; NaN without an object."""
    objects = float((rows.objects * counts).sum())
    if objects == 0:
        return np.full(overlaps, np.nan)
    order = np.argsort(-rows.confidences, kind="stable")
    weights = counts[rows.scenes[order]].astype(float)
    return np.array([_area(rows.right[order, index], weights, objects) for index in range(overlaps)])


def _area(right: NDArray[np.bool_], weights: Floats, objects: float) -> float:
    """Return the mean precision at 101 recalls, as COCO has it."""
    hits, seen = np.cumsum(weights * right), np.cumsum(weights)
    if not len(seen) or seen[-1] == 0:
        return 0.0
    precision = np.divide(hits, seen, out=np.zeros_like(hits), where=seen > 0)
    falling = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(hits / objects, _RECALLS - 1e-9, side="left")
    return float(np.where(at < len(falling), falling[np.minimum(at, len(falling) - 1)], 0.0).mean())
