"""How a hand is turned."""

from __future__ import annotations

from scipy.spatial.transform import Rotation

_DOWN = Rotation.from_matrix([[1, 0, 0], [0, -1, 0], [0, 0, -1]])


def facing(yaw: float, raised: float, turned: float = 0.0) -> Rotation:
    """Return the turn of a tool that points down and ahead.

    Args:
        yaw: direction that is ahead, rad.
        raised: from straight down, rad; a quarter of a turn for a level hand.
        turned: about the axis of the hand, rad; at 0 the fingers close along a level line.
    """
    return Rotation.from_euler("z", yaw) * Rotation.from_euler("y", -raised) * _DOWN * Rotation.from_euler("z", turned)
