"""Answers about what was done: whether, with what, and when. The memory knows what the robot did, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.meaning import MeantThings
from kc_vla.memory.asking.question import CARRIED, HANDLED, SEEN, STATES, Order, QuestionKind
from kc_vla.memory.asking.telling import ago, called, evidence_of, listed, place_in_words
from kc_vla.memory.asking.understood import Understood, sure_of
from kc_vla.memory.things import KnownThing

_AT_ONCE_S = 0.5
_NOT_DONE, _BY_STATE = 0.6, 0.7
"""Confidence that what is not remembered was not done; that a thing in the state was brought into it."""


def with_action(given: Understood) -> MeantThings:
    """Return the things that a question is about, those with which something was done, in the order of that.

    Raises:
        UnknownNameError: a place that it names is unknown.
    """
    question = given.question
    found = given.meant()
    if not question.action:
        if question.order is Order.LAST:
            return _latest(found, {each.object_id: each.seen_s for each in found.things})
        return found
    if question.asked is QuestionKind.WHERE and question.order is Order.ANY:
        handled = [each for each in found.things if each.handled]
        return found.only(handled) if handled else found
    when = {each.object_id: stamp for each in found.things if (stamp := done_s(given, each))}
    if when:
        kept = found.only([each for each in found.things if each.object_id in when])
        return _latest(kept, when) if question.order is Order.LAST else kept
    if question.action in STATES:
        return _by_state(given, found)
    return replace(found, sure=(), maybe=(), unstated=())


def _by_state(given: Understood, found: MeantThings) -> MeantThings:
    """Return what is in a state, where nobody remembers how it came into it."""
    in_state = replace(found.stated({given.question.action}), unstated=())
    certain = found.certainty * _BY_STATE
    note = f"I do not remember that I did it: they are {given.question.action} now"
    return replace(in_state, certainty=certain, notes=(*found.notes, note)) if in_state.things else in_state


def _latest(found: MeantThings, when: dict[str, float]) -> MeantThings:
    things = sorted(found.things, key=lambda each: -when[each.object_id])[:1]
    return replace(found, sure=tuple(things), maybe=(), certainty=found.trust)


def done_s(given: Understood, thing: KnownThing) -> float:
    """Return when what a question asks for was done with a thing, s; 0 where that is not remembered."""
    question = given.question
    if question.action == SEEN:
        return thing.seen_s
    if question.action in (HANDLED, CARRIED) and question.place is None:
        return thing.handled if thing.movable or question.action == HANDLED else 0.0
    if question.action in STATES:
        return thing.effects.get(question.action, 0.0)
    if question.place is None:
        return max((stamp for _, stamp in _left(thing)), default=0.0)
    holders = {each.object_id for each in given.finder.holders(question.place).things}
    return max((stamp for place, stamp in _left(thing) if place in holders), default=0.0)


def _left(thing: KnownThing) -> Iterator[tuple[str, float]]:
    """Yield each place where a thing was left, and when.

    A thing that changed its state at that moment was used where it stood.
    """
    states = [stamp for action, stamp in thing.effects.items() if action in STATES]
    for action, stamp in thing.effects.items():
        relation, _, holder = action.partition(" ")
        used = any(abs(stamp - other) < _AT_ONCE_S for other in states)
        if relation in ("on", "in") and holder and thing.movable and not used:
            yield holder, stamp


def answer_did(given: Understood) -> MemoryAnswer:
    """Return whether something was done with a thing.

    Raises:
        UnknownNameError: a place that it names is unknown.
    """
    question = given.question
    named = given.finder.named(question.thing)
    if not named.things:
        return given.none(named)
    when = {each.object_id: stamp for each in named.things if (stamp := done_s(given, each))}
    said = question.action if question.place is None else f"put {question.place.preposition} {question.place.name}"
    if question.every and len(when) < len(named.things):
        done = [each for each in named.things if each.object_id in when]
        text = f"No, not all of {len(named.things)}: {listed(done)} {'was' if len(done) == 1 else 'were'} {said}."
        sure = sure_of(named) * _NOT_DONE
        return MemoryAnswer(text, True, sure, evidence_of(given.finder, done), yes=False, notes=named.notes)
    if when:
        found = _latest(named.only([each for each in named.things if each.object_id in when]), when)
        first = found.things[0]
        told = ago(when[first.object_id], given.finder.around.now_s)
        yes = not question.negated
        text = f"{'Yes' if yes else 'No'}: {called(first)} was {said} {told}."
        evidence = evidence_of(given.finder, found.things)
        return MemoryAnswer(
            text, True, sure_of(found), evidence, yes=yes, when_s=when[first.object_id], notes=named.notes
        )
    in_state = _by_state(given, named) if question.action in STATES else MeantThings()
    if in_state.things:
        text = f"Somebody may have: {called(in_state.things[0])} is {question.action}."
        evidence = evidence_of(given.finder, in_state.things)
        return MemoryAnswer(text, True, sure_of(in_state), evidence, yes=not question.negated, notes=in_state.notes)
    text = f"Not as far as I remember: {called(named.things[0])} is {place_in_words(given.finder, named.things[0])}."
    sure = sure_of(named) * _NOT_DONE
    return MemoryAnswer(
        text, True, sure, evidence_of(given.finder, named.things), yes=question.negated, notes=named.notes
    )


def answer_when(given: Understood) -> MemoryAnswer:
    """Return when something was done with a thing last.

    Raises:
        UnknownNameError: a place that it names is unknown.
    """
    question = given.question
    found = given.meant()
    if not found.things:
        return given.none(found)
    when = {each.object_id: stamp for each in found.things if (stamp := done_s(given, each))}
    if not when:
        return unknown(f"I do not remember that anything like that was {question.action}.")
    found = _latest(found.only([each for each in found.things if each.object_id in when]), when)
    first = found.things[0]
    stamp = when[first.object_id]
    where = place_in_words(given.finder, first)
    then = f"; it is {where}" if where else ""
    text = f"{called(first)} was {question.action} {ago(stamp, given.finder.around.now_s)}{then}."
    evidence = evidence_of(given.finder, found.things)
    return MemoryAnswer(text[0].upper() + text[1:], True, sure_of(found), evidence, when_s=stamp, notes=found.notes)
