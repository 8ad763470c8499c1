"""Whether a skill can be done at all in a kitchen, by the true boxes of its things."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.skills.boxes import meets_any
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.upright_box import UprightBox
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.robot import ROBOT

_GRID_M, _YAWS = 0.01, np.radians(np.arange(0.0, 180.0, 15.0))
_WALL_M, _FLOOR_M = 0.012, 0.01


def can_be_gripped(thing: GroundTruthObject) -> bool:
    """Return whether the box of a thing is narrower than the gripper opens."""
    return bool(_thing(thing).footprint[0].min() < ROBOT.opening)


def has_room(thing: GroundTruthObject, drawer: GroundTruthObject, others: Iterable[GroundTruthObject]) -> bool:
    """Return whether a thing fits somewhere into the open part of a drawer, beside what is in there.

    Args:
        thing: to be put in, upright or as it lies now.
        drawer: as far open as it is.
        others: all other things and furniture of the kitchen.
    """
    holder, held = _thing(drawer), _thing(thing)
    size = np.array([*held.footprint[0], held.extent[2]])
    inside = f"in {drawer.object_id}"
    cabinet = drawer.attributes.get("place", "").removeprefix("in ")
    taken = [
        UprightBox.around(_thing(each))
        for each in others
        if each.attributes.get("place") == inside or each.object_id == cabinet
    ]
    half = holder.size[:2] / 2
    xs, ys = (np.arange(-side, side, _GRID_M) for side in half)
    for x, y, yaw in product(xs, ys, _YAWS):
        place = holder.out(np.array([x, y, 0.0]))
        place[2] = holder.bottom + _FLOOR_M + size[2] / 2
        box = UprightBox(place, size, float(yaw))
        corners = holder.into(np.column_stack([box.corners, np.full(4, holder.position[2])]))[:, :2]
        if (np.abs(corners) <= half - _WALL_M).all() and not meets_any(box, taken):
            return True
    return False


def _thing(each: GroundTruthObject) -> PerceivedThing:
    place, turn = np.array(each.pose.position), Rotation.from_quat(each.pose.quaternion)
    return PerceivedThing(each.object_id, each.object_type, place, turn, np.array(each.size))
