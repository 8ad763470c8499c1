"""Scenes: homes after ALFRED's 120 floor plans, each the same whenever it is built with the same seed.

A scene has the furniture that each room of its kind has, and all types that ALFRED's annotated tasks use in it. How
many, in which order furniture stands, where things lie, their colors and what is dirty is drawn by number and seed.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from kc_vla_sim.household.alfred import scenes
from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.floor_plan import GROUND, UPPER, Vector
from kc_vla_sim.household.house_layout import Staircase, lay_out_house
from kc_vla_sim.household.layout import RoomPlan, lay_out
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.types import FLOOR as ON_THE_FLOOR
from kc_vla_sim.household.types import ROOM_KINDS, ThingType, kinds
from kc_vla_sim.household.workings import settle
from kc_vla_sim.household.world import FLOOR, ON, STANDS, Place, Thing, World

NUMBERS = tuple(first + number for first in ROOM_KINDS for number in range(1, 31))
"""Numbers of the scenes: kitchens 1 to 30, living rooms 201 to 230, bedrooms 301 to 330, bathrooms 401 to 430."""
SPLITS = ("development", "test")
HOUSES = 30
STAIRCASE = "Staircase"
_MOST_THINGS = 20_000
_MORE, _SOILED = 0.25, 0.3
"""How likely there is one more of a thing than a task needs, and how likely what can be dirty is."""


def room_of(number: int) -> str:
    """Return the kind of room of a scene.

    Raises:
        HouseholdError: there is no such scene.
    """
    if number not in NUMBERS:
        raise HouseholdError(f"there is no scene {number}: choose 1-30, 201-230, 301-330 or 401-430")
    return ROOM_KINDS[number // 100 * 100]


@cache
def split_of(number: int) -> str:
    """Return the split of a scene: half of each kind of room.

    They are ordered by the SHA-256 of "FloorPlan" and the number.
    """
    room = room_of(number)
    like = [each for each in NUMBERS if room_of(each) == room]
    order = sorted(like, key=lambda each: hashlib.sha256(f"FloorPlan{each}".encode()).hexdigest())
    return SPLITS[order.index(number) >= len(order) // 2]


def build_scene(number: int, seed: int = 0) -> World:
    """Return one scene, as it is at the beginning; the robot stands inside of the door.

    Raises:
        HouseholdError: there is no such scene, or the seed is negative.
    """
    return _built([number], seed)


def build_home(number: int, seed: int = 0) -> World:
    """Build four rooms side by side along a hall: the `number`th kitchen, living room, bedroom and bathroom.

    Raises:
        HouseholdError: the number is not 1 to 30, or the seed is negative.
    """
    if not 1 <= number <= 30:
        raise HouseholdError(f"there is no home {number}: choose 1 to 30")
    return _built([first + number for first in ROOM_KINDS], seed)


def house_scenes(number: int) -> list[int]:
    """Return the kitchen, living room, bedroom and bathroom of a house, all of one split.

    Houses 1 to 15 have the scenes of the split "development" in their order, 16 to 30 those of "test".

    Raises:
        HouseholdError: the number is not 1 to 30.
    """
    if not 1 <= number <= HOUSES:
        raise HouseholdError(f"there is no house {number}: choose 1 to {HOUSES}")
    split, place = divmod(number - 1, HOUSES // len(SPLITS))
    like = ([each for each in NUMBERS if each // 100 * 100 == first] for first in ROOM_KINDS)
    return [[each for each in some if split_of(each) == SPLITS[split]][place] for some in like]


def build_house(number: int, seed: int = 0) -> World:
    """Build a house of two floors: kitchen and living room, above them bedroom and bathroom, and stairs.

    Raises:
        HouseholdError: the number is not 1 to 30, or the seed is negative.
    """
    numbers = house_scenes(number)
    chance = _chance(seed, numbers)
    rooms, stocks = _rooms(numbers, chance)
    plan, plans, staircases = lay_out_house({GROUND: rooms[:2], UPPER: rooms[2:]})
    building = _Building(World(plan, plans[0].entrance), chance)
    for each in staircases:
        building.add_stairs(each)
    return building.filled(plans, rooms, stocks)


def build_building(count: int, seed: int = 0) -> World:
    """Build rooms along one long hall until there are so many things, furniture included: for how costs grow.

    The homes follow each other, and again from the first.

    Raises:
        HouseholdError: the count is not 1 to 20,000, or the seed is negative.
    """
    if not 1 <= count <= _MOST_THINGS:
        raise HouseholdError(f"there is no building with {count} things: choose 1 to {_MOST_THINGS}")
    homes = itertools.islice(itertools.cycle(range(1, 31)), count)
    return _built([first + home for home in homes for first in ROOM_KINDS], seed, count)


def build(name: str, seed: int = 0) -> World:
    """Return the world that people name: "1" is by `build_scene`, "home1" by `build_home`, "house1" by `build_house`.

    Raises:
        HouseholdError: there is none of that name, or the seed is negative.
    """
    number = name.removeprefix("home").removeprefix("house")
    if not number.isdecimal() or not number.isascii() or len(number) > 3:
        raise HouseholdError(f"there is no scene {told(name)}: give a number such as 1, home1, or house1")
    build = {number: build_scene, f"home{number}": build_home, f"house{number}": build_house}.get(name)
    if build is None:
        raise HouseholdError(f"there is no scene {told(name)}: give a number such as 1, home1, or house1")
    return build(int(number), seed)


def types_in(number: int) -> Mapping[str, int]:
    """Return the types that ALFRED's tasks use in a scene, and how many at once.

    Two scenes of each kind have no annotated tasks: theirs are the types that at least half of their kind have.
    """
    room = room_of(number)
    known = scenes()
    if number in known:
        return known[number].types
    like = [scene for each, scene in known.items() if room_of(each) == room]
    common = Counter(name for scene in like for name in scene.types)
    return {name: 1 for name, count in sorted(common.items()) if 2 * count >= len(like)}


def _built(numbers: Sequence[int], seed: int, count: int = 0) -> World:
    """Return the rooms of scenes; with a count only the first ones that have so many things together."""
    chance = _chance(seed, numbers if not count else (count,))
    rooms, stocks = _rooms(numbers, chance, count)
    plan, plans = lay_out(rooms)
    return _Building(World(plan, plans[0].entrance), chance).filled(plans, rooms, stocks)


def _chance(seed: int, numbers: Sequence[int]) -> np.random.Generator:
    if seed < 0:
        raise HouseholdError(f"the seed {seed} is negative: give a whole number from 0")
    return np.random.default_rng([seed, *numbers])


def _rooms(
    numbers: Sequence[int], chance: np.random.Generator, count: int = 0
) -> tuple[list[tuple[str, list[ThingType]]], list[list[ThingType]]]:
    """Return the rooms of scenes, name and furniture, and what lies about in each; see `_built` for the count."""
    rooms: list[tuple[str, list[ThingType]]] = []
    stocks: list[list[ThingType]] = []
    named = Counter[str]()
    there = 0
    for number in numbers:
        furniture, things = _stock(number, chance)
        there += len(furniture) + len(things)
        room = room_of(number)
        named[room] += 1
        rooms.append((room if named[room] == 1 else f"{room} {named[room]}", furniture))
        stocks.append(things)
        if count and there >= count:
            break
    return rooms, stocks


def _stock(number: int, chance: np.random.Generator) -> tuple[list[ThingType], list[ThingType]]:
    """Return the furniture of a scene, in the order in which it stands, and what lies about."""
    room, needed = room_of(number), types_in(number)
    furniture: list[ThingType] = []
    things: list[ThingType] = []
    for kind in kinds().values():
        if not kind.fixed:
            more = bool(chance.random() < _MORE)
            things += [kind] * (needed[kind.name] + more if kind.name in needed else 0)
        elif room in kind.rooms:
            least, most = kind.rooms[room]
            furniture += [kind] * int(chance.integers(least, most + 1))
        elif kind.name in needed:
            furniture += [kind] * (1 + bool(chance.random() < _MORE))
    there = {kind.name for kind in furniture}
    for kind in list(furniture):  # what stands on something needs it
        if kind.stands[0] in kinds() and not there & set(kind.stands):
            furniture.append(kinds()[kind.stands[0]])
            there.add(kind.stands[0])
    return [furniture[index] for index in chance.permutation(len(furniture))], things


class _Building:
    """Puts things into a world; each type counts its ids from 1."""

    def __init__(self, world: World, chance: np.random.Generator) -> None:
        self.world = world
        self._chance = chance
        self._count = Counter[str]()
        self._furniture: dict[str, list[str]] = {}

    def filled(
        self,
        plans: Sequence[RoomPlan],
        rooms: Sequence[tuple[str, Sequence[ThingType]]],
        stocks: Sequence[Sequence[ThingType]],
    ) -> World:
        """Furnish and fill all rooms, and return the world."""
        for room_plan, (_, furniture), things in zip(plans, rooms, stocks, strict=True):
            self.furnish(room_plan, furniture)
            self.fill(room_plan, things)
        settle(self.world)
        return self.world

    def add_stairs(self, stairs: Staircase) -> None:
        """Put one end of the stairs where one sees it."""
        self._add("", kinds()[STAIRCASE], Place(STANDS, stairs.area), stairs.size, stairs.anchor)

    def furnish(self, room: RoomPlan, furniture: Sequence[ThingType]) -> None:
        """Put the furniture at its places, then what stands on other furniture of that room."""
        floor = self.world.plan.areas[room.entrance].floor
        for kind, anchor, size in room.furniture:
            self._add(room.name, kind, Place(STANDS, self.world.plan.nearest(anchor, floor)), size, anchor)
        for kind in furniture:
            if kind.stands[0] in kinds():
                self._add(room.name, kind, self._spot(room, dict.fromkeys(kind.stands, 1.0), kind, ON), kind.size)

    def fill(self, room: RoomPlan, things: Sequence[ThingType]) -> None:
        """Put each thing where its type is likely."""
        for kind in things:
            self._add(room.name, kind, self._spot(room, kind.likely, kind), kind.size)

    def _add(self, room: str, kind: ThingType, place: Place, size: Vector, anchor: Vector | None = None) -> None:
        self._count[kind.name] += 1
        colour = kind.colours[int(self._chance.integers(len(kind.colours)))] if kind.colours else ""
        soiled = "soil" in kind.can and self._chance.random() < _SOILED
        states = kind.first_states | (frozenset({ThingState.DIRTY}) if soiled else frozenset())
        if anchor is None:
            anchor = self.world.plan.areas[place.holder].position if place.relation == FLOOR else (0.0, 0.0, 0.0)
        name = f"{kind.name}_{self._count[kind.name]}"
        self.world.add(Thing(name, kind, place, states, colour, size, anchor))
        if kind.fixed:
            self._furniture.setdefault(room, []).append(name)

    def _spot(self, room: RoomPlan, likely: Mapping[str, float], kind: ThingType, relation: str = "") -> Place:
        """Return a free place, by how likely each type of receptacle is.

        Where all are full, it is on any other one, or on the floor.
        """
        world = self.world
        there = [
            (thing, spot)
            for thing in (world.things[name] for name in self._furniture.get(room.name, ()))
            if thing.kind.takes(kind) or relation
            if (spot := world.free_spot(thing)) is not None
        ]
        names = Counter(thing.kind.name for thing, _ in there)
        weights = [likely.get(thing.kind.name, 0.0) / names[thing.kind.name] for thing, _ in there]
        floor = likely.get(ON_THE_FLOOR, 0.0)
        if not floor and not sum(weights):
            weights = [float(thing.kind.relation == "on" and not thing.closed) for thing, _ in there]
        total = sum(weights) + floor
        if total <= 0:
            floor = total = 1.0
        chosen = int(self._chance.choice(len(weights) + 1, p=[each / total for each in (*weights, floor)]))
        if chosen == len(there):
            areas = [name for name, area in world.plan.areas.items() if area.room == room.name]
            return Place(FLOOR, areas[int(self._chance.integers(len(areas)))])
        thing, spot = there[chosen]
        return Place(relation or thing.kind.relation, thing.id, spot)
