"""What the network should say of an image: heatmaps, and the numbers of the object in each cell around a middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.detections.labels import ObjectLabel
from kc_vla.learning.detector.networks import STRIDE
from kc_vla.perception.decoding import area
from kc_vla.perception.vocabulary import DetectionVocabulary

Floats = NDArray[np.float32]
UNKNOWN = -1
"""Index of a color or a state that a label does not say."""
_SPREAD, _LEAST_SPREAD = 0.09, 0.5
"""Standard deviation of a peak, of a side of the box and in cells."""
_LEAST_DEPTH_M = 0.01
_NEAR = 0.3
"""Height of a peak from which its cells say the rest."""


@dataclass(frozen=True, eq=False)
class SampleObject:
    """An object of an augmented image, in px of the network's square.

    Attributes:
        label: with its box and its middle there.
        depth_m: of its middle, for a camera whose focal length is the side of the square.
        ignored: it is neither asked for nor taken for a mistake.
    """

    label: ObjectLabel
    depth_m: float
    ignored: bool


@dataclass(frozen=True, eq=False)
class ImageTargets:
    """What the network should say of one image.

    Attributes:
        heat: (T, M, M), 1 at the cell of an object's middle, less around it.
        ignored: (T, M, M) whether what is said there counts for nothing.
        cells: (P, 2) row and column of the cells that say the rest.
        weights: (P,) of each, 1 in all for an object.
        numbers: (P, 10) box, middle, depth and size, as `DetectorOutput` has them; box and middle relative to the
            cell.
        colors: (P,) index, or `UNKNOWN`.
        states: (P, G) index in each group of states, or `UNKNOWN`.
    """

    heat: Floats
    ignored: NDArray[np.bool_]
    cells: NDArray[np.int64]
    weights: Floats
    numbers: Floats
    colors: NDArray[np.int64]
    states: NDArray[np.int64]


def image_targets(objects: Sequence[SampleObject], vocabulary: DetectionVocabulary, size: int) -> ImageTargets:
    """Return what the network should say of an image with these objects, in a square of `size` px."""
    side = size // STRIDE
    heat = np.zeros((len(vocabulary.types), side, side), np.float32)
    ignored = np.zeros(heat.shape, np.bool_)
    owner = np.full((side, side), -1, np.int64)
    height = np.zeros((side, side), np.float32)
    asked: list[SampleObject] = []
    for each in sorted(objects, key=lambda each: -area(each.label.box)):  # a small one is before a large one
        kind = vocabulary.types.index(each.label.object_type)
        if each.ignored:
            left, top, right, bottom = (int(value / STRIDE) for value in each.label.box)
            ignored[kind, top : bottom + 1, left : right + 1] = True
            continue
        peak = _peak(each.label, side)
        heat[kind] = np.maximum(heat[kind], peak)
        own = peak > _NEAR
        owner[own], height[own] = len(asked), peak[own]
        asked.append(each)
    ignored &= heat <= _NEAR
    return _with_numbers(heat, ignored, owner, height, asked, vocabulary)


def _peak(label: ObjectLabel, side: int) -> Floats:
    box = label.box
    x, y = (box.left + box.right) / 2 / STRIDE, (box.top + box.bottom) / 2 / STRIDE
    column, row = (min(max(int(value), 0), side - 1) for value in (x, y))
    wide = max(_SPREAD * (box.right - box.left) / STRIDE, _LEAST_SPREAD)
    high = max(_SPREAD * (box.bottom - box.top) / STRIDE, _LEAST_SPREAD)
    cells = np.arange(side)
    across = np.exp(-0.5 * ((cells - column) / wide) ** 2)
    down = np.exp(-0.5 * ((cells - row) / high) ** 2)
    return (down[:, None] * across[None]).astype(np.float32)


def _with_numbers(
    heat: Floats,
    ignored: NDArray[np.bool_],
    owner: NDArray[np.int64],
    height: Floats,
    asked: Sequence[SampleObject],
    vocabulary: DetectionVocabulary,
) -> ImageTargets:
    cells = np.argwhere(owner >= 0)
    who = owner[owner >= 0]
    heights = height[owner >= 0]
    totals = np.bincount(who, heights, len(asked)).astype(np.float32)
    rows = np.array([_numbers(each) for each in asked], np.float32).reshape(-1, 10)
    numbers = rows[who]
    middle = (cells[:, ::-1] + 0.5) * STRIDE
    numbers[:, 0:2] = middle - numbers[:, 0:2]
    numbers[:, 2:4] = numbers[:, 2:4] - middle
    numbers[:, 4:6] = numbers[:, 4:6] - middle
    colors = np.array([_index(each.label.color, vocabulary.colors) for each in asked], np.int64)
    states = np.array([_states(each.label, vocabulary) for each in asked], np.int64)
    return ImageTargets(
        heat=heat,
        ignored=ignored,
        cells=cells,
        weights=(heights / totals[who]).astype(np.float32),
        numbers=numbers.astype(np.float32),
        colors=colors[who],
        states=states.reshape(len(asked), len(vocabulary.states))[who],
    )


def _numbers(each: SampleObject) -> list[float]:
    label = each.label
    depth_m = max(each.depth_m, _LEAST_DEPTH_M)
    return [*label.box, *label.center, depth_m, *(side / depth_m for side in label.size)]


def _states(label: ObjectLabel, vocabulary: DetectionVocabulary) -> list[int]:
    return [
        states.index(label.states[group]) if group in label.states else UNKNOWN
        for group, states in vocabulary.states.items()
    ]


def _index(name: str, names: Sequence[str]) -> int:
    return names.index(name) if name in names else UNKNOWN
