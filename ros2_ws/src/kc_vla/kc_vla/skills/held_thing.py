"""What is in the hand, and what has fallen out of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.skills.hand_turns import facing
from kc_vla.skills.interface import Vector
from kc_vla.skills.perceived import PerceivedThing

_AT_TOOL_M = 0.012
"""What is between the fingers has the tool center point in its box, or no further than this outside of it, m."""


@dataclass(frozen=True, eq=False)
class HeldThing:
    """What is in the hand.

    Attributes:
        thing: as it was seen before it was taken.
        width: between the fingers that hold it, m.
        below: from the tool center point down to the lower side of the thing, m.
        turn: yaw of the thing's footprint less that of the tool, rad.
        raised: of the hand that took it, from straight down, rad.
        ahead: the middle of the thing is so far before the tool center point, along the yaw of the hand, m.
        turned: of the hand about its own axis, rad.
    """

    thing: PerceivedThing
    width: float
    below: float
    turn: float
    raised: float = 0.0
    ahead: float = 0.0
    turned: float = 0.0

    @property
    def in_grip(self) -> Vector:
        """Return the pose of the middle of the thing in the frame of the tool (4, 4), m."""
        into = facing(0.0, self.raised, self.turned).inv()
        pose = np.eye(4)
        pose[:3, :3] = (into * Rotation.from_euler("z", self.turn)).as_matrix()
        pose[:3, 3] = into.apply((self.ahead, 0.0, self.thing.extent[2] / 2 - self.below))
        return pose


@dataclass(frozen=True)
class DroppedThing:
    """What fell out of the hand.

    Attributes:
        object_id: of the thing.
        dropped_s: stamp of the newest report then, s.
    """

    object_id: str
    dropped_s: float


def between_fingers(
    things: Iterable[PerceivedThing], tool: Vector, yaw: float, width: float, since_s: float
) -> HeldThing | None:
    """Return what a hand holds that points down, by where things are seen; None where nothing is seen there.

    Args:
        things: that were seen.
        tool: where the tool center point is (3,), m.
        yaw: of the hand, rad.
        width: between the fingers, m.
        since_s: stamp after which a report counts, s.
    """

    def outside(thing: PerceivedThing) -> float:
        return float(np.max(np.abs(thing.into(tool)) - thing.size / 2))

    seen = [each for each in things if each.seen_s >= since_s and outside(each) < _AT_TOOL_M]
    nearest = min(seen, key=outside, default=None)
    if nearest is None:
        return None
    return held_by(nearest, tool, yaw, width)


def held_by(thing: PerceivedThing, tool: Vector, yaw: float, width: float) -> HeldThing:
    """Return a thing as a hand holds it that points down.

    Args:
        thing: as it is seen now.
        tool: where the tool center point is (3,), m.
        yaw: of the hand, rad.
        width: between the fingers, m.
    """
    ahead = float((thing.position - tool)[:2] @ (np.cos(yaw), np.sin(yaw)))
    below = float(tool[2]) - thing.bottom
    return HeldThing(thing, width, below, thing.footprint[1] - yaw, ahead=ahead)
