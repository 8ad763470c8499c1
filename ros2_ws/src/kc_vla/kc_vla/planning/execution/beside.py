"""Where to put something "next to the sink": on what stands beside it, or on what it stands on itself."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace

from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.references.likely_places import holders, known_as
from kc_vla.memory.references.names import BESIDE, NEXT_TO
from kc_vla.memory.references.naming import tier_of
from kc_vla.memory.references.reference import read
from kc_vla.memory.references.spatial import Spatial
from kc_vla.memory.references.spatial_phrases import SpatialPhrase
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import CLOSED, HELD, KnownThing, ObservedThing
from kc_vla.planning.execution.finding import Finder
from kc_vla.planning.execution.robot import NotFoundError, RememberingRobot

NEAR_M = 1.2
"""How far two pieces of furniture may be apart, from rim to rim, to be next to each other, m."""
SURFACES = ("counter", "table", "desk", "shelf")
"""What things are put down on in any home, also in one whose furniture has types of its own."""
_ANY = "place"


def holds_things(object_type: str) -> bool:
    """Return whether furniture of that type is known to, or is called like what does in any home."""
    return known_as(object_type) in holders() or any(tier_of((name,), object_type) for name in SURFACES)


class Beside:
    """Finds places for one robot."""

    def __init__(self, robot: RememberingRobot, finder: Finder) -> None:
        """Prepare to look for things beside others.

        Args:
            robot: that looks.
            finder: of its things.
        """
        self._robot, self._finder = robot, finder

    def find(self, text: str, without: Collection[str]) -> ObservedThing:
        """Bring the place that is meant into sight.

        Args:
            text: "counter next to sink", "place next to red mug"; of "bed next to lamp" the lamp is on the bed, or the
                bed stands beside it.
            without: ids of what was tried and will not do.

        Raises:
            NotFoundError: what it is next to is nowhere, or nothing beside it holds things.
            EndedError: see `RememberingRobot.do`.
        """
        what, _, beside = text.partition(NEXT_TO)
        if what not in BESIDE:
            return self._of_that_name(what, beside, without)
        landmark = self._finder.find(beside, without)
        for holder, way_m in self._places(landmark, what):
            if holder in without or not self._finder.bring(holder):
                continue
            how = f"{way_m:.1f} m from it" if way_m else "which it is on or in"
            self._robot.note(f"'next to {beside}' was done as on {holder}, {how}: {landmark.object_id}")
            return self._robot.sight[holder]
        raise NotFoundError(f"there is nothing next to {landmark.object_id} on which a thing can be put")

    def _of_that_name(self, what: str, beside: str, without: Collection[str]) -> ObservedThing:
        """Bring into sight what is called so and holds the landmark, else what stands beside that."""
        robot = self._robot
        around = HomeSurroundings(robot.grounds.areas, robot.begun_at, robot.now_s)
        known = [each for each in robot.all_known().values() if each.relation != HELD]
        held = (replace(read(beside), relation=SpatialPhrase(beside, how, (what,))) for how in (Spatial.ON, Spatial.IN))
        for each in (each for one in held for each in robot.memory.relations.find(one, known, around).matches):
            holder = next(name for name in each.to if name)
            if holder not in without and self._finder.bring(each.thing.object_id) and self._finder.bring(holder):
                robot.note(f"'next to {beside}' was done as on {holder}, which it is on")
                return robot.sight[holder]
        landmark = self._finder.find(beside, without)
        words = read(what).words
        for name, way_m in self._places(landmark, what):
            called = robot.known(name) or robot.memory.thing(name)
            if called is None or name in without or not tier_of(words, called.object_type):
                continue
            if self._finder.bring(name):
                robot.note(f"'next to {beside}' was done as on {name}, {way_m:.1f} m from it: {landmark.object_id}")
                return robot.sight[name]
        raise NotFoundError(f"no {beside} on {what} was found, and none beside a {what}: say where it goes")

    def _places(self, landmark: ObservedThing, what: str) -> Iterator[tuple[str, float]]:
        """Yield the ids of places, the nearest first, each with its distance, m.

        It is 0 for what the landmark is on itself.
        """
        robot = self._robot
        if landmark.movable:
            if landmark.container and landmark.relation != HELD:
                yield landmark.container, 0.0
            return
        known = {name: each for name, each in robot.all_known().items() if self._on_one_floor(landmark.area, each.area)}
        found = [
            (_rim_to_rim(landmark, each, robot.sight.get(each.object_id)), each.object_id)
            for each in known.values()
            if each.object_id != landmark.object_id and _will_do(each) and each.container != landmark.object_id
        ]
        called = (
            {name for name in known if tier_of(read(what).words, known[name].object_type)} if what != _ANY else known
        )
        for way_m, name in sorted(found, key=lambda each: (each[1] not in called, each)):
            if way_m <= NEAR_M:
                yield name, max(way_m, 0.1)

    def _on_one_floor(self, area: str, other: str) -> bool:
        """Return whether two areas are on one floor, as far as is known: what is above a thing is not beside it."""
        floors = {each.floor for name in (area, other) if (each := self._robot.grounds.areas.get(name)) is not None}
        return len(floors) < 2


def _will_do(thing: KnownThing) -> bool:
    shut = CLOSED in thing.states
    open_top = spoken(thing.object_type) not in (
        "sink",
        "sink basin",
        "bathtub",
        "bathtub basin",
        "toilet",
        "garbage can",
    )
    return not thing.movable and not shut and open_top and holds_things(thing.object_type)


def _rim_to_rim(landmark: ObservedThing, thing: KnownThing, seen: ObservedThing | None) -> float:
    """Return the gap between two pieces of furniture, seen from above, m.

    It is measured from the middle of one whose size is not remembered.
    """
    size = seen.size if seen is not None else (0.0, 0.0, 0.0)
    gaps = (
        max(abs(landmark.position[axis] - thing.position[axis]) - (landmark.size[axis] + size[axis]) / 2, 0.0)
        for axis in (0, 1)
    )
    return math.hypot(*gaps)
