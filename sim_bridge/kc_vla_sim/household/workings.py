"""What devices do to what is in them, for as long as they work."""

from __future__ import annotations

from typing import NamedTuple

from kc_vla_sim.household.states import ThingState, with_state
from kc_vla_sim.household.types import ThingType
from kc_vla_sim.household.world import World


class Working(NamedTuple):
    """A rule.

    Attributes:
        device: a type.
        when: the states in which it works.
        around: it works on what is in the thing that it stands on; otherwise on what is in or on itself.
        makes: the states that things there get into, as far as their types can.
    """

    device: str
    when: frozenset[ThingState]
    around: bool
    makes: tuple[ThingState, ...]


WORKINGS = (
    Working("Faucet", frozenset({ThingState.ON}), True, (ThingState.CLEANED, ThingState.FILLED)),
    Working("Microwave", frozenset({ThingState.ON, ThingState.CLOSED}), False, (ThingState.HEATED, ThingState.COOKED)),
    Working("StoveBurner", frozenset({ThingState.ON}), False, (ThingState.HEATED, ThingState.COOKED)),
    Working("Toaster", frozenset({ThingState.ON}), False, (ThingState.HEATED,)),
    Working("CoffeeMachine", frozenset({ThingState.ON}), False, (ThingState.FILLED,)),
    Working("Fridge", frozenset({ThingState.CLOSED}), False, (ThingState.COLD,)),
)
CAN = {
    ThingState.CLEANED: "wash",
    ThingState.FILLED: "fill",
    ThingState.HEATED: "heat",
    ThingState.COOKED: "cook",
    ThingState.COLD: "heat",
}
"""What a type has to be able to, to get into a state."""


def settle(world: World) -> None:
    """Let the devices of a world do their work, once."""
    for rule in WORKINGS:
        for device in list(world.of_kind(rule.device)):
            if not rule.when <= device.states:
                continue
            for name in list(world.all_contents(device.place.holder if rule.around else device.id)):
                thing = world.things[name]
                states = thing.states
                for state in rule.makes:
                    if can_become(thing.kind, state) and ThingState.BROKEN not in states:
                        states = with_state(states, state)
                if states != thing.states:
                    world.set_states(name, states)


def can_become(kind: ThingType, state: ThingState) -> bool:
    """Return whether a device can bring things of a type into a state."""
    return CAN.get(state) in kind.can
