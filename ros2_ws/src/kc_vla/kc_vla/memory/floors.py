"""Words for floors: "upstairs", "the second floor", "downstairs", and the floors of a map that they mean.

Floors are counted as in American English: the first floor is the ground floor, whose ground is nearest to z = 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import Area, Floor
from kc_vla.memory.short_term.unit import spoken

UP, DOWN = "upstairs", "downstairs"
_COUNTED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ENDINGS = ("st", "nd", "rd", *["th"] * 7)
_NUMBERS = {f"{at}{end}": word for at, (word, end) in enumerate(zip(_COUNTED, _ENDINGS, strict=True), 1)}
_GROUND = frozenset({"ground", "first"})
_ENDS = {"top": -1, "upper": -1, "bottom": 0, "lower": 0}
_WHICH = "|".join((*_GROUND, *_COUNTED, *_NUMBERS, *_ENDS))
_NOUNS = "(?:floor|story|storey|level)"
_STOREY = rf"(?:{_WHICH})[ -]{_NOUNS}"
_HERE = re.compile(rf"(?:this|that|same) {_NOUNS}")
_SAID = re.compile(
    rf"(?:^|[\s,]+)(?:(?P<is>(?:that|which)\s+(?:is|are)\s+))?(?:(?P<by>on|of|from|at|to|in)\s+)?"
    rf"(?:(?:the\s+)?(?P<storey>{_STOREY})|(?P<way>{UP}|{DOWN}))(?=[\s,.!?;:]|$)",
    re.IGNORECASE,
)


class OnFloor(NamedTuple):
    """A text, and the floor that it names.

    Attributes:
        rest: the text without the words for the floor.
        floor: these words alone: "upstairs", "second floor"; empty where it names none.
    """

    rest: str
    floor: str


def without_floor(text: str) -> OnFloor:
    """Take the first words for a floor out of a text: "the mug on the second floor" is "the mug", "second floor"."""
    found = _SAID.search(text)
    if found is None:
        return OnFloor(text, "")
    said = (found["storey"] or found["way"]).lower().replace("-", " ")
    which, _, storey = said.partition(" ")
    floor = f"{_NUMBERS.get(which, which)} floor" if storey else which
    return OnFloor(" ".join(f"{text[: found.start()]} {text[found.end() :]}".split()), floor)


def with_floor_as_one_word(text: str) -> str:
    """Return a text in which "on the second floor" is the one word "second-floor".

    "to" and "from" stay before it, and "from" stands for "that is on".
    """
    return _SAID.sub(lambda found: f" {_one_word(found)}", text)


def is_floor_word(word: str) -> bool:
    """Return whether a word is one that `with_floor_as_one_word` leaves: "upstairs", "second-floor"."""
    return word in (UP, DOWN) or re.fullmatch(_STOREY, word) is not None


def floors_of(areas: Iterable[Area]) -> tuple[Floor, ...]:
    """Return the floors on which areas are, the lowest first; a floor is as high as its lowest area."""
    heights: dict[str, float] = {}
    for area in areas:
        heights[area.floor] = min(area.position[2], heights.get(area.floor, math.inf))
    return tuple(sorted((Floor(name, height) for name, height in heights.items()), key=_order))


def floor_words(floors: Sequence[Floor]) -> dict[str, str]:
    """Return what people call each floor, by its id: "second floor"; what is below the ground by its own name."""
    ordered = sorted(floors, key=_order)
    ground = min(range(len(ordered)), key=lambda at: abs(ordered[at].height_m), default=0)
    counted = {each.id: f"{word} floor" for each, word in zip(ordered[ground:], _COUNTED, strict=False)}
    return {each.id: counted.get(each.id, each.name or each.id) for each in ordered}


def floors_called(name: str, floors: Sequence[Floor], here: str = "") -> tuple[str, ...]:
    """Return the ids of the floors that a name means, the lowest first; none where it is no name of a floor.

    Upstairs are the floors above, downstairs those below. On the top floor upstairs is where one is; the same holds
    for downstairs on the lowest one.

    Args:
        name: an id or name of a floor, or words such as "upstairs", "second floor" or "this floor".
        floors: of the map.
        here: id of the floor from which one speaks; empty: the ground floor.

    Raises:
        GraphError: the words are for a floor, and the map has none such.
    """
    ordered = sorted(floors, key=_order)
    ids = [each.id for each in ordered]
    wanted = spoken(name).lower().removeprefix("the ")
    named = [each.id for each in ordered if name == each.id or wanted in _names(each)]
    if named:
        return tuple(named)
    if _HERE.fullmatch(wanted) and here in ids:
        return (here,)
    words = without_floor(wanted)
    if words.rest or not words.floor:
        return ()
    ground = min(range(len(ids)), key=lambda at: abs(ordered[at].height_m), default=0)
    at = ids.index(here) if here in ids else ground
    which = words.floor.removesuffix(" floor")
    if which in (UP, DOWN, *_ENDS) and len(ids) < 2:
        raise GraphError(f"there is no floor {told(words.floor)}: the map has only one")
    if which == UP:
        return tuple(ids[at + 1 :] or ids[-1:])
    if which == DOWN:
        return tuple(ids[:at] or ids[:1])
    if which in _ENDS:
        return (ids[_ENDS[which]],)
    wanted_at = ground + (0 if which in _GROUND else _COUNTED.index(which))
    if wanted_at >= len(ids):
        raise GraphError(f"there is no {words.floor}: the map has {', '.join(map(_told, ordered)) or 'no floors'}")
    return (ids[wanted_at],)


def _order(floor: Floor) -> tuple[float, str]:
    return floor.height_m, floor.id


def _names(floor: Floor) -> set[str]:
    called = {spoken(each).lower() for each in (floor.id, floor.name) if each}
    return called | {f"{each} floor" for each in called}


def _told(floor: Floor) -> str:
    return told(floor.name or floor.id)


def _one_word(found: re.Match[str]) -> str:
    by = "from" if found["is"] else (found["by"] or "").lower()
    word = (found["storey"] or found["way"]).lower().replace(" ", "-")
    return f"{by} {word}" if by in ("from", "to") else word
