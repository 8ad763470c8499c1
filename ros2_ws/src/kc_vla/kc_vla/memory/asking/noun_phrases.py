"""The name of a thing in a question: which one of several is meant, and what was done with it, apart from the name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kc_vla.memory.asking.actions import VERB, action_and_thing, action_of
from kc_vla.memory.asking.predicates import Predicate, place_of, predicate_of
from kc_vla.memory.asking.question import HANDLED, Order, PlacePhrase, QuestionError
from kc_vla.memory.recall.words import COLOURS

_ANYTHING = re.compile(
    r"^(?:(?:the|a|an|any|some|all|every|each|of|other|else)\b ?)*"
    r"(?:(?:any|some|every|no)?things?|things?|items?|objects?|stuff|everything|what|ones?|something else"
    r"|anything else)?(?: else)?$"
)
_NEAREST = re.compile(r"\b(?:nearest|closest)\b")
_FARTHEST = re.compile(r"\b(?:farthest|furthest|most distant)\b")
_CLAUSE = re.compile(
    r"^(?P<n>.*?)(?:,? (?:that|which))? (?P<w>i|you|we|have been|has been|was|were|is|are|had been)(?: have|"
    r" had| did)?(?: (?P<l>last))? (?P<r>.+?)(?P<e> last)?$"
)
_NEXT_TO_ONE = re.compile(r"^(?:to|from|of) (?P<n>.+)$")
_ME = frozenset({"me", "you", "us", "here", "the robot", "my position", "your position", "where you are", "where i am"})
_PRONOUNS = frozenset({"it", "them", "they", "he", "she", "him", "her", "this", "that", "these", "those", "one"})

_PEOPLE = re.compile(r"^(?:any|some|every|no) ?(?:one|body)\b(?! of)|^(?:people|persons?|children|guests?)$")
_TWO = re.compile(rf"(?<!salt) (?:and|or) (?!(?:{'|'.join(sorted(COLOURS))}|\w+(?:ed|y)\b))\w")
"""Two things; "red and white" and "clean and empty" are said of one."""


@dataclass(frozen=True)
class NounPhrase:
    """What a question calls a thing.

    Attributes:
        thing: its name; empty for anything.
        order: which of several.
        place: where it is; of an order by distance, from what.
        action: what was done with it.
        states, not_states: that it is in, and out of.
    """

    thing: str = ""
    order: Order = Order.ANY
    place: PlacePhrase | None = None
    action: str = ""
    states: frozenset[str] = frozenset()
    not_states: frozenset[str] = frozenset()


def is_anything(text: str) -> bool:
    """Return whether a name is none: "things", "anything else"."""
    return _ANYTHING.match(text) is not None


def one_thing(name: str) -> str:
    """Return a name, if it is of one thing.

    Raises:
        QuestionError: it is of several.
    """
    if _PEOPLE.match(name):
        raise QuestionError("I do not know: I remember things, and no people")
    if _TWO.search(name) and " between " not in f" {name}":
        raise QuestionError(f"{name[:60]!r} asks for several things: ask for one at a time")
    return name


def rephrased(name: str) -> str:
    """Return a name in plain order: "the white one of the mugs" and "mug, the white one" are the white mug."""
    name = re.sub(r"^(?:the )?(\w+) ones? (?:of|among) (?:the |my |our |these )?(.+)$", r"the \1 \2", name)
    return re.sub(r"^(?:the |my |our )?([\w ]+?), (?:the )?(\w+) ones?$", r"the \2 \1", name)


def phrase_of(text: str) -> NounPhrase:
    """Return what a name says.

    Raises:
        QuestionError: it is a pronoun, whose meaning nobody knows.
    """
    text = rephrased(one_thing(text))
    text = re.sub(r"^((?:of )?(?:the |my |our )?)(?:two|three|four|five|six|\d+) (?=\w)", r"\1", text)
    text = re.sub(
        r"^(?:of|all of|any of|one of|some of|each of|none of) (?=the|my|your|our|these|those|them)",
        "",
        text.strip(" ,"),
    )
    text = re.sub(r"^(?:all|both|every|each) (?:the |my |our |your )?(?=\w)", "", text)
    text = re.sub(r"^(?:the )?(?:door|lid|doors) of ", "", text)
    text = re.sub(
        r"\b(fridge|refrigerator|microwave|oven|cabinet|cupboard|safe|closet|wardrobe|drawer) doors?$", r"\1", text
    )
    if text in _PRONOUNS:
        raise QuestionError(f"nobody said what {text!r} is: name the thing")
    if is_anything(text):
        return NounPhrase()
    order, text = _ordered(text)
    if order in (Order.NEAREST, Order.FARTHEST):
        name, place = _from(text)
        return NounPhrase("" if is_anything(name) else name, order, place)
    if (clause := _CLAUSE.match(text)) is not None and (found := _with_clause(clause, order)) is not None:
        return found
    return NounPhrase("" if is_anything(text) else text, order)


def _ordered(text: str) -> tuple[Order, str]:
    for order, pattern in ((Order.NEAREST, _NEAREST), (Order.FARTHEST, _FARTHEST)):
        if pattern.search(text):
            return order, " ".join(pattern.sub("", text).split())
    if (last := re.match(r"^(?:the |my |your )?(last|first)(?: (?=\w)|$)(.*)$", text)) is not None:
        return Order.LAST if last[1] == "last" else Order.FIRST, last[2] or "thing"
    return Order.ANY, text


def _from(text: str) -> tuple[str, PlacePhrase | None]:
    """Return a name, and from what the distance counts."""
    for joint in (" to ", " from "):
        name, found, other = text.rpartition(joint)
        if found:
            return name.strip(), None if other in _ME else PlacePhrase("next to", other)
    name, found, other = text.partition(" in ")
    return (name, PlacePhrase("in", other)) if found else (text, None)


def _with_clause(clause: re.Match[str], order: Order) -> NounPhrase | None:
    """Return a name with what is said of it in a clause: "the thing you used last"; None where that is not clear."""
    name = re.sub(r",? (?:that|which)$", "", clause["n"])
    if clause["l"] or clause["e"]:
        order = Order.LAST
    thing = "" if is_anything(name) else name
    if clause["w"] in ("i", "you", "we"):
        action, rest = action_and_thing(clause["r"])
        if not action:
            return None
        place = place_of(rest) if rest else None
        if rest and place is None:
            return None
        return NounPhrase(thing, order, place, action)
    found: Predicate | None = predicate_of(clause["r"])
    if found is None or found.negated or found.anywhere:
        return None
    return NounPhrase(thing, order, found.place, found.action, found.states, found.not_states)


def done(verb_phrase: str) -> tuple[str, str, PlacePhrase | None, bool]:
    """Return action, thing, place and whether the last one is meant, of "put the mug on the table last".

    The action is empty where the verb is unknown.
    """
    text = verb_phrase.strip()
    last = bool(re.search(r"(?:^| )last$", text)) or text.startswith("last ")
    text = re.sub(r"^last | last$", "", text)
    if text in ("do", "do with", "doing", "done"):
        return HANDLED, "", None, last
    action, thing = action_and_thing(text)
    if not action:
        return "", "", None, last
    thing = re.sub(r" (?:down|away|back|somewhere|anywhere|elsewhere|yet|before|today)$", "", thing)
    words, place = thing.split(), None
    for at in range(len(words)):
        if (place := place_of(" ".join(words[at:]))) is not None:
            thing = " ".join(words[:at])
            break
    return action, thing, place, last


__all__ = ["VERB", "NounPhrase", "action_of", "done", "is_anything", "phrase_of"]
