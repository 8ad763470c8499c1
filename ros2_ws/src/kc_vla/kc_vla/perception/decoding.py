"""From the numbers of a detector's network to objects in an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.detector_model import DetectorOutput
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.letterbox import Letterbox
from kc_vla.perception.vocabulary import DetectionVocabulary

Floats = NDArray[np.float32]
COLOR, ALSO = "colour", "also"
"""Attributes under which the memories know a color, and states beside the first."""
_SAME_TYPE, _ANY_TYPE = 0.55, 0.85
"""Overlap from which the less certain of two boxes is the same object."""
_SURE = 0.6
"""Probability from which a state is reported."""
_INNER = 0.5
"""Share of a box's sides in which the depth has to be known that a network's own depth rests on."""
_LEAST_SIDE = 1.0
"""Shortest side of a box, px."""


@dataclass(frozen=True, eq=False)
class NetworkOutput:
    """What a network says of one image.

    Attributes:
        scores: (K,) 0..1.
        types: (K,) index of each type.
        numbers: (K, R), as `DetectorOutput` has them.
    """

    scores: Floats
    types: NDArray[np.int64]
    numbers: Floats


def decoded(
    output: NetworkOutput,
    vocabulary: DetectionVocabulary,
    placed: Letterbox,
    focal: float,
    threshold: float,
    inverse_depth: Floats,
) -> list[ImageDetection]:
    """Return the objects of an image, the most certain first, each once.

    Args:
        output: of the network.
        vocabulary: its words.
        placed: where the image was in the network's square.
        focal: focal length of the camera over the side of the square, both px of the square.
        threshold: least confidence.
        inverse_depth: that the network saw (S, S), 1/m; 0 where it is not known.
    """
    layout = DetectorOutput(vocabulary)
    kept = np.flatnonzero(output.scores >= threshold)
    kept = kept[np.argsort(-output.scores[kept], kind="stable")]
    found = [
        _object(
            float(output.scores[k]),
            vocabulary.types[output.types[k]],
            output.numbers[k],
            layout,
            placed,
            focal,
            _is_known(inverse_depth, output.numbers[k][layout.BOX]),
        )
        for k in kept
    ]
    named = [_named(each, output.numbers[k], layout, vocabulary) for each, k in zip(found, kept, strict=True)]
    return _each_once([each for each in named if _is_box(each.box)])


def overlap(one: PixelBox, other: PixelBox) -> float:
    """Return the share of what two boxes cover that both cover, 0..1."""
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    if across <= 0 or down <= 0:
        return 0.0
    both = across * down
    return both / (area(one) + area(other) - both)


def area(box: PixelBox) -> float:
    """Return the area of a box, px."""
    return max(0.0, box.right - box.left) * max(0.0, box.bottom - box.top)


def _object(
    score: float, kind: str, numbers: Floats, layout: DetectorOutput, placed: Letterbox, focal: float, measured: bool
) -> ImageDetection:
    x, y = numbers[layout.CENTER].tolist()
    unit_m = float(numbers[layout.DEPTH])
    wide, deep, high = (unit_m * numbers[layout.SIZE]).tolist()
    return ImageDetection(
        object_type=kind,
        box=placed.box(*numbers[layout.BOX].tolist()),
        confidence=min(score, 1.0),
        center=placed.point(x, y),
        depth_m=unit_m * focal,
        depth_measured=measured,
        size=(wide, deep, high),
    )


def _is_known(inverse_depth: Floats, box: Floats) -> bool:
    """Return whether the depth of most of the inner part of a box in the square is known."""
    left, top, right, bottom = box.tolist()
    across, down = _INNER * (right - left) / 2, _INNER * (bottom - top) / 2
    x, y, size = (left + right) / 2, (top + bottom) / 2, len(inverse_depth)
    rows = slice(max(int(y - down), 0), min(int(y + down) + 1, size))
    columns = slice(max(int(x - across), 0), min(int(x + across) + 1, size))
    inner = inverse_depth[rows, columns]
    return bool(inner.size and np.count_nonzero(inner) > 0.5 * inner.size)


def _named(
    found: ImageDetection, numbers: Floats, layout: DetectorOutput, vocabulary: DetectionVocabulary
) -> ImageDetection:
    """Return an object with its color and with the states that its type can be in."""
    attributes = {}
    if vocabulary.colors:
        attributes[COLOR] = vocabulary.colors[int(np.argmax(numbers[layout.colors]))]
    states = []
    for group in vocabulary.groups.get(found.object_type, ()):
        shares = _softmax(numbers[layout.states[group]])
        if shares.max() >= _SURE:
            states.append(vocabulary.states[group][int(np.argmax(shares))])
    if states[1:]:
        attributes[ALSO] = ", ".join(states[1:])
    return ImageDetection(**{**vars(found), "attributes": attributes, "state": states[0] if states else ""})


def _softmax(logits: Floats) -> Floats:
    raised: Floats = np.exp(logits - logits.max())
    return np.asarray(raised / raised.sum(), np.float32)


def _is_box(box: PixelBox) -> bool:
    return box.right - box.left >= _LEAST_SIDE and box.bottom - box.top >= _LEAST_SIDE


def _each_once(found: Sequence[ImageDetection]) -> list[ImageDetection]:
    kept: list[ImageDetection] = []
    for each in found:
        if all(
            overlap(each.box, other.box) < (_SAME_TYPE if other.object_type == each.object_type else _ANY_TYPE)
            for other in kept
        ):
            kept.append(each)
    return kept
