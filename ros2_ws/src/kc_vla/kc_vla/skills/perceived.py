"""What perception has reported of things and furniture: the only source that a skill has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.memory.long_term.views import RegionView
from kc_vla.perception.front import CONTAINERS
from kc_vla.perception.front_record import HANDLE, OPENING
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.same_thing import NESTED, SAME_BAR_M, common_sides, nested
from kc_vla.skills.interface import SkillError, Vector

OPENED, CLOSED = "opened", "closed"
_IN, _ON = "in ", "on "
_UPRIGHT = 0.97
_ROUND = 0.85
"""What is so much as long as it is wide and high, and stands on none of its sides, is round."""
_YAWS = np.radians(np.arange(0.0, 90.0, 5.0))
_LED_RAD = 0.25
"""A door that is seen to be open by so much more, or less, than a hand led it was moved, rad."""
_EMPTY_LOOKS = 3
"""Looks that show the place of a thing empty after which it is forgotten."""
_LEFT_IN_PLACE = IMMOVABLE | {"tray"}
MOST_THINGS = 500
"""So many things are known at most; the one that was seen longest ago goes."""


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


def _is_double(one: PerceivedThing, other: PerceivedThing) -> bool:
    """Return whether two pieces of furniture of one type are in one place: drawers by their bars, others by boxes."""
    if one.object_type != other.object_type:
        return False
    try:
        bars = [numbers_of(each, HANDLE, 3) for each in (one, other)]
    except SkillError:  # the skill that needs this handle says what is wrong with it
        return False
    if bars[0] is not None and bars[1] is not None:
        return bool(np.linalg.norm(bars[0] - bars[1]) < SAME_BAR_M)
    common = common_sides(one.position, one.extent, other.position, other.extent)
    return one.object_type != "drawer" and bool(nested(common, one.extent, other.extent) > NESTED)


def _without_ended(thing: PerceivedThing) -> PerceivedThing:
    """Return a thing without the attributes that were reported before and hold no more: those are reported as empty."""
    return replace(thing, attributes={name: text for name, text in thing.attributes.items() if text})


def _opens(thing: PerceivedThing) -> bool:
    return plain_type(thing.object_type) in CONTAINERS


def _sides(points: Vector, yaw: float) -> Vector:
    """Return how far points (N, 2) reach along an axis of that yaw (rad), and across it, (2,), m."""
    along = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) @ points.T
    return np.asarray(np.ptp(along, axis=1))


class PerceivedScene:
    """All that was reported, each thing as it was seen last.

    Attributes:
        now_s: stamp of the newest report, s; negative infinity before the first.
    """

    def __init__(self) -> None:
        self._things: dict[str, PerceivedThing] = {}
        self._empty: Counter[str] = Counter()
        self._led: dict[str, dict[str, str]] = {}
        """Attributes of doors where a hand led them, until they are seen, by the id of what has the door."""
        self._names: dict[str, tuple[str, str]] = {}
        """Id and type of what the hand had, by the id with which it is reported since."""
        self.now_s = float("-inf")

    def take(
        self,
        things: Iterable[PerceivedThing],
        stamp_s: float,
        view: RegionView | None = None,
        kept: Collection[str] = (),
        gone: Collection[str] = (),
    ) -> None:
        """Take in a report; one that is older than the newest changes nothing.

        Args:
            things: that were seen.
            stamp_s: when, s.
            view: what was in view; a thing whose place it showed empty several times is forgotten. None: not known.
            kept: ids of what is not forgotten, such as what is in the hand.
            gone: ids that perception gives to nothing any more: that is not there, or goes on with another id.
        """
        if stamp_s < self.now_s:
            return
        self.now_s = stamp_s
        seen = [self._with_door(each) for each in self._named([_without_ended(each) for each in things])]
        if view is not None:
            self._forget_gone(view, {each.object_id for each in seen}.union(kept))
        for name in {self._names.get(each, (each, ""))[0] for each in gone}.difference(kept):
            self.drop(name)
        for each in seen:
            self._things.pop(each.object_id, None)
            self._things[each.object_id] = each
            self._empty.pop(each.object_id, None)
        self._forget_doubles({each.object_id for each in seen})
        while len(self._things) > MOST_THINGS:
            del self._things[next(iter(self._things))]

    def _named(self, things: Sequence[PerceivedThing]) -> list[PerceivedThing]:
        """Return things with the names that they have here; a name that is reported itself is that of no other one."""
        for name in {each.object_id for each in things}:
            self._names = {other: known for other, known in self._names.items() if known[0] != name}
        found = []
        for each in things:
            name, kind = self._names.get(each.object_id, (each.object_id, each.object_type))
            found.append(replace(each, object_id=name, object_type=kind))
        return found

    def led(self, object_id: str, attributes: dict[str, str]) -> None:
        """Note where a hand led a door: nobody may see its handle from there, or not as exactly."""
        self._led[object_id] = attributes
        if (thing := self._things.get(object_id)) is not None:
            self._things[object_id] = replace(thing, attributes=dict(thing.attributes) | attributes)

    def _with_door(self, thing: PerceivedThing) -> PerceivedThing:
        """Return a thing with the handle of its open door where a hand led that, unless it is seen elsewhere."""
        if (led := self._led.get(thing.object_id)) is None:
            return thing
        found = replace(thing, attributes=dict(thing.attributes) | led)
        try:
            seen, own = numbers_of(thing, OPENING, 1), numbers_of(found, OPENING, 1)
        except SkillError:  # the skill that needs this handle says what is wrong with it
            return thing
        if CLOSED in thing.states or (seen is not None and own is not None and abs(seen - own)[0] > _LED_RAD):
            del self._led[thing.object_id]
            return thing
        return found

    def same(self, reported: str, thing: PerceivedThing) -> None:
        """Note that what is reported with an id is a thing that the hand held: it keeps the name that it had there.

        Perception may lose sight of a thing in the hand, or take it for another one from so near.

        Args:
            reported: the id.
            thing: as it was held.
        """
        if reported == thing.object_id or (seen := self._things.pop(reported, None)) is None:
            return
        self._names[reported] = thing.object_id, thing.object_type
        self._things[thing.object_id] = replace(seen, object_id=thing.object_id, object_type=thing.object_type)
        self._empty.pop(reported, None)

    def _forget_doubles(self, seen: set[str]) -> None:
        """Forget furniture in whose place another piece of its type was seen: perception found that they are one."""
        furniture = {name: each for name, each in self._things.items() if plain_type(each.object_type) in IMMOVABLE}
        for name, each in furniture.items():
            if name not in seen and any(_is_double(each, furniture[other]) for other in seen & furniture.keys()):
                del self._things[name]

    def _forget_gone(self, view: RegionView, kept: Collection[str]) -> None:
        """Forget what was not seen though its place was, as depth passes through what is not there."""
        others = [each for each in self._things.values() if each.object_id not in kept and not _opens(each)]
        if not others:
            return
        middles, sizes = np.array([each.position for each in others]), np.array([each.extent for each in others])
        empty = view.shows_inside(middles, sizes).tolist()
        gone = Counter(each.object_id for each, is_empty in zip(others, empty, strict=True) if is_empty)
        occupied = {each.object_id for each in others} - gone.keys()
        self._empty = Counter({name: count for name, count in self._empty.items() if name not in occupied}) + gone
        for name in [name for name, count in self._empty.items() if count >= _EMPTY_LOOKS]:
            self._things.pop(name, None)
            del self._empty[name]

    def drop(self, object_id: str) -> None:
        """Forget one thing, if it is known."""
        self._things.pop(object_id, None)
        self._empty.pop(object_id, None)

    def forget(self) -> None:
        """Forget everything, as where another episode begins."""
        self._things.clear()
        self._empty.clear()
        self._names.clear()
        self._led.clear()
        self.now_s = float("-inf")

    def find(self, object_id: str) -> PerceivedThing | None:
        """Return a thing as it was seen last, by its name here or as it is reported; None for one that never was."""
        return self._things.get(self._names.get(object_id, (object_id, ""))[0])

    def need(self, object_id: str) -> PerceivedThing:
        """Return a thing as it was seen last.

        Raises:
            SkillError: The thing was never seen.
        """
        found = self.find(object_id)
        if found is None:
            raise SkillError(f"{object_id} has not been seen")
        return found

    def all(self) -> tuple[PerceivedThing, ...]:
        """Return everything, the oldest report first."""
        return tuple(self._things.values())

    def since(self, stamp_s: float) -> tuple[PerceivedThing, ...]:
        """Return what was reported after a stamp, s."""
        return tuple(each for each in self._things.values() if each.seen_s > stamp_s)

    def held_in(self, holder_id: str) -> tuple[PerceivedThing, ...]:
        """Return what was seen in or on a thing."""
        return tuple(each for each in self._things.values() if each.container[1] == holder_id)

    def is_shut_in(self, thing: PerceivedThing) -> bool:
        """Return whether a thing is in something that is closed."""
        relation, name = thing.container
        holder = self.find(name)
        return relation == "in" and holder is not None and CLOSED in holder.states


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
