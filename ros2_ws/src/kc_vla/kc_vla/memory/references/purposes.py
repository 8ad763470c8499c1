"""What people want things for, and which things serve: "something to drink" is no tomato, however cold it is.

By WordNet's kinds of a type, and by states: a mug is something to drink where something is in it. Of a purpose that is
not in the table nobody knows which things serve: nothing is taken for it, because a person would call a guess wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from kc_vla.memory.recall.knowledge import senses
from kc_vla.memory.short_term.unit import spoken

_SENSES, _STEPS = 1, 8
_FULL = frozenset({"filled"})


@dataclass(frozen=True)
class Purpose:
    """What something is wanted for.

    Attributes:
        kinds: WordNet's names of kinds that serve.
        words: ends of names of types that serve, whatever WordNet says.
        filled: ends of names of types that serve where they are filled.
    """

    kinds: frozenset[str]
    words: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()

    def served_by(self, object_type: str, states: frozenset[str]) -> bool:
        """Return whether a thing serves."""
        name, above = spoken(object_type), _kinds(object_type)
        if above & self.kinds or _ends(name, self.words):
            return True
        return _ends(name, self.filled) and bool(states & _FULL)

    def can_be_served_by(self, object_type: str) -> bool:
        """Return whether a thing of a type serves in some state."""
        return self.served_by(object_type, _FULL)


def _set(*names: str) -> frozenset[str]:
    return frozenset(names)


_DRUNK_FROM = ("cup", "mug", "glass", "glassbottle", "glass bottle", "water bottle", "wine bottle", "goblet")
_FOOD = _set("food", "foodstuff", "produce", "edible fruit", "vegetable", "baked goods", "solid food")
_PURPOSES: Mapping[str, Purpose] = {
    r"\bdrink (?:\w+ )?(?:from|out of|with)$": Purpose(_set("drinking vessel", "drinking glass"), _DRUNK_FROM),
    r"\b(?:drink|drinkable|beverage)$": Purpose(
        _set("beverage", "alcohol"), ("wine bottle", "beer", "milk", "juice", "soda"), _DRUNK_FROM
    ),
    r"\beat (?:\w+ )?with$": Purpose(_set("cutlery", "eating utensil"), ("fork", "spoon", "knife")),
    r"\beat (?:\w+ )?(?:from|off|on|out of)$": Purpose(_set(), ("plate", "bowl", "dish")),
    r"\b(?:eat|edible|snack|nibble)$": Purpose(_FOOD, ("apple", "bread", "egg", "lettuce", "potato", "tomato")),
    r"\b(?:cut|slice|chop) (?:\w+ )?with$": Purpose(_set("edge tool", "cutter"), ("knife", "scissors")),
    r"\b(?:write|draw) (?:\w+ )?with$": Purpose(_set("writing implement"), ("pen", "pencil", "crayon")),
    r"\bstir (?:(?:\w+ ){1,3})?with$": Purpose(_set(), ("spoon", "spatula", "ladle", "whisk", "fork")),
    r"\b(?:clean|wash|wipe|scrub|dust) (?:(?:\w+ ){1,3})?with$": Purpose(
        _set("cleaning implement", "cleansing agent"), ("sponge", "cloth", "towel", "soap", "soap bottle", "brush")
    ),
    r"\b(?:cook|fry) (?:(?:\w+ ){1,3})?(?:in|with)$": Purpose(_set(), ("pan", "pot", "wok")),
    r"\bboil (?:(?:\w+ ){1,3})?(?:in|with)$": Purpose(_set(), ("kettle", "pot", "pan")),
    r"\bsit (?:down )?on$": Purpose(_set("seat"), ("chair", "stool", "sofa", "armchair", "bench", "ottoman")),
    r"\bread$": Purpose(
        _set("publication", "print media", "periodical"), ("book", "newspaper", "magazine", "letter", "novel")
    ),
}
_WANTED = re.compile(r"^\w+ (?:\w+ )?(?:to|for|with which|(?:that|which) (?:\w+ )?(?:can|could|may)) \w+")
_TABLE = tuple((re.compile(pattern), purpose) for pattern, purpose in _PURPOSES.items())


def purpose_of(text: str) -> Purpose | None:
    """Return what a reference such as "something cold to drink" wants things for; None where that is not known."""
    plain = " ".join(text.lower().split()).rstrip(".")
    return next((purpose for pattern, purpose in _TABLE if pattern.search(plain)), None)


def unknown_purpose(text: str) -> bool:
    """Return whether a reference without a name wants things for a purpose of which nobody knows what serves."""
    return purpose_of(text) is None and _WANTED.search(text.lower()) is not None


def _ends(name: str, words: tuple[str, ...]) -> bool:
    return any(name == word or name.endswith(f" {word}") for word in words)


@lru_cache(maxsize=4096)
def _kinds(object_type: str) -> frozenset[str]:
    """Return all that a type is called, and that its kinds are called."""
    found: set[str] = set()
    new = [spoken(object_type)]
    for _ in range(_STEPS):
        above = [
            word
            for name in new
            for sense in senses(name)[:_SENSES]
            for word in (*sense.words.split(", "), *sense.kinds.split(", "))
            if word and word not in found
        ]
        if not above:
            break
        found.update(above)
        new = above[-2:]
    return frozenset(found)
