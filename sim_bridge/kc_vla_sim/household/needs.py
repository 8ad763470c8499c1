"""What a skill can need, each with the reason that is reported where it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kc_vla.planning.obstacles import Clearing
from kc_vla_sim.household.detector import visible
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.workings import WORKINGS
from kc_vla_sim.household.world import HELD, Thing, World

CUTS = "cutting tool"
_SHUT = {rule.device for rule in WORKINGS if rule.when == {ThingState.ON, ThingState.CLOSED}}


class Given(NamedTuple):
    """What is looked at: the world, and the names that a skill was called with."""

    world: World
    names: tuple[str, ...]

    @property
    def thing(self) -> Thing:
        """Return the first one."""
        return self.world.things[self.names[0]]

    @property
    def holder(self) -> Thing:
        """Return the second one."""
        return self.world.things[self.names[1]]


class Need(NamedTuple):
    """A condition.

    Attributes:
        holds: whether it does.
        reason: why the skill failed, where it does not; {0} and {1} are the names.
        clearing: of the first thing, after which it holds; None where another thing is to be done.
    """

    holds: Callable[[Given], bool]
    reason: str
    clearing: Clearing | None = None


def _can(what: str) -> Callable[[Given], bool]:
    return lambda given: what in given.thing.kind.can


def _is(state: ThingState) -> Callable[[Given], bool]:
    return lambda given: state in given.thing.states


def _is_not(state: ThingState) -> Callable[[Given], bool]:
    return lambda given: state not in given.thing.states


def _seen(given: Given, which: int) -> bool:
    name = given.names[which]
    return name in given.world.things and visible(given.world, name)


def _near(given: Given, which: int) -> bool:
    return given.world.area_of(given.names[which]) == given.world.at


def _open(given: Given) -> bool:
    return not given.holder.closed


def _not_in_it(given: Given) -> bool:
    thing, holder = given.names
    return thing != holder and thing not in {each.id for each in given.world.holders(holder)}


def _has_knife(given: Given) -> bool:
    held = given.world.held()
    return held is not None and CUTS in held.kind.words


NEEDS: Mapping[str, Need] = {
    "an area": Need(lambda given: given.names[0] in given.world.plan.areas, "there is no area {0}"),
    "seen": Need(lambda given: _seen(given, 0), "no {0} is in sight from here"),
    "holder seen": Need(lambda given: _seen(given, 1), "no {1} is in sight from here"),
    "within reach": Need(lambda given: _near(given, 0), "{0} is out of reach: go to it first"),
    "holder within reach": Need(lambda given: _near(given, 1), "{1} is out of reach: go to it first"),
    "held": Need(lambda given: given.names[0] in given.world.contents("robot"), "{0} is not in the hand"),
    "not held": Need(lambda given: given.thing.place.relation != HELD, "{0} is in the hand already"),
    "hand empty": Need(lambda given: given.world.held() is None, "the hand is not empty: put down what it holds first"),
    "can be picked up": Need(_can("pickup"), "{0} cannot be carried"),
    "can be opened": Need(_can("open"), "{0} cannot be opened or closed"),
    "can be switched": Need(_can("switch"), "{0} cannot be switched on or off"),
    "can be sliced": Need(_can("slice"), "{0} cannot be sliced"),
    "can be broken": Need(_can("break"), "{0} cannot be broken"),
    "closed": Need(_is(ThingState.CLOSED), "{0} is open already"),
    "opened": Need(_is(ThingState.OPENED), "{0} is closed already"),
    "on": Need(_is(ThingState.ON), "{0} is off already"),
    "off": Need(_is(ThingState.OFF), "{0} is on already"),
    "not at work": Need(_is_not(ThingState.ON), "{0} is on: switch it off first"),
    "not broken": Need(_is_not(ThingState.BROKEN), "{0} is broken"),
    "not sliced": Need(_is_not(ThingState.SLICED), "{0} is sliced already"),
    "shut if it cooks": Need(
        lambda given: given.thing.kind.name not in _SHUT or ThingState.CLOSED in given.thing.states,
        "{0} is open: close it first",
        Clearing.CLOSE,
    ),
    "knife in the hand": Need(_has_knife, "no knife is in the hand: pick one up to slice {0}"),
    "holds nothing": Need(
        lambda given: not given.world.contents(given.names[0]), "something is on or in {0}: empty it"
    ),
    "holder holds things": Need(lambda given: bool(given.holder.kind.relation), "nothing can be put on or into {1}"),
    "holder open": Need(_open, "{1} is closed: open it first"),
    "holder not in it": Need(_not_in_it, "{1} is {0}, or on or in it"),
    "holder large enough": Need(lambda given: given.holder.kind.takes(given.thing.kind), "{0} is too large for {1}"),
    "holder has room": Need(lambda given: given.world.free_spot(given.holder) is not None, "{1} is full"),
}
