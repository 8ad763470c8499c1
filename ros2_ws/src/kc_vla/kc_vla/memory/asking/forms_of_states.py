"""The patterns of questions for states: in which state a thing is, which ones are in a state, and whether one is."""

from __future__ import annotations

import re

from kc_vla.memory.asking.actions import VERB, action_of
from kc_vla.memory.asking.building import ask, described, existing
from kc_vla.memory.asking.fragments import BE, WE
from kc_vla.memory.asking.noun_phrases import one_thing
from kc_vla.memory.asking.predicates import place_of, predicate_of, split
from kc_vla.memory.asking.question import COLOUR, HANDLED, MemoryQuestion, QuestionKind
from kc_vla.memory.recall.words import COLOURS

_OPPOSITES = ({"cleaned", "dirty"}, {"opened", "closed"}, {"on", "off"}, {"filled", "used up"}, {"heated", "cold"})
_EVERY = re.compile(r"^(?:all|every|each|both)(?: of)?\b")
_SOME_OF = re.compile(
    r"^(?:one|any|some|all|both|each|either) of (?=the|my|our|your|these|those)|^(?:an?|any|some) (?!of\b)"
)


def _condition(found: re.Match[str]) -> MemoryQuestion | None:
    return ask(QuestionKind.CONDITION, found["x"])


def _colour(found: re.Match[str]) -> MemoryQuestion | None:
    return ask(QuestionKind.CONDITION, found["x"], about=COLOUR)


def _happened(found: re.Match[str]) -> MemoryQuestion | None:
    return ask(QuestionKind.CONDITION, found["x"], action=HANDLED)


def _which(found: re.Match[str]) -> MemoryQuestion | None:
    rest = found["r"]
    for verb in re.finditer(
        r"(?:^| )(is|are|was|were|has|have|needs?|must|should|ought to|stands?|lies?|sits?) ", rest
    ):
        name, said = rest[: verb.start()], rest[verb.end() :]
        if verb[1].startswith(("need", "must", "should", "ought")) or said.startswith("to "):
            said = f"{verb[1]} {said}"
        predicate = predicate_of(re.sub(r"^the (\w+) ones?$", r"\1", said))
        if predicate is None and (parts := split(f"{name or 'things'} {said}")) is not None:
            name, predicate = parts
        if predicate is not None and not predicate.anywhere:
            name = re.sub(r"^(?:of (?=the|my|our|your|these|those|them)|one of |one )", "", name)
            name = re.sub(r"^the (?:two|three|four|five|\d+) ", "the ", name)
            return described(QuestionKind.WHICH, name or "thing", predicate, _past(verb[1], said))
    return None


def _is(found: re.Match[str]) -> MemoryQuestion | None:
    rest = found["r"]
    if " or " in rest:
        return _either(rest)
    parts = split(rest)
    if parts is None:
        return None
    name, said = parts
    if said.anywhere:
        return existing(name)
    one_thing(name)
    if re.match(r"(?:any|some|no|every)thing$", name):
        return existing(f"anything {rest[len(name) + 1 :]}", negated=name == "nothing")
    past = len(said.states) == 1 and _past(found["v"], rest)
    every = _EVERY.match(name) is not None and not past
    return ask(
        QuestionKind.IS,
        _SOME_OF.sub("", name),
        states=frozenset() if past else said.states,
        action=min(said.states) if past else said.action,
        not_states=said.not_states,
        colour=said.colour,
        place=said.place,
        negated=said.negated,
        every=every,
    )


def _either(rest: str) -> MemoryQuestion | None:
    """Return what is asked by "the mug clean or dirty", "the mug red or blue", "the mug in the sink or the fridge"."""
    first, _, other = rest.partition(" or ")
    parts = split(first)
    if parts is None:
        return None
    name, said = parts
    name = _SOME_OF.sub("", name)
    if said.place is not None:
        return existing(name, QuestionKind.WHERE)
    if said.colour and other.split()[-1] in COLOURS:
        return ask(QuestionKind.CONDITION, name, about=COLOUR)
    second = predicate_of(re.sub(r"^is (?:it |they )?", "", other))
    if second is not None and any({*said.states, *second.states} == each for each in _OPPOSITES):
        return ask(QuestionKind.CONDITION, name)
    return None


