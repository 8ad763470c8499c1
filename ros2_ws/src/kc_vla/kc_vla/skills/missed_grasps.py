"""Grasps that took nothing, so that another one is tried where there is one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from kc_vla.skills.hands import yaw_of
from kc_vla.skills.interface import Vector
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.tool_path import ToolPose

Grasp = tuple[ToolPose, float, float]
"""A pose of the hand, how wide the fingers are there, and how wide the thing is between them, m."""
_SAME_M, _SAME_RAD = 0.012, 0.2
"""Grasps that differ by no more than this in place and yaw are the same one."""
_MOST_THINGS = 50


@dataclass
class MissedGrasps:
    """Which grasps of each thing took nothing, by where the hand was as seen from the thing.

    They stay the same where the thing has moved: fingers that met between the halves of an apple meet there again.
    """

    _by_thing: dict[str, list[Vector]] = field(default_factory=dict)

    def note(self, thing: PerceivedThing, pose: ToolPose) -> None:
        """Remember that a grasp of a thing took nothing, or that the thing slipped out of it."""
        while len(self._by_thing) >= _MOST_THINGS and thing.object_id not in self._by_thing:
            self._by_thing.pop(next(iter(self._by_thing)))
        self._by_thing.setdefault(thing.object_id, []).append(_in_frame_of(thing, pose))

    def forget(self, object_id: str) -> None:
        """Forget what missed a thing: it was taken."""
        self._by_thing.pop(object_id, None)

    def has(self, thing: PerceivedThing, pose: ToolPose) -> bool:
        """Return whether a grasp of a thing took nothing before, from this side or half a turn from it."""
        return any(_is_same(_in_frame_of(thing, pose), each) for each in self._by_thing.get(thing.object_id, ()))

    def last(self, thing: PerceivedThing, grasps: Iterable[Grasp]) -> Iterable[Grasp]:
        """Return grasps of a thing, see `kc_vla.skills.grasping.grasps`, those that took nothing after all others."""
        if thing.object_id not in self._by_thing:
            return grasps
        return sorted(grasps, key=lambda grasp: self.has(thing, grasp[0]))


def _in_frame_of(thing: PerceivedThing, pose: ToolPose) -> Vector:
    """Return place (3) and yaw of the hand as seen from a thing, m and rad."""
    yaw = thing.footprint[1]
    x, y, z = (pose.position - thing.position).tolist()
    cos, sin = float(np.cos(yaw)), float(np.sin(yaw))
    return np.array([cos * x + sin * y, cos * y - sin * x, z, yaw_of(pose) - yaw])


def _is_same(one: Vector, other: Vector) -> bool:
    turn = abs((one[3] - other[3] + np.pi / 2) % np.pi - np.pi / 2)
    return bool(np.linalg.norm(one[:3] - other[:3]) < _SAME_M and turn < _SAME_RAD)
