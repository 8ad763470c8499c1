"""What is said of a thing behind its name: a state, a color, a place, or what was done with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kc_vla.memory.asking.actions import action_of
from kc_vla.memory.asking.question import CARRIED, HANDLED, PUT, SEEN, PlacePhrase
from kc_vla.memory.recall.instruction import understand
from kc_vla.memory.recall.words import COLOURS

_PREPOSITIONS = (
    ("left of", r"(?:(?:to|on|at) )?(?:the )?left(?: hand)?(?: side)? (?:of|from)"),
    ("right of", r"(?:(?:to|on|at) )?(?:the )?right(?: hand)?(?: side)? (?:of|from)"),
    ("in front of", r"in front of|before"),
    ("behind", r"behind|in back of|at the back of"),
    ("next to", r"next to|besides?|by|near(?: to|by)?|close to|adjacent to|alongside(?: of)?|around"),
    ("between", r"(?:in )?between"),
    ("under", r"under(?:neath)?|below|beneath"),
    ("above", r"above|over"),
    ("on", r"on top of|on|upon|onto|atop|at"),
    ("in", r"inside of|inside|in|within|into|from"),
)
PREPOSITION = "|".join(pattern for _, pattern in _PREPOSITIONS)
"""Pattern of any preposition of a place."""
_PLACE = re.compile(rf"^(?P<p>{PREPOSITION}) (?P<n>.+)$")
STOREY = re.compile(
    r"^(?:upstairs|downstairs|(?:on|in|at) (?:the |this )?(?:(?:\w+ )?(?:floor|storey|story|level)|attic"
    r"|basement|cellar))$"
)
ON_FLOOR = re.compile(r"^(?:lying )?on the (?:floor|ground)$")
_HERE = re.compile(
    r"^(?:(?:any|some)where(?: (?:around|here|at home|in the house))?|(?:lying |standing )?around(?: here)?"
    r"|about|available|here|left|at home|in existence|in stock|missing"
    r"|(?:in|around|inside) (?:the |this |our |my )?(?:house|home|flat|apartment|place|building))$"
)
_VERBATIM = re.compile(
    r"^(?:(?:been|being|be|to be|get|got|turned|switched|located|lying|standing|sitting|placed|kept|stored"
    r"|found|situated"
    r"|put|left|resting|hidden|lies|stands|sits|lie|stand|sit|very|all|both|completely|fully|half|totally) )+"
    r"(?=(?:\S))"
)
_BY = re.compile(r" by (?:you|me|us|the robot|yourself|anyone|anybody|someone|somebody)$")
_STATE_VERBS = re.compile(r"^(?:needs?|must|should|ought to|has to|have to) (?:to )?(?:be |get )?(\w+)$")
_OF_SEVERAL = re.compile(
    r"^(?:not \w+|(?:used|heated|warmed|filled|cut) up|(?:wide|half) open|in (?:pieces|slices|operation)|full of \w+"
    r"|(?:switched|turned) (?:on|off)|all gone|run out)$"
)
"""States that are said by more than one word."""
COLD_WORDS = frozenset({"cold", "cool", "cooled", "chilled", "refrigerated"})
_BEFORE = {"cleaned": "dirty", "opened": "closed", "closed": "opened"}
_WHEN = re.compile(r" (?:last|before|earlier|today|now|ago|since|at all|too|as well|anymore|any more|any longer)$")


@dataclass(frozen=True)
class Predicate:
    """What is said of a thing.

    Attributes:
        states: that it is in.
        not_states: that it is out of.
        colour: that it has.
        place: where it is.
        action: what was done with it.
        anywhere: it merely is.
        negated: it is not so.
    """

    states: frozenset[str] = frozenset()
    not_states: frozenset[str] = frozenset()
    colour: str = ""
    place: PlacePhrase | None = None
    action: str = ""
    anywhere: bool = False
    negated: bool = False


def states_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the states that a description names, and those that it says are not there: "not washed"."""
    understood = understand(f"is {text}")
    states = {state.value for state in understood.states}
    states |= {"cold"} if COLD_WORDS & set(text.split()) else set()
    return frozenset(states), frozenset(state.value for state in understood.not_states)


