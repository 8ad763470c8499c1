"""The states of things: KARMA's (appendix F), `broken`, and `cold`, which ALFRED asks for and the paper lacks."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from kc_vla_sim.household.errors import HouseholdError, told


class State(StrEnum):
    """Of a thing; it can be in several at once. A thing in none is, in the paper's words, in the state `none`."""

    HEATED = "heated"
    COOKED = "cooked"
    SLICED = "sliced"
    CLEANED = "cleaned"
    DIRTY = "dirty"
    FILLED = "filled"
    USED_UP = "used up"
    OFF = "off"
    ON = "on"
    OPENED = "opened"
    CLOSED = "closed"
    BROKEN = "broken"
    COLD = "cold"


_OTHER_WORDS = {
    "clean": State.CLEANED,
    "washed": State.CLEANED,
    "hot": State.HEATED,
    "warm": State.HEATED,
    "chilled": State.COLD,
    "cooled": State.COLD,
    "cut": State.SLICED,
    "full": State.FILLED,
    "open": State.OPENED,
    "shut": State.CLOSED,
}
_INSTEAD = (
    (State.CLEANED, State.DIRTY),
    (State.HEATED, State.COLD),
    (State.ON, State.OFF),
    (State.OPENED, State.CLOSED),
    (State.FILLED, State.USED_UP),
)
"""Of each pair a thing is in one at most."""


def with_state(states: frozenset[State], new: State) -> frozenset[State]:
    """The states of a thing that gets into one more, without that which it takes the place of."""
    gone = {other for pair in _INSTEAD if new in pair for other in pair}
    return (states - gone) | {new}


def consistent(states: Iterable[State]) -> bool:
    """Whether a thing can be in all of them at once."""
    there = set(states)
    return not any(set(pair) <= there for pair in _INSTEAD)


def state_of(text: str) -> State:
    """The state of that name, as goals and tables write it: "clean", "used_up".

    Raises:
        HouseholdError: there is no such state.
    """
    word = " ".join(text.lower().replace("_", " ").split())
    try:
        return _OTHER_WORDS.get(word) or State(word)
    except ValueError:
        raise HouseholdError(f"there is no state {told(text)}: give one of {', '.join(State)}") from None
