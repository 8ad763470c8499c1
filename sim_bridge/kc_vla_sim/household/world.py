"""The true state of a home: where everything is, in which states, where the robot stands, and what time it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.floor_plan import FloorPlan, Vector
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.types import ThingType

HAND_HEIGHT_M = 1.0
ROBOT = "robot"
STANDS, ON, IN, HELD, FLOOR = "stands", "on", "in", "held", "floor"


class Place(NamedTuple):
    """Where a thing is. It is in exactly one place.

    Attributes:
        relation: "stands" of furniture, "on" or "in" a thing, "held" by the robot, or on the "floor".
        holder: the thing, the robot, or for floor and furniture the area.
        spot: which of the holder's places, from 0.
    """

    relation: str
    holder: str
    spot: int = 0


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing, furniture included.

    Attributes:
        id: "Apple_1".
        kind: its type.
        place: where it is.
        states: that it is in.
        colour: empty if its type has none.
        size: along the axes of the map, m.
        anchor: of furniture and what lies on the floor, the middle of its foot in the map, m.
    """

    id: str
    kind: ThingType
    place: Place
    states: frozenset[ThingState]
    colour: str
    size: Vector
    anchor: Vector = (0.0, 0.0, 0.0)

    @property
    def closed(self) -> bool:
        """Return whether it hides what is in it."""
        return ThingState.CLOSED in self.states and self.kind.relation == IN


class World:
    """The state of a home. It is changed by `move`, `set_states`, `walk` and `wait` alone.

    Attributes:
        plan: areas and walls.
        at: the area in which the robot stands.
        time_s: since the beginning.
        walked_m: by the robot, since then.
    """

    def __init__(self, plan: FloorPlan, at: str) -> None:
        self.plan = plan
        self.at = at
        self.time_s = 0.0
        self.walked_m = 0.0
        self._things: dict[str, Thing] = {}
        self._contents: dict[str, tuple[str, ...]] = {}
        self._of_kind: dict[str, tuple[str, ...]] = {}

    def copy(self) -> World:
        """Return another world in the same state."""
        twin = World(self.plan, self.at)
        twin.time_s, twin.walked_m = self.time_s, self.walked_m
        twin._things, twin._contents, twin._of_kind = dict(self._things), dict(self._contents), dict(self._of_kind)
        return twin

    @property
    def things(self) -> Mapping[str, Thing]:
        """Return all things, by their ids."""
        return self._things

    def of_kind(self, name: str) -> Iterator[Thing]:
        """Return the things of a type."""
        return (self._things[each] for each in self._of_kind.get(name, ()))

    def state(self) -> tuple[object, ...]:
        """Return all that an action may change, but for the time: equal for worlds in the same state."""
        return self.at, tuple(
            sorted((each.id, each.place, tuple(sorted(each.states))) for each in self.things.values())
        )

    def add(self, thing: Thing) -> None:
        """Put a new thing into the world, at the place that it names."""
        if thing.id in self._things:
            raise HouseholdError(f"{thing.id} is there already")
        self._things[thing.id] = thing
        self._of_kind[thing.kind.name] = (*self._of_kind.get(thing.kind.name, ()), thing.id)
        self._contents[thing.place.holder] = (*self._contents.get(thing.place.holder, ()), thing.id)

    def contents(self, holder: str) -> tuple[str, ...]:
        """Return what is directly on or in a thing, in an area, or held by the robot; what came last is last."""
        return self._contents.get(holder, ())

    def all_contents(self, holder: str) -> Iterator[str]:
        """Yield what is on or in a thing, and on or in that; not what is behind a door."""
        for name in self.contents(holder):
            yield name
            if not self._things[name].closed:
                yield from self.all_contents(name)

    def held(self) -> Thing | None:
        """Return what the robot holds."""
        return next((self._things[name] for name in self.contents(ROBOT)), None)

    def holders(self, name: str) -> list[Thing]:
        """Return the things that it is on or in, the nearest first."""
        found, place = [], self._things[name].place
        while place.relation in (ON, IN):
            found.append(self._things[place.holder])
            place = found[-1].place
        return found

    def area_of(self, name: str) -> str:
        """Return the area in which one stands to reach it."""
        above = self.holders(name)
        place = (above[-1] if above else self._things[name]).place
        return self.at if place.relation == HELD else place.holder

    def floor_of(self, name: str) -> str:
        """Return the floor on which a thing is."""
        return self.plan.areas[self.area_of(name)].floor

    def hidden(self, name: str) -> bool:
        """Return whether it is in something closed."""
        return any(holder.closed for holder in self.holders(name))

    def position(self, name: str) -> Vector:
        """Return the position of the middle of a thing's box in the map, m."""
        thing = self._things[name]
        x, y, z = self._foot(thing)
        return x, y, z + thing.size[2] / 2

    def free_spot(self, holder: Thing) -> int | None:
        """Return the first place on or in a thing that is free."""
        taken = {self._things[name].place.spot for name in self.contents(holder.id)}
        return next((spot for spot in range(holder.kind.capacity) if spot not in taken), None)

    def move(self, name: str, place: Place) -> None:
        """Carry a thing to another place, with what is on or in it."""
        thing = self._things[name]
        anchor = self.plan.areas[place.holder].position if place.relation == FLOOR else thing.anchor
        old = thing.place.holder
        self._contents[old] = tuple(each for each in self._contents[old] if each != name)
        self._contents[place.holder] = (*self._contents.get(place.holder, ()), name)
        self._things[name] = replace(thing, place=place, anchor=anchor)

    def set_states(self, name: str, states: frozenset[ThingState]) -> None:
        """Give a thing these states."""
        self._things[name] = replace(self._things[name], states=states)

    def walk(self, area: str, speed_m_s: float) -> None:
        """Let the robot walk to another area, on the shortest way."""
        far = self.plan.distance(self.at, area)
        self.at, self.walked_m = area, self.walked_m + far
        self.wait(far / speed_m_s)

    def wait(self, seconds: float) -> None:
        """Let time go by.

        Raises:
            ValueError: it would run backwards.
        """
        if not seconds >= 0:
            raise ValueError(f"time runs forwards: {seconds} s cannot go by")
        self.time_s += seconds

    def _foot(self, thing: Thing) -> Vector:
        if thing.place.relation in (STANDS, FLOOR):
            return thing.anchor
        if thing.place.relation == HELD:
            x, y, z = self.plan.areas[self.at].position
            return x, y, z + HAND_HEIGHT_M
        holder = self._things[thing.place.holder]
        x, y, z = self._foot(holder)
        columns = math.ceil(math.sqrt(holder.kind.capacity))
        rows = math.ceil(holder.kind.capacity / columns)
        row, column = divmod(thing.place.spot, columns)
        top = holder.size[2] if thing.place.relation == ON else min(0.05, holder.size[2] / 2)
        right = ((column + 0.5) / columns - 0.5) * holder.size[0]
        back = ((row + 0.5) / rows - 0.5) * holder.size[1]
        return x + right, y + back, z + top
