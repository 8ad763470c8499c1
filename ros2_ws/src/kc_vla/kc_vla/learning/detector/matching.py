"""Which detection is which labeled object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.detections.labels import ObjectLabel
from kc_vla.perception.decoding import overlap
from kc_vla.perception.image_detection import ImageDetection

OVERLAPS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
"""From which a box is the object's, as COCO has them."""


@dataclass(frozen=True)
class MatchedDetection:
    """A detection, and what it is.

    Attributes:
        found: itself.
        right: for each of `OVERLAPS`, whether it is an object of its type that nothing more certain is.
        left_out: whether it is of an object that is not asked for, and so neither right nor wrong.
        truth: the object that it is at the first of `OVERLAPS`; None if there is none.
    """

    found: ImageDetection
    right: NDArray[np.bool_]
    left_out: bool
    truth: ObjectLabel | None


def is_ignored(label: ObjectLabel, least_share: float, least_pixels: int) -> bool:
    """Return whether too little of an object can be seen to ask for it."""
    return label.visible_share < least_share or label.pixels < least_pixels


def matched(
    found: Sequence[ImageDetection], asked: Sequence[ObjectLabel], ignored: Sequence[ObjectLabel]
) -> list[MatchedDetection]:
    """Return each detection of one image with what it is, the most certain first.

    Args:
        found: the detections.
        asked: objects that should be found.
        ignored: objects that may be found.
    """
    taken: list[set[int]] = [set() for _ in OVERLAPS]
    rows = []
    for each in sorted(found, key=lambda each: -each.confidence):
        shares = [overlap(each.box, o.box) if o.object_type == each.object_type else 0.0 for o in asked]
        right = np.zeros(len(OVERLAPS), np.bool_)
        truth = None
        for index, least in enumerate(OVERLAPS):
            free = [k for k, share in enumerate(shares) if share >= least and k not in taken[index]]
            if not free:
                continue
            best = max(free, key=lambda k: shares[k])
            taken[index].add(best)
            right[index] = True
            truth = asked[best] if index == 0 else truth
        left_out = not right[0] and any(
            o.object_type == each.object_type and overlap(each.box, o.box) >= OVERLAPS[0] for o in ignored
        )
        rows.append(MatchedDetection(each, right, left_out, truth))
    return rows
