"""Which detections of an image cannot be located, and why."""

from __future__ import annotations

import math

from kc_vla.memory.long_term.errors import told
from kc_vla.memory.long_term.nodes import MOST_NAME
from kc_vla.perception.image_detection import ImageDetection


class LeftOutError(ValueError):
    """A detection has no place; the text says why."""


def left_out(number: int, each: ImageDetection, why: LeftOutError) -> str:
    """Return a line that says which detection is left out, and why."""
    return f"detection {number}, a {told(each.object_type)}, is left out: {why}"


def check(each: ImageDetection) -> None:
    """Raise `LeftOutError` for a detection that is none."""
    numbers = [*each.box, each.confidence, *(each.center or ()), *(each.size or ())]
    numbers += [*(each.position or ()), *(() if each.depth_m is None else (each.depth_m,))]
    if not all(map(math.isfinite, numbers)):
        raise LeftOutError("a number of it is not finite")
    if each.box.right <= each.box.left or each.box.bottom <= each.box.top:
        raise LeftOutError("its box has no area")
    if not 0.0 <= each.confidence <= 1.0:
        raise LeftOutError(f"its confidence is {each.confidence:.4g}: it has to lie in 0..1")
    if each.size is not None and min(each.size) < 0.0:
        raise LeftOutError("its size is negative")
    if not each.object_type.strip() or len(each.object_type) > MOST_NAME or not each.object_type.isprintable():
        raise LeftOutError(f"its type has to be text of 1 to {MOST_NAME} letters")
