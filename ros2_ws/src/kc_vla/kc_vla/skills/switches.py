"""Switches of devices, from what is perceived.

A detector says where a switch is with the attribute `switch` of the device: the middle of what is pressed, x, y, z, and
the direction out of it, both in the base's frame, m. Without it the switch of a stove is taken to be the
left knob at the front edge of its upper side, and that of a microwave beside its door.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kc_vla.perception.front_record import HANDLE, HINGE
from kc_vla.perception.located_object import YAW
from kc_vla.skills.handles import STANDOFF_M
from kc_vla.skills.interface import SkillError, Vector
from kc_vla.skills.perceived import CLOSED, PerceivedThing, numbers_of

SWITCH = "switch"
_EDGE_M, _KNOB_M, _ASIDE = 0.02, 0.014, 0.36
"""A stove's knob is so far behind its front edge, and so high, m; and by this share of its width to the left."""
_PANEL_M, _KEYS_HIGH, _DOOR_M, _KEYS_M = 0.037, 0.35, 0.018, 0.007
"""The keys of a microwave are so far from the side of its front (m), in this share of its height; its door is so
thick, and the keys stand out of it by so much, m."""


@dataclass(frozen=True, eq=False)
class SwitchPlace:
    """Where a finger presses.

    Attributes:
        position: of the middle of what is pressed (3,), m, in the frame of the base.
        normal: unit vector out of it (3,).
    """

    position: Vector
    normal: Vector


def switch_of(thing: PerceivedThing) -> SwitchPlace:
    """Return the switch of a device.

    Raises:
        SkillError: none was seen and the type has no usual place, or what was reported of it is no place.
    """
    found = numbers_of(thing, SWITCH, 6)
    if found is None:
        usual = _USUAL.get(thing.object_type)
        if usual is None:
            raise SkillError(f"no switch of {thing.object_id} is seen")
        place, normal = usual(thing)
        return SwitchPlace(thing.out(place), thing.rotation.apply(normal))
    length = float(np.linalg.norm(found[3:]))
    if not 0.5 < length < 2.0:
        raise SkillError(f"the attribute '{SWITCH}' of {thing.object_id} has no direction in its last three numbers")
    return SwitchPlace(found[:3], found[3:] / length)


def _on_stove(thing: PerceivedThing) -> tuple[Vector, Vector]:
    """Return the left knob at the front edge: where the front is not known, at the side that looks to the base."""
    towards = thing.rotation.inv().apply((*-thing.position[:2], 0.0))[:2]
    axis = int(np.argmax(np.abs(towards))) if thing.attributes.get(YAW) else 0
    out = np.zeros(2)
    out[axis] = np.sign(towards[axis]) if thing.attributes.get(YAW) else -1.0
    left = np.array([out[1], -out[0]])  # of who looks into the front
    wide = float(thing.size[1 - axis])
    edge = (thing.size[axis] / 2 - _EDGE_M) * out + _ASIDE * wide * left
    return np.array([*edge, thing.size[2] / 2 + _KNOB_M]), np.array([0.0, 0.0, 1.0])


def _on_microwave(thing: PerceivedThing) -> tuple[Vector, Vector]:
    """Return a place beside the door: away from its hinge, or where that is not seen, at the right."""
    x, y, z = thing.size.tolist()
    hinge = numbers_of(thing, HINGE, 2)
    front, bar = -x / 2 - _DOOR_M, numbers_of(thing, HANDLE, 3)
    if bar is not None and CLOSED in thing.states:  # the bar of a door, and so its surface, is measured best
        front = float(thing.into(bar)[0]) + STANDOFF_M - _KEYS_M
    side = -1.0
    if hinge is not None and thing.into(np.array([*hinge, 0.0]))[1] < 0:
        side = 1.0
    return np.array([front, side * (y / 2 - _PANEL_M), (_KEYS_HIGH - 0.5) * z]), np.array([-1.0, 0.0, 0.0])


_USUAL: Mapping[str, Callable[[PerceivedThing], tuple[Vector, Vector]]] = {
    "stove": _on_stove,
    "microwave": _on_microwave,
}
