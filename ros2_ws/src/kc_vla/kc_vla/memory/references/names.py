"""What plans call things: whether two names can be meant for one thing, and the words that tell one from another."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kc_vla.memory.references.spatial_phrases import IT, relation_of, without_relation

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
"""What tells the second of two things of one name."""
FURTHER: Mapping[str, int] = {
    **{word: at for at, word in enumerate(ORDINALS) if at},
    **dict.fromkeys(("another", "other", "different", "next"), 1),
}
"""Words before a name, and how many others of that name are not meant."""
NEXT_TO = " next to "
"""Part of the name of a place that its neighbor identifies: "counter next to sink"."""
BESIDE = frozenset({"place", "counter"})
"""What such a place is called where nobody says what it is to be on."""
_ARTICLES = re.compile(r"^(?:(?:the|a|an|my|your|some)\s+)+")
_ID = re.compile(r"(\w+?)_[0-9]+")


def plain(name: str) -> str:
    """Return a name for comparing: "the red Mug" and "red mug" are one; an id stays as it is."""
    text = " ".join(name.split())
    return text if _ID.fullmatch(text) else _ARTICLES.sub("", text.lower().replace("_", " "))


def same(one: str, other: str) -> bool:
    """Return whether two names can be meant for one thing.

    "mug" and "the red mug" can, "lamp" and "DeskLamp_2", and a pronoun with everything; "second mug" and "mug" cannot,
    nor can "another mug" and "mug". "mug left of lamp" can be the mug, but no mug that something else identifies.
    """
    if relation_of(one) is not None and relation_of(other) is not None:
        return plain(one) == plain(other)
    if _ID.fullmatch(one) and _ID.fullmatch(other):
        return one == other
    one, other = without_relation(one), without_relation(other)
    first, second = _words(one), _words(other)
    if not first or not second or first[0] in IT or second[0] in IT:
        return True
    if {first[0], second[0]} & {ORDINALS[0], *FURTHER} and first[0] != second[0] and not _ID.fullmatch(other):
        return False
    return first == second or (first[-1] == second[-1] and (set(first) < set(second) or set(second) < set(first)))


def is_id(name: str) -> bool:
    """Return whether it looks like an id of a memory: "Mug_2"."""
    return _ID.fullmatch(name) is not None


def _words(name: str) -> list[str]:
    of_type = _ID.fullmatch(" ".join(name.split()))
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", of_type[1]).lower().split() if of_type else plain(name).split()
