"""How instructions say what is meant; which words are used is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla_sim.kitchen.sequences.targets import PutTarget

_PUT = (
    "put {thing} {prep} the {target}",
    "place {thing} {prep} the {target}",
    "set {thing} {prep} the {target}",
    "move {thing} to the {target}",
    "take {thing} and put it {prep} the {target}",
)
_PUT_DESCRIBED = _PUT[:4]
"""These fit a thing that has no name, such as "what you put in the drawer"."""
_THEN = (", then ", ", and then ", ", after that ", ". Then ")
_BOTH = ("put {thing} and {other} {prep} the {target}", "place {thing} and {other} {prep} the {target}")
_BEFORE = ("what you put in the {target}", "the thing that you put in the {target}", "what you left in the {target}")


@dataclass(frozen=True)
class VagueName:
    """Words that name a thing by what it is for, or by its kind.

    Attributes:
        said: ways of saying it.
        types: of all things that serve.
    """

    said: tuple[str, ...]
    types: frozenset[str]


_FOOD = frozenset({"apple", "orange", "banana", "tomato", "egg", "bread", "cereal", "milk"})
VAGUE_NAMES = (
    VagueName(("something to drink from", "something I can drink from"), frozenset({"mug", "cup"})),
    VagueName(("something to cut with", "something I can cut with"), frozenset({"knife"})),
    VagueName(("something to clean with", "something I can clean with"), frozenset({"sponge"})),
    VagueName(("something to eat", "something I can eat"), _FOOD),
    VagueName(("some fruit", "a fruit"), frozenset({"apple", "orange", "banana", "tomato"})),
    VagueName(("a piece of cutlery",), frozenset({"spoon", "knife"})),
)


class InstructionWords:
    """Says what is to be done."""

    def __init__(self, chance: np.random.Generator) -> None:
        """Keep what decides.

        Args:
            chance: that draws the words.
        """
        self._chance = chance

    def put(self, thing: str, target: PutTarget, named: bool = True) -> str:
        """Return words for putting a thing somewhere.

        Args:
            thing: as it is named, with its article.
            target: where it goes.
            named: it is named by its type.
        """
        return self._said(_PUT if named else _PUT_DESCRIBED, target, thing=thing)

    def put_both(self, thing: str, other: str, target: PutTarget) -> str:
        """Return words for putting two things to the same place."""
        return self._said(_BOTH, target, thing=thing, other=other)

    def joined(self, first: str, second: str) -> str:
        """Return two instructions as one."""
        then = self._one(_THEN)
        return f"{first}{then}{second}"

    def left_before(self, target: PutTarget) -> str:
        """Return words for what the robot itself put somewhere."""
        return self._one(_BEFORE).format(target=target.said)

    def vague(self, name: VagueName) -> str:
        """Return one of the ways of saying a vague name."""
        return self._one(name.said)

    def _said(self, ways: Sequence[str], target: PutTarget, **words: str) -> str:
        return self._one(ways).format(prep=self._one(target.prepositions), target=target.said, **words)

    def _one(self, ways: Sequence[str]) -> str:
        return ways[int(self._chance.integers(len(ways)))]
