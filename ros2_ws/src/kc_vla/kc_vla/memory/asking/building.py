"""Questions put together from the parts of a text that a pattern has found."""

from __future__ import annotations

import re
from typing import Any

from kc_vla.memory.asking.noun_phrases import NounPhrase, is_anything, one_thing, phrase_of, rephrased
from kc_vla.memory.asking.predicates import PREPOSITION, Predicate, place_of, predicate_of
from kc_vla.memory.asking.question import STATES, MemoryQuestion, PlacePhrase, QuestionError, QuestionKind

_VAGUE = re.compile(
    r"^(?:any|some|no)?(?:thing|body|one)s?\b|^what(?:ever)?\b|^(?:stuff|items?|objects?|things?) (?:to|for"
    r"|that|i|we|you)\b"
)
_WANTED = re.compile(r"\b(?:to|for|can|could|may|might)\b")
_TAIL = re.compile(
    r" (?:left|around|anywhere|available|here|at all|somewhere|or not|at home|too|in here|to be found|ever|existing"
    r"|(?:in|around) (?:the|this|our|my) (?:whole |entire )?(?:house|home|flat|apartment|place))$"
)
_PLACE_AT = re.compile(rf" (?=(?:that is |which is |lying |standing )?(?:{PREPOSITION}) |upstairs$|downstairs$)")


def ask(asked: QuestionKind, name: str | NounPhrase, **more: Any) -> MemoryQuestion:
    """Return a question about a thing, with what its name says beside what else is said.

    Raises:
        QuestionError: two things are asked for at once, or it says nothing.
    """
    phrase = name if isinstance(name, NounPhrase) else phrase_of(name)
    given: dict[str, Any] = {
        "thing": phrase.thing,
        "order": phrase.order,
        "place": phrase.place,
        "action": phrase.action,
        "states": phrase.states,
        "not_states": phrase.not_states,
    }
    for field, value in more.items():
        if field in ("states", "not_states"):
            given[field] = given[field] | value
        elif value or field not in given:
            given[field] = value
    return MemoryQuestion("", asked, **given)


def described(asked: QuestionKind, name: str, said: Predicate, past: bool = False, **more: Any) -> MemoryQuestion:
    """Return a question for things of which something is said: it narrows down what is meant.

    Args:
        asked: what for.
        name: of the thing.
        said: of it.
        past: it was brought into the state.
        more: fields of the question.
    """
    states, not_states = (said.states, said.not_states) if not said.negated else (frozenset[str](), said.states)
    if past and len(states) == 1 and not said.place:
        return ask(asked, name, action=min(states), colour=said.colour, **more)
    if said.negated and (said.place or said.colour or said.action):
        raise QuestionError("ask where things are, rather than where they are not")
    fields: dict[str, Any] = {"place": said.place, "colour": said.colour, "action": said.action}
    return ask(asked, name, states=states, not_states=not_states, **(fields | more))


def existing(name: str, asked: QuestionKind = QuestionKind.IS_THERE, **more: Any) -> MemoryQuestion:
    """Return whether there is something, or where it is: "a dirty mug in the kitchen", "anything sharp"."""
    name = rephrased(re.sub(r"^(?:an?|any|some|no|more|one|at least one|one or more) (?=\w)", "", name.strip()))
    while (shorter := _TAIL.sub("", name)) != name:
        name = shorter
    one_thing(name)
    if _VAGUE.match(name):
        return _vague(name, asked, more)
    if re.search(r" (?:you|i|we) ", name):
        return ask(asked, name, **more)
    clause = re.match(r"^(?P<n>.+?),? (?:that|which) (?:is|are|was|were|has been|have been) (?P<p>.+)$", name)
    if clause is not None and (said := predicate_of(clause["p"])) is not None:
        return described(asked, clause["n"], said, **more)
    due = re.match(r"^(?P<n>.+?),? (?:that|which) (?P<p>(?:needs?|must|should|ought to|has to|have to) .+)$", name)
    if due is not None and (said := predicate_of(due["p"])) is not None:
        return described(asked, due["n"], said, **more)
    head, place = with_place(name)
    words = head.split()
    for at in range(max(1, len(words) - 3), len(words)):  # "are there mugs dirty"
        said = predicate_of(" ".join(words[at:]))
        if said is not None and (said.states or said.not_states or said.colour):
            return described(asked, " ".join(words[:at]), said, **({"place": place} | more))
    return ask(asked, head, **({"place": place} | more))


def _vague(name: str, asked: QuestionKind, more: dict[str, Any]) -> MemoryQuestion:
    apart = re.match(
        rf"^(?P<a>\w+) (?P<pl>(?:{PREPOSITION}) .+?) (?P<r>(?:that|which|to|i can|we can|you can|i could) .+)$", name
    )
    if apart is not None and (place := place_of(apart["pl"])) is not None:
        return _vague(f"{apart['a']} {apart['r']}", asked, {"place": place} | more)
    place = place_of(re.sub(r"^\w+ (?:else |left |still |that is |which is |lying |there )*", "", name))
    if place is not None and is_anything(name.split()[0]):
        return ask(asked, NounPhrase(), **({"place": place} | more))
    if _WANTED.search(name):
        return ask(asked, NounPhrase(thing=name), **more)
    head, place = with_place(name)
    rest = re.sub(r"^\w+ (?:else )?(?:that is |which is )?", "", head)
    said = predicate_of(rest) if rest != head else None
    if said is not None and (said.states or said.not_states or said.colour):
        return described(asked, "thing", said, **({"place": place} | more))
    return ask(asked, NounPhrase(thing=head), **({"place": place} | more))


def with_place(name: str) -> tuple[str, PlacePhrase | None]:
    """Return a name and the place behind it; None where it names none."""
    for found in _PLACE_AT.finditer(name):
        place = place_of(re.sub(r"^(?:that is|which is|lying|standing) ", "", name[found.end() :]))
        if place is not None and found.start():
            return name[: found.start()], place
    return name, None


def contents(
    place: PlacePhrase | None, asked: QuestionKind = QuestionKind.WHICH, name: str = "", **more: Any
) -> MemoryQuestion | None:
    """Return what is in a place; None where it is none."""
    if place is None:
        return None
    if re.fullmatch(r"there|here|it|them|that|this", place.name):
        raise QuestionError(f"nobody said what {place.name!r} is: name the place")
    return ask(asked, NounPhrase() if not name or is_anything(name) else name, place=place, **more)


def is_state(action: str) -> bool:
    """Return whether an action brings things into a state."""
    return action in STATES
