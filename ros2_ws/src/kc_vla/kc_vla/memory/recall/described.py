"""Whether a unit is as an instruction describes it, so far as that is known.

"the red mug" can be a red one and, as like as not, one of unknown color, but not a blue one. Scores say less about
that: a mug of no color is nearer to it in words than most red things.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from enum import Enum

from kc_vla.memory.recall.instruction import Instruction
from kc_vla.memory.recall.words import COLOURS, stem, words
from kc_vla.memory.short_term.unit import ObjectState, Unit

_COLOURS = frozenset(map(stem, COLOURS))
_COLOUR, _PLACE = "colour", "place"
_ARTICLE = re.compile(r"the|an?|my|our|your|some|any|th[ei]se?|those|that|one")
_MOST_BEFORE = 4
"""Words between an article and the name of a thing."""
_SAYS_NOTHING = re.compile(r"\w+ly|colou?r\w*")
"""Words that say nothing of a thing: "the freshly baked bread", "the green-colored cup"."""


class Described(Enum):
    """How a unit compares with what an instruction says of the object that is meant."""

    SO = "so"
    """It is called so, and as it is described."""
    UNTOLD = "untold"
    """It is called so; some of what is asked for is unknown."""
    OTHERWISE = "otherwise"
    """It is called so, and some of what is asked for is known to be otherwise."""
    UNNAMED = "unnamed"
    """The instruction does not say what it is called."""


def described(instruction: Instruction, unit: Unit, values: Mapping[str, Collection[str]]) -> Described:
    """Return how a unit compares with an instruction.

    Args:
        instruction: that is asked.
        unit: of the memory.
        values: attributes of which some unit of the memory has a value that is asked for, with these values.
    """
    asked, name = frozenset(words(instruction.meaning)), words(unit.name)
    if not name or name[-1] not in asked:
        return Described.UNNAMED
    told = {*_states(instruction, unit), *_attributes(instruction, unit, values, asked.difference(name))}
    return Described.OTHERWISE if False in told else Described.UNTOLD if None in told else Described.SO


def _states(instruction: Instruction, unit: Unit) -> Iterator[bool | None]:
    likely, excluded = instruction.likely_states, instruction.not_states
    if likely or excluded:
        yield (
            None
            if unit.state is ObjectState.NONE
            else unit.state not in excluded and (not likely or unit.state in likely)
        )


def _attributes(
    instruction: Instruction, unit: Unit, values: Mapping[str, Collection[str]], asked: frozenset[str]
) -> Iterator[bool | None]:
    """Yield for each attribute that is asked for whether the unit has it, or None where that is unknown."""
    has = {name: frozenset(words(value)) for name, value in unit.attributes.items()}
    # The desk of a desk lamp is no place.
    meant = {name: {each for each in wanted if asked.issuperset(words(each))} for name, wanted in values.items()}
    for name, wanted in meant.items():
        if wanted:
            yield unit.attributes[name] in wanted if has.get(name) else None
    colour = has.get(_COLOUR)
    if not meant.get(_COLOUR) and asked & _COLOURS:
        yield bool(colour & asked) if colour else None
    for excluded in instruction.not_meant:
        if _COLOURS.intersection(words(excluded)):
            yield colour.isdisjoint(words(excluded)) if colour else None
    if not meant.get(_PLACE):
        for place in instruction.places:
            if asked.intersection(words(place)):
                yield _is_there(unit, place)
    if not instruction.states and not instruction.not_states:
        known = frozenset(words(unit.name)).union(*has.values(), _COLOURS)
        if any(word not in known for word in _before(instruction.meaning, words(unit.name)[-1])):
            yield None


def _is_there(unit: Unit, place: str) -> bool | None:
    """Return whether the unit is at that place; None where that is unknown.

    A mug "on the table" may be "in the kitchen".
    """
    told = unit.attributes.get(_PLACE, "").lower()
    if not {*words(told), *words(unit.area)}.isdisjoint(words(place)):
        return True
    return False if told.split()[:1] == place.split()[:1] else None


def _before(meaning: str, name: str) -> tuple[str, ...]:
    """Return what stands between an article and a name: "favorite" of "my favorite mug"."""
    said = re.findall(r"[a-z0-9]+", meaning)
    for at in [at for at, word in enumerate(said) if stem(word) == name]:
        for first in range(at - 1, max(at - 1 - _MOST_BEFORE, 0) - 1, -1):
            if _ARTICLE.fullmatch(said[first]):
                return words(" ".join(each for each in said[first + 1 : at] if not _SAYS_NOTHING.fullmatch(each)))
    return ()
