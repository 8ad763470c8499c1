"""What a name in a question means: the things that fit, those that may, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol

from kc_vla.core.errors import StackError
from kc_vla.memory.episodic.linked import LinkedKeyframes
from kc_vla.memory.references.fits import OPPOSITE, Fit
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import KnownThing

UNKNOWN_WORD = 0.5
"""Certainty where a word of the name is nowhere known of the thing: "the coffee mug"."""


class UnknownNameError(StackError):
    """A question names something that nobody knows; the text is an honest answer."""


class Remembered(Protocol):
    """What is asked: a memory of a robot, or one of its parts."""

    @property
    def namer(self) -> Namer:
        """Return what finds out which types a name means."""
        ...

    @property
    def looked(self) -> dict[str, float]:
        """Return when each area and each container was looked at or into last, s."""
        ...

    def things(self) -> Sequence[KnownThing]:
        """Return all that is remembered, each once."""
        ...

    def linked(self) -> LinkedKeyframes:
        """Return the keyframes that are remembered with what they show."""
        ...


@dataclass(frozen=True)
class MeantThings:
    """What a name means.

    Attributes:
        sure: the things that fit.
        maybe: those of which not every word is known that was said.
        unstated: those of which nobody knows whether they are in the states, or have the color, that was said.
        certainty: that the name means them, 0..1.
        named: the types that it stands for.
        notes: what was taken otherwise than it was said.
    """

    sure: tuple[KnownThing, ...] = ()
    maybe: tuple[KnownThing, ...] = ()
    unstated: tuple[KnownThing, ...] = ()
    certainty: float = 1.0
    named: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def things(self) -> tuple[KnownThing, ...]:
        """Return the things that fit, or, where there are none, those that may."""
        return self.sure or self.maybe

    @property
    def all(self) -> tuple[KnownThing, ...]:
        """Return all of them."""
        return (*self.sure, *self.maybe, *self.unstated)

    @property
    def trust(self) -> float:
        """Return how certain it is that these things are meant."""
        return self.certainty if self.sure or not self.maybe else self.certainty * UNKNOWN_WORD

    def only(self, kept: Iterable[KnownThing]) -> MeantThings:
        """Return it with those things alone."""
        ids = {each.object_id for each in kept}

        def of(some: tuple[KnownThing, ...]) -> tuple[KnownThing, ...]:
            return tuple(each for each in some if each.object_id in ids)

        return replace(self, sure=of(self.sure), maybe=of(self.maybe), unstated=of(self.unstated))

    def stated(self, states: Set[str], not_states: Set[str] = frozenset(), colour: str = "") -> MeantThings:
        """Return it with what is in the states, and has the color; what may be is set apart."""

        def of(some: tuple[KnownThing, ...], wanted: Fit) -> tuple[KnownThing, ...]:
            return tuple(each for each in some if state_fit(each, states, not_states, colour) is wanted)

        apart = (*of((*self.sure, *self.maybe), Fit.MAYBE), *of(self.unstated, Fit.YES), *of(self.unstated, Fit.MAYBE))
        return replace(self, sure=of(self.sure, Fit.YES), maybe=of(self.maybe, Fit.YES), unstated=apart)


def state_fit(thing: KnownThing, states: Set[str], not_states: Set[str], colour: str) -> Fit:
    """Return whether a thing is in all of some states, in none of some more, and has a color."""
    own = thing.attributes.get("colour", "")
    if (colour and own and spoken(own) != colour) or thing.states & not_states:
        return Fit.NO
    if any(OPPOSITE.get(each) in thing.states for each in states - thing.states):
        return Fit.NO
    excluded = all(OPPOSITE.get(each, each) in thing.states or each not in OPPOSITE for each in not_states)
    return Fit.YES if states <= thing.states and (own or not colour) and excluded else Fit.MAYBE
