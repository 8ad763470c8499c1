"""What is seen from where the robot stands, as a detector tells it, errors included."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kc_vla.memory.long_term.relations import IN_HAND
from kc_vla.memory.things import ObservedThing
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.types import ThingType, kinds
from kc_vla_sim.household.world import FLOOR, HELD, STANDS, Thing, World

SIGHT_M = 2.5
"""How far one sees; what is reached from where one stands is seen however long the furniture is."""
_FIRST = (
    ThingState.BROKEN,
    ThingState.USED_UP,
    ThingState.FILLED,
    ThingState.COOKED,
    ThingState.HEATED,
    ThingState.SLICED,
    ThingState.CLEANED,
    ThingState.DIRTY,
    ThingState.ON,
    ThingState.OPENED,
    ThingState.OFF,
    ThingState.CLOSED,
)
"""Order in which one of several states becomes the reported state; `cold` is not in the paper and never does."""


@dataclass(frozen=True)
class Noise:
    """Errors of a detector: the share of things that it does not see, or names or describes wrongly.

    A wrong type is one that has a word in common ("fruit"), a wrong state one that the type can have.
    """

    missing: float = 0.0
    wrong_type: float = 0.0
    wrong_state: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not all(0.0 <= share <= 1.0 for share in (self.missing, self.wrong_type, self.wrong_state)):
            raise HouseholdError("missing, wrong_type and wrong_state are shares: give each a number from 0 to 1")
        if self.seed < 0:
            raise HouseholdError(f"the seed {self.seed} is negative: give a whole number from 0")


def visible(world: World, name: str) -> bool:
    """Return whether a thing is seen: in nothing closed, and within reach, or within `SIGHT_M` with nothing between.

    A wall and a floor are something.
    """
    if world.hidden(name):
        return False
    return world.area_of(name) == world.at or _in_view(world, name)


def see(world: World) -> list[ObservedThing]:
    """Return all that is seen from where the robot stands, as it is."""
    return [detection(world, thing) for name, thing in world.things.items() if visible(world, name)]


def detection(world: World, thing: Thing) -> ObservedThing:
    """Return a thing as a detector without errors reports it."""
    state = next((each for each in _FIRST if each in thing.states), None)
    also = ", ".join(sorted(each for each in thing.states if each is not state))
    relation = thing.place.relation
    container = "" if relation in (HELD, FLOOR, STANDS) else thing.place.holder
    place = f"{relation} {container}" if container else {HELD: IN_HAND, FLOOR: "on the floor"}.get(relation, "")
    attributes = {"colour": thing.colour, "also": also, "place": place}
    return ObservedThing(
        object_type=thing.kind.name,
        object_id=thing.id,
        position=world.position(thing.id),
        size=thing.size,
        state=state.value if state else "",
        attributes={name: text for name, text in attributes.items() if text},
        relation=relation,
        container=container,
        area=world.area_of(thing.id),
        movable=not thing.kind.fixed,
    )


class Detector:
    """Sees with errors; the same ones for the same seed and the same looks."""

    def __init__(self, noise: Noise | None = None) -> None:
        self._noise = noise or Noise()
        self._chance = np.random.default_rng(self._noise.seed)

    def see(self, world: World) -> list[ObservedThing]:
        """Return what the detector reports of a look from where the robot stands."""
        found = []
        for name, thing in world.things.items():
            if not visible(world, name):
                continue
            missing, other_type, other_state, which = (float(each) for each in self._chance.random(4))
            if missing < self._noise.missing:
                continue
            seen = detection(world, thing)
            if other_type < self._noise.wrong_type:
                others = _like(thing.kind)
                seen = replace(seen, object_type=others[int(which * len(others))].name)
            if other_state < self._noise.wrong_state:
                states = [state.value for state in _possible(thing.kind) if state != seen.state]
                seen = replace(seen, state=states[int(which * len(states))] if states else seen.state)
            found.append(seen)
        return found


def _in_view(world: World, name: str) -> bool:
    here, there = world.plan.areas[world.at], world.position(name)
    if world.floor_of(name) != here.floor or math.dist(here.position[:2], there[:2]) > SIGHT_M:
        return False
    return world.plan.clear(here.position, there, here.floor)


def _like(kind: ThingType) -> list[ThingType]:
    """Return the types that it may be taken for; itself where nothing is like it."""
    others = [
        each
        for each in kinds().values()
        if each is not kind and each.fixed == kind.fixed and set(each.words) & set(kind.words)
    ]
    return others or [kind]


def _possible(kind: ThingType) -> list[ThingState]:
    """Return states that a type may be seen in."""
    by_can = {
        "soil": (ThingState.DIRTY, ThingState.CLEANED),
        "wash": (ThingState.CLEANED,),
        "heat": (ThingState.HEATED,),
        "slice": (ThingState.SLICED,),
        "fill": (ThingState.FILLED,),
        "open": (ThingState.OPENED, ThingState.CLOSED),
        "switch": (ThingState.ON, ThingState.OFF),
    }
    return [state for can, states in by_can.items() if can in kind.can for state in states]