def place_of(text: str) -> PlacePhrase | None:
    """Return the place that a text names: "on the table", "upstairs"; None where it is none."""
    if STOREY.match(text) and not ON_FLOOR.match(text):
        return PlacePhrase("", re.sub(r"^(?:on|in|at) ", "", text))
    if (found := _PLACE.match(text)) is None:
        return None
    preposition = next(name for name, pattern in _PREPOSITIONS if re.fullmatch(pattern, found["p"]))
    return PlacePhrase(preposition, found["n"])


def predicate_of(text: str) -> Predicate | None:
    """Return what a text says of a thing; None where it says nothing that is remembered."""
    text = _BY.sub("", text.strip(" ,"))
    while (shorter := _WHEN.sub("", text)) != text:
        text = shorter
    if text.startswith("not "):
        inner = predicate_of(text[4:])
        return None if inner is None else _turned(inner)
    if _HERE.match(text):
        return Predicate(anywhere=True)
    bare = _VERBATIM.sub("", text)
    for each in dict.fromkeys((text, bare)):
        if (place := place_of(each)) is not None:
            return Predicate(place=place)
        if each in COLOURS:
            return Predicate(colour=each)
    if _STATE_VERBS.match(text) is not None:
        return _due(text)
    if (action := action_of(bare)) and action in (SEEN, HANDLED, CARRIED, PUT):
        return Predicate(action=action)
    return _stated(text, bare)


def _due(text: str) -> Predicate | None:
    """Return that something is still as it was before what is to be done: what needs washing is dirty."""
    states, not_states = states_of(f"that {text}")
    lacking = frozenset(_BEFORE[each] for each in not_states if each in _BEFORE)
    return Predicate(states | lacking, not_states - set(_BEFORE)) if states or not_states else None


def _stated(text: str, bare: str) -> Predicate | None:
    if not all(_says_state(word) for word in re.split(r",? (?:and|or|nor) |, ", bare)):
        return None
    states, not_states = states_of(text)
    if not states and not not_states:
        states, not_states = states_of(bare)
    return Predicate(states, not_states) if states or not_states else None


def _says_state(piece: str) -> bool:
    if piece in COLD_WORDS:
        return True
    understood = understand(f"is {piece}")
    whole = " " not in piece or _OF_SEVERAL.match(piece) is not None
    return whole and bool(understood.states or understood.not_states)


def _turned(inner: Predicate) -> Predicate:
    return Predicate(
        inner.states, inner.not_states, inner.colour, inner.place, inner.action, inner.anywhere, not inner.negated
    )


def split(text: str) -> tuple[str, Predicate] | None:
    """Return a name and what is said of it: "the mug" of "the mug on the table"; None where nothing is.

    A state at the end counts first: "the knife on the table clean" says of a knife on the table that it is clean.
    """
    words = text.split()
    for at in range(max(1, len(words) - 5), len(words)):
        name, rest = " ".join(words[:at]), " ".join(words[at:])
        found = predicate_of(rest)
        if found is not None and found.place is None and not name.endswith((" not", " or", " and")):
            return name, found
    for at in range(1, len(words) - 2):  # "the light on in the kitchen"
        for behind in range(at + 1, len(words) - 1):
            said, place = " ".join(words[at:behind]), " ".join(words[behind:])
            found = predicate_of(said) if behind - at < 4 and place_of(place) is not None else None
            if found is not None and (found.states or found.not_states):
                return f"{' '.join(words[:at])} {place}", found
    for at in range(1, len(words)):
        name, rest = " ".join(words[:at]), " ".join(words[at:])
        found = predicate_of(rest)
        if found is not None and found.place is not None:
            return name, found
    return None
