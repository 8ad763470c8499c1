"""Boxes of furniture with a front: the walls of what is open, its door, and the bars of handles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.perception.front_record import HANDLE
from kc_vla.skills.boxes import UprightBox, named_obstacles
from kc_vla.skills.handles import Handle, handle_of
from kc_vla.skills.interface import SkillError, Vector
from kc_vla.skills.perceived import OPENED, PerceivedScene, PerceivedThing

_BAR_M, _LYING_M, _STANDING_M = 0.014, 0.12, 0.1
"""Thickness of a bar, and the lengths of those of drawers and of doors, m."""
_DOOR_M, _EDGE_M, _WIDEST_M = 0.015, 0.022, 1.5
"""Thickness of a door, from the bar of its handle to its free edge, and its width at most, m."""
_WALL_M, _SILL_M = 0.01, 0.006
"""Thickness of the walls of furniture, and of one beside a door, m."""


def handles(scene: PerceivedScene) -> Iterator[tuple[PerceivedThing, Handle]]:
    """Yield each thing that a handle was seen of, with that; what is reported of it and is no place is left out."""
    for each in scene.all():
        if HANDLE in each.attributes:
            try:
                yield each, handle_of(each)
            except SkillError:
                continue


def bar_of(handle: Handle) -> UprightBox:
    """Return the box of the bar of a handle as it is now."""
    size = (_BAR_M, _LYING_M, _BAR_M) if handle.hinge is None else (_BAR_M, _BAR_M, _STANDING_M)
    return UprightBox(handle.position, np.array(size), handle.yaw(handle.opening))


def door_of(thing: PerceivedThing, handle: Handle) -> UprightBox | None:
    """Return the box of a door as it is now; None for a drawer."""
    if handle.hinge is None:
        return None
    along = door_line(handle)
    far = float(np.linalg.norm(along))
    if not 0.0 < far < _WIDEST_M:
        return None
    middle = along / 2 + _DOOR_M / 2 * handle.out[:2]
    turned = Rotation.from_euler("z", handle.turn * handle.opening)
    place = turned.apply([*middle, 0.0]) + np.array([*handle.hinge, thing.position[2]])
    yaw = float(np.arctan2(along[1], along[0])) + handle.turn * handle.opening
    return UprightBox(place, np.array([far, _DOOR_M, thing.size[2]]), yaw)


def door_line(handle: Handle) -> Vector:
    """Return the way from the hinge of a door that is closed to its free edge (2,), m."""
    assert handle.hinge is not None
    out = handle.out[:2]
    across = handle.at(0.0)[:2] - handle.hinge
    along = across - float(across @ out) * out
    far = float(np.linalg.norm(along))
    return np.asarray(along * (far + _EDGE_M) / far if far > 1e-3 else 0.0 * along)


@dataclass(frozen=True, eq=False)
class FrontSpace:
    """The space behind a front that opens.

    Attributes:
        holder: the furniture.
        low: least corner of the space in the frame of its box (3,), m.
        high: greatest corner (3,), m.
    """

    holder: PerceivedThing
    low: Vector
    high: Vector

    @property
    def yaw(self) -> float:
        """Return the direction into it, rad."""
        return self.holder.yaw

    @property
    def floor(self) -> float:
        """Return the height of its floor, m."""
        return float(self.holder.position[2] + self.low[2])

    @property
    def front(self) -> float:
        """Return x of its front in the frame of the box of the furniture, m."""
        return float(self.low[0])

    def walls(self) -> list[tuple[str, UprightBox]]:
        """Return what is around it: floor, top, back and sides, each with the id of the furniture."""
        half, low, high = self.holder.size / 2, self.low, self.high
        ends = [
            ((low[0], -half[1], -half[2]), (half[0], half[1], low[2])),
            ((low[0], -half[1], high[2]), (half[0], half[1], half[2])),
            ((high[0], -half[1], -half[2]), (half[0], half[1], half[2])),
            ((low[0], -half[1], -half[2]), (half[0], low[1], half[2])),
            ((low[0], high[1], -half[2]), (half[0], half[1], half[2])),
        ]
        name, yaw = self.holder.object_id, self.holder.yaw
        return [
            (name, UprightBox(self.holder.out(np.add(one, other) / 2), np.subtract(other, one), yaw))
            for one, other in ends
        ]


def front_space(holder: PerceivedThing) -> FrontSpace:
    """Return the space behind the door of a thing: as wide as the door, where its hinge and handle are seen."""
    half = holder.size / 2 - _WALL_M
    low, high = np.array([-holder.size[0] / 2, -half[1], -half[2]]), half
    try:
        handle = handle_of(holder)
    except SkillError:
        handle = None
    if handle is not None and handle.hinge is not None:
        free = handle.hinge + door_line(handle)
        ends = [float(holder.into(np.array([*end, holder.position[2]]))[1]) for end in (handle.hinge, free)]
        low[1], high[1] = max(low[1], min(ends) + _SILL_M), min(high[1], max(ends) - _SILL_M)
    return FrontSpace(holder, low, high)


def with_fronts(scene: PerceivedScene, *without: str) -> list[tuple[str, UprightBox]]:
    """Return the boxes of all that was seen, with handles and open doors, each with the id of its thing."""
    found = named_obstacles(scene, without)
    for thing, handle in handles(scene):
        found.append((thing.object_id, bar_of(handle)))
        door = door_of(thing, handle)
        if door is not None and OPENED in thing.states:
            found.append((thing.object_id, door))
    return found
