"""What is in the hand."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.skills.perceived import PerceivedThing


@dataclass(frozen=True, eq=False)
class HeldThing:
    """What is in the hand.

    Attributes:
        thing: as it was seen before it was taken.
        width: between the fingers that hold it, m.
        below: from the tool center point down to the lower side of the thing, m.
        turn: yaw of the thing's footprint less that of the tool, rad.
    """

    thing: PerceivedThing
    width: float
    below: float
    turn: float
