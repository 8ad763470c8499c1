"""The states of things: KARMA's (appendix F), `broken`, and `cold`, which ALFRED asks for and the paper lacks."""

from __future__ import annotations

from enum import StrEnum

from kc_vla_sim.household.errors import HouseholdError, told


class ThingState(StrEnum):
    """A state of a thing, which can be in several at once.

    A thing in none is, in the paper's words, in the state `none`.
    """

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
    "clean": ThingState.CLEANED,
    "washed": ThingState.CLEANED,
    "hot": ThingState.HEATED,
    "warm": ThingState.HEATED,
    "chilled": ThingState.COLD,
    "cooled": ThingState.COLD,
    "cut": ThingState.SLICED,
    "full": ThingState.FILLED,
    "open": ThingState.OPENED,
    "shut": ThingState.CLOSED,
}
_INSTEAD = (
    (ThingState.CLEANED, ThingState.DIRTY),
    (ThingState.HEATED, ThingState.COLD),
    (ThingState.ON, ThingState.OFF),
    (ThingState.OPENED, ThingState.CLOSED),
    (ThingState.FILLED, ThingState.USED_UP),
)
"""Pairs of states that exclude each other."""


def with_state(states: frozenset[ThingState], new: ThingState) -> frozenset[ThingState]:
    """Return the states of a thing that gets into one more, without that which it takes the place of."""
    gone = {other for pair in _INSTEAD if new in pair for other in pair}
    return (states - gone) | {new}


def state_of(text: str) -> ThingState:
    """Return the state of that name, as goals and tables write it: "clean", "used_up".

    Raises:
        HouseholdError: there is no such state.
    """
    word = " ".join(text.lower().replace("_", " ").split())
    try:
        return _OTHER_WORDS.get(word) or ThingState(word)
    except ValueError:
        raise HouseholdError(f"there is no state {told(text)}: give one of {', '.join(ThingState)}") from None
