"""A thing or a piece of furniture, as perception has reported it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.perception.located_object import LocatedObject
from kc_vla.skills.interface import SkillError, Vector

OPENED, CLOSED = "opened", "closed"
_IN, _ON = "in ", "on "
_UPRIGHT = 0.97
_ROUND = 0.85
"""What is so much as long as it is wide and high, and stands on none of its sides, is round."""
_YAWS = np.radians(np.arange(0.0, 90.0, 5.0))
_LEFT_IN_PLACE = IMMOVABLE | {"tray"}


def is_carried(object_type: str) -> bool:
    """Return whether the arm carries things of a type: they are no furniture."""
    return plain_type(object_type) not in _LEFT_IN_PLACE


@dataclass(frozen=True, eq=False)
class PerceivedThing:
    """One thing as it was reported last, in the frame of the arm's base.

    Attributes:
        object_id: the same each time it is seen.
        object_type: "apple", "drawer".
        position: of the middle of its box (3,), m.
        rotation: of its box.
        size: of its box along its own axes (3,), m.
        state: "opened", "on", or empty.
        attributes: what else is reported, such as its "place".
        confidence: 0..1.
        seen_s: stamp of the report, s.
    """

    object_id: str
    object_type: str
    position: Vector
    rotation: Rotation
    size: Vector
    state: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    confidence: float = 1.0
    seen_s: float = 0.0

    @property
    def states(self) -> frozenset[str]:
        """Return all states that it is in."""
        return frozenset(filter(None, (self.state, self.attributes.get("also", ""))))

    @property
    def yaw(self) -> float:
        """Return the turn of its box about the vertical, rad."""
        x, y, _ = self.rotation.apply((1.0, 0.0, 0.0)).tolist()
        return float(np.arctan2(y, x))

    @property
    def is_upright(self) -> bool:
        """Return whether one of the axes of its box is vertical as it was made: it has not tipped over."""
        return abs(float(self.rotation.as_matrix()[2, 2])) > _UPRIGHT

    @property
    def has_rolled(self) -> bool:
        """Return whether it lies as only a round thing can: an apple is as wide then as before, its box is not."""
        stands = (np.abs(self.rotation.as_matrix()[2]) > _UPRIGHT).any()
        return bool(not stands and self.size.min() > _ROUND * self.size.max())

    @property
    def footprint(self) -> tuple[Vector, float]:
        """Return the sides (2,) of the narrowest upright box around it, m, and the yaw of the first, rad."""
        if self.is_upright:
            return self.size[:2], self.yaw
        if self.has_rolled:
            return np.full(2, np.median(self.size)), self.yaw
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners = self.rotation.apply(signs * self.size / 2)[:, :2]
        best = min(_YAWS, key=lambda yaw: float(np.prod(_sides(corners, yaw))))
        return _sides(corners, best), float(best)

    @property
    def extent(self) -> Vector:
        """Return the size (3,) of the box around it along the axes of the base, m."""
        if self.has_rolled:
            return np.full(3, np.median(self.size))
        return np.asarray(np.abs(self.rotation.as_matrix()) @ self.size)

    @property
    def top(self) -> float:
        """Return the height of its upper side, m."""
        return float(self.position[2] + self.extent[2] / 2)

    @property
    def bottom(self) -> float:
        """Return the height of its lower side, m."""
        return float(self.position[2] - self.extent[2] / 2)

    @property
    def container(self) -> tuple[str, str]:
        """Return "in" or "on" and the id of what holds it; two empty texts where that is not reported."""
        place = self.attributes.get("place", "")
        for relation in (_IN, _ON):
            if place.startswith(relation):
                return relation.strip(), place.removeprefix(relation)
        return "", ""

    def into(self, point: Vector) -> Vector:
        """Return a point (..., 3) of the base's frame in that of its box, m."""
        return np.asarray(self.rotation.inv().apply(point - self.position))

    def out(self, point: Vector) -> Vector:
        """Return a point (..., 3) of its box's frame in that of the base, m."""
        return np.asarray(self.rotation.apply(point) + self.position)


def numbers_of(thing: PerceivedThing, name: str, count: int) -> Vector | None:
    """Return the numbers (count,) of an attribute; None where it is not reported.

    Raises:
        SkillError: it is no such list of finite numbers.
    """
    text = thing.attributes.get(name, "")
    if not text:
        return None
    try:
        found = np.array([float(each) for each in text.split()])
    except ValueError:
        found = np.empty(0)
    if len(found) != count or not np.isfinite(found).all():
        raise SkillError(f"the attribute '{name}' of {thing.object_id} is {text[:40]!r}: {count} numbers are meant")
    return found


def _sides(points: Vector, yaw: float) -> Vector:
    """Return how far points (N, 2) reach along an axis of that yaw (rad), and across it, (2,), m."""
    along = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) @ points.T
    return np.asarray(np.ptp(along, axis=1))


def things_of(objects: Iterable[LocatedObject], stamp_s: float) -> list[PerceivedThing]:
    """Return objects that were seen at a stamp, s, in the frame of the arm's base."""
    return [
        PerceivedThing(
            each.object_id,
            each.object_type,
            np.array(each.position),
            Rotation.from_euler("z", each.yaw),
            np.array(each.size if each.box_size is None else each.box_size),
            each.state,
            dict(each.attributes),
            each.confidence,
            stamp_s,
        )
        for each in objects
    ]
