"""What changes in a kitchen: the truth that memories are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class KitchenEvent:
    """A change of the kitchen.

    Attributes:
        step: control step after which it is complete; the frame of that index shows it.
        what: "opened", "closed" or "moved".
        object_id: which object changed.
        before: where it was, "on worktop", or in which state.
        after: where it is, or in which state.
        in_view: whether it was not behind a closed door or in a closed drawer.
        by: "arm", or "hand" for the second hand.
    """

    step: int
    what: Literal["opened", "closed", "moved"]
    object_id: str
    before: str
    after: str
    in_view: bool
    by: Literal["arm", "hand"]
