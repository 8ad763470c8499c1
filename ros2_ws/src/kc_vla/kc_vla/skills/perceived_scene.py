"""All that perception has reported of things and furniture: the only source that a skill has."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.memory.long_term.views import RegionView
from kc_vla.perception.front import CONTAINERS
from kc_vla.perception.front_record import HANDLE
from kc_vla.perception.same_thing import NESTED, SAME_BAR_M, common_sides, nested
from kc_vla.skills.hand_notes import HeldNames, LedDoors
from kc_vla.skills.interface import SkillError
from kc_vla.skills.perceived import CLOSED, PerceivedThing, numbers_of

_EMPTY_LOOKS = 3
"""Looks that show the place of a thing empty after which it is forgotten."""
_MOST_STAMPS = 32
"""Stamps of so many reports are kept."""
MOST_THINGS = 500
"""So many things are known at most; the one that was seen longest ago goes."""


class PerceivedScene:
    """All that was reported, each thing as it was seen last.

    Attributes:
        now_s: stamp of the newest report, s; negative infinity before the first.
    """

    def __init__(self) -> None:
        self._things: dict[str, PerceivedThing] = {}
        self._empty: Counter[str] = Counter()
        self._doors, self._names = LedDoors(), HeldNames()
        self._stamps: deque[float] = deque(maxlen=_MOST_STAMPS)
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
        if stamp_s > self.now_s:
            self._stamps.append(stamp_s)
        self.now_s = stamp_s
        shut = {name for name, each in self._things.items() if self.is_shut_in(each)}
        named = self._names.named([_without_ended(each) for each in things], shut)
        seen = [self._doors.with_door(each) for each in named]
        if view is not None:
            self._forget_gone(view, {each.object_id for each in seen}.union(kept))
        for name in {self._names.name(each) for each in gone}.difference(kept):
            self.drop(name)
        for each in seen:
            self._things.pop(each.object_id, None)
            self._things[each.object_id] = each
            self._empty.pop(each.object_id, None)
        self._forget_doubles({each.object_id for each in seen})
        while len(self._things) > MOST_THINGS:
            del self._things[next(iter(self._things))]

    def led(self, object_id: str, attributes: dict[str, str]) -> None:
        """Note where a hand led a door: nobody may see its handle from there, or not as exactly."""
        self._doors.note(object_id, attributes)
        if (thing := self._things.get(object_id)) is not None:
            self._things[object_id] = replace(thing, attributes=dict(thing.attributes) | attributes)

    def same(self, reported: str, thing: PerceivedThing) -> None:
        """Note that what is reported with an id is a thing that the hand held: it keeps the name that it had there.

        Perception may lose sight of a thing in the hand, or take it for another one from so near.

        Args:
            reported: the id.
            thing: as it was held.
        """
        if reported == thing.object_id or (seen := self._things.pop(reported, None)) is None:
            return
        self._names.note(reported, thing)
        self._things[thing.object_id] = self._names.renamed(seen)
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
        self._doors, self._names = LedDoors(), HeldNames()
        self._stamps.clear()
        self.now_s = float("-inf")

    def find(self, object_id: str) -> PerceivedThing | None:
        """Return a thing as it was seen last, by its name here or as it is reported; None for one that never was."""
        return self._things.get(object_id) or self._things.get(self._names.name(object_id))

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

    def reports_since(self, stamp_s: float) -> int:
        """Return the number of moments after a stamp, s, of which something was reported, of the last 32."""
        return sum(each > stamp_s for each in self._stamps)

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
