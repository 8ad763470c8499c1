"""What a skill can change, once all that it needs holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kc_vla_sim.household.needs import Given
from kc_vla_sim.household.states import ThingState, with_state
from kc_vla_sim.household.world import FLOOR, HELD, ROBOT, Place

WALK_M_S = 0.5
Deed = Callable[[Given], None]


def _becomes(state: ThingState) -> Deed:
    def change(given: Given) -> None:
        given.world.set_states(given.names[0], with_state(given.thing.states, state))

    return change


def _walk_to_it(given: Given) -> None:
    given.world.walk(given.world.area_of(given.names[0]), WALK_M_S)


def _walk_there(given: Given) -> None:
    given.world.walk(given.names[0], WALK_M_S)


def _take(given: Given) -> None:
    given.world.move(given.names[0], Place(HELD, ROBOT))


def _put(given: Given) -> None:
    spot = given.world.free_spot(given.holder)
    assert spot is not None  # the table needs it
    given.world.move(given.names[0], Place(given.holder.kind.relation, given.names[1], spot))


def _drop(given: Given) -> None:
    given.world.move(given.names[0], Place(FLOOR, given.world.at))


def _spill(given: Given) -> None:
    given.world.set_states(given.names[0], given.thing.states - {ThingState.FILLED})


def _break(given: Given) -> None:
    given.world.set_states(
        given.names[0], (given.thing.states - {ThingState.FILLED, ThingState.ON}) | {ThingState.BROKEN}
    )


def _break_if_it_can(given: Given) -> None:
    if "break" in given.thing.kind.can:
        _break(given)


DEEDS: Mapping[str, Deed] = {
    "walk to it": _walk_to_it,
    "walk there": _walk_there,
    "take": _take,
    "put": _put,
    "drop": _drop,
    "spill": _spill,
    "open": _becomes(ThingState.OPENED),
    "close": _becomes(ThingState.CLOSED),
    "switch on": _becomes(ThingState.ON),
    "switch off": _becomes(ThingState.OFF),
    "slice": _becomes(ThingState.SLICED),
    "break": _break,
    "break if it can": _break_if_it_can,
}