def _past(verb: str, said: str) -> bool:
    """Return whether a thing was brought into a state, rather than in it: "has been washed", not "was open"."""
    last = said.removesuffix(" last").removesuffix(" before").split()[-1]
    participle = last.endswith(("ed", "en", "cut", "shut")) and last not in ("open", "left")
    return (
        verb in ("was", "were", "has", "have", "had")
        and participle
        and "left" not in said.split()
        and "not" not in said
    )


def _needs(found: re.Match[str]) -> MemoryQuestion | None:
    said = predicate_of(found["p"])
    return None if said is None else ask(QuestionKind.IS, found["x"], states=said.states, not_states=said.not_states)


def _duty(found: re.Match[str]) -> MemoryQuestion | None:
    state = {"cleaned": "dirty", "opened": "closed", "closed": "opened"}.get(action_of(found["v"]), "")
    return ask(QuestionKind.IS, _SOME_OF.sub("", found["x"]), states=frozenset({state})) if state else None


def _stands(found: re.Match[str]) -> MemoryQuestion | None:
    place = place_of(found["pl"])
    return None if place is None else ask(QuestionKind.IS, _SOME_OF.sub("", found["x"]), place=place)


def _may(found: re.Match[str]) -> MemoryQuestion | None:
    said = predicate_of(found["p"])
    if said is None or found["r"] in ("i", "you", "we"):
        return None
    return ask(QuestionKind.IS, found["r"], states=said.states, place=said.place, colour=said.colour)


_STATE = r"(?:state|condition|shape|status)"
CONDITION_FORMS = (
    (rf"^(?:in )?(?:what|which) {_STATE} {BE} (?P<x>.+?)(?: in)?$", _condition),
    (rf"^(?:what is )?the (?:current )?{_STATE} of (?P<x>.+)$", _condition),
    (r"^(?:what|which) colour (?:is|are|was|were|does|do|has|have) (?P<x>.+?)(?: have)?$", _colour),
    (r"^(?:what is )?the colour of (?P<x>.+)$", _colour),
    (r"^(?:tell me|what do you (?:know|remember)|what can you tell(?: me)?|say something) about (?P<x>.+)$", _happened),
    (r"^describe (?P<x>.+)$", _happened),
    (r"^what (?:happened|has happened) (?:to|with) (?P<x>.+)$", _happened),
    (rf"^what (?:did|have) {WE} (?:do|done) (?:with|to) (?P<x>.+)$", _happened),
    (r"^how (?:is|are) (?P<x>.+)$", _condition),
)
STATE_FORMS = (
    (r"^(?:could|might|can|may|would) (?P<r>.+?) be (?P<p>.+)$", _may),
    (r"^(?:does|do) (?P<x>.+?) (?P<p>(?:need|have to|has to|ought to) .+)$", _needs),
    (r"^(?:does|do|did) (?P<x>.+?) (?:stand|lie|sit|hang|belong|rest|live) (?P<pl>.+)$", _stands),
    (
        r"^(?:which|what)(?: one| ones)?"
        r"(?P<r>(?: .+?)? (?:is|are|was|were|has|have|needs?|must|should|ought to|stands?|lies?|sits?) .+)$",
        _which,
    ),
)
IS_FORM = (r"^(?P<v>is|are|was|were|has|have) (?P<r>.+)$", _is)
DUTY_FORM = (rf"^(?:do|does|should|must) {WE} (?:(?:have to|need to|still) )+(?P<v>{VERB}) (?P<x>.+)$", _duty)
