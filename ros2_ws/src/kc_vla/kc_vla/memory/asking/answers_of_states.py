"""Answers about states: whether a thing is dirty, open, red, or in a place, and in which state it is."""

from __future__ import annotations

from dataclasses import replace

from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.meaning import MeantThings, state_fit
from kc_vla.memory.asking.meant import plain_name
from kc_vla.memory.asking.question import COLOUR, HANDLED, PUT, SEEN
from kc_vla.memory.asking.telling import ago, called, evidence_of, listed, place_in_words
from kc_vla.memory.asking.understood import Understood, sure_of
from kc_vla.memory.references.fits import OPPOSITE, Fit
from kc_vla.memory.things import KnownThing

_ELSEWHERE, _UNSEEN = 0.9, 0.6
"""Confidence that a thing is not here which was seen elsewhere; that it is in no state that would have been seen."""
_SHOWN = frozenset({"sliced", "broken", "cooked", "heated", "filled", "cold"})
"""States that are seen, so that a thing in none of them is not in them."""


def answer_is(given: Understood) -> MemoryAnswer:
    """Return whether a thing is in a state, has a color, or is in a place.

    Raises:
        UnknownNameError: a place that it names is unknown.
    """
    question, finder = given.question, given.finder
    named = finder.named(question.thing)
    if not named.things:
        return given.none(named)
    if question.place is not None:
        return _is_placed(given, named)
    fit = {
        each.object_id: state_fit(each, question.states, question.not_states, question.colour) for each in named.things
    }
    yes = named.only([each for each in named.things if fit[each.object_id] is Fit.YES])
    no = named.only([each for each in named.things if fit[each.object_id] is Fit.NO or _shown(each, given)])
    if question.every and no.things:
        return _told(given, no, False, len(named.things))
    if yes.things and (not question.every or len(yes.things) == len(named.things)):
        return _told(given, yes, True, len(named.things))
    if len(no.things) == len(named.things):
        return _told(given, no, False, len(named.things))
    told = unknown(f"I do not know: nothing says that of {listed(named.things)}.")
    return replace(told, found=evidence_of(finder, named.things))


def _shown(thing: KnownThing, given: Understood) -> bool:
    states = given.question.states
    return bool(states) and states <= _SHOWN and not states & thing.states


def _told(given: Understood, found: MeantThings, holds: bool, of: int) -> MemoryAnswer:
    """Return the answer by the things for which it holds, or for all of which it does not."""
    question = given.question
    yes = holds != question.negated
    things = list(found.things)
    said = _said(given)
    verb = "is" if len(things) == 1 else "are"
    text = f"{'Yes' if yes else 'No'}: {listed(things)} {verb} {'' if holds else 'not '}{said}"
    if holds and of > len(things):
        text = f"{text}, of {of} that I know of"
    unseen = _UNSEEN if not holds and question.states <= _SHOWN and question.states else 1.0
    several = 0.75 if holds and of > len(things) else 1.0
    return MemoryAnswer(
        f"{text} (seen {ago(things[0].seen_s, given.finder.around.now_s)}).",
        True,
        sure_of(found) * unseen * several,
        evidence_of(given.finder, things),
        yes=yes,
        count=len(things),
        notes=found.notes,
    )


def _said(given: Understood) -> str:
    question = given.question
    states = [*sorted(question.states), *(f"not {each}" for each in sorted(question.not_states)), question.colour]
    return " and ".join(filter(None, states))


def _is_placed(given: Understood, named: MeantThings) -> MemoryAnswer:
    question, finder = given.question, given.finder
    assert question.place is not None
    found = finder.placed(named, question.place)
    near = question.place.preposition not in ("", "in", "on")
    if found.things:
        things = list(found.things)
        text = f"{called(things[0])} is {place_in_words(finder, things[0])}"
        sure, yes = sure_of(found) * (0.8 if near else 1.0), not question.negated
    else:
        things = list(named.things)
        found, yes = named, question.negated
        text = f"{called(things[0])} is {place_in_words(finder, things[0])}, as far as I know"
        sure = sure_of(named) * (_UNSEEN if near else _ELSEWHERE)
        if len(things) > 1:
            text = f"{text}, and {len(things) - 1} more are elsewhere"
    evidence = evidence_of(finder, things)
    return MemoryAnswer(f"{'Yes' if yes else 'No'}: {text}.", True, sure, evidence, yes=yes, notes=found.notes)


def answer_condition(given: Understood) -> MemoryAnswer:
    """Return the states of a thing, its color, or what was done with it.

    Raises:
        UnknownNameError: a place that it names is unknown.
    """
    found = given.ordered(given.finder.named(given.question.thing))
    if not found.things:
        return given.none(found)
    things = list(found.things)
    about = given.question.about
    parts = [f"{called(each)}: {said}" for each in things[:3] if (said := _condition(given, each, about))]
    if not parts:
        what = "color" if about == COLOUR else "state"
        told = unknown(f"I do not know: nothing says which {what} {listed(things)} has.")
        return replace(told, found=evidence_of(given.finder, things))
    text = "; ".join(parts)
    return MemoryAnswer(
        f"{text[0].upper()}{text[1:]} (seen {ago(things[0].seen_s, given.finder.around.now_s)}).",
        True,
        sure_of(found),
        evidence_of(given.finder, [each for each in things if _condition(given, each, about)]),
        notes=found.notes,
    )


def _condition(given: Understood, thing: KnownThing, about: str) -> str:
    if about == COLOUR:
        return thing.attributes.get("colour", "")
    states = ", ".join(sorted(thing.states))
    if given.question.action != HANDLED:
        return states
    actions = [_action(action) for action in thing.effects]
    where = place_in_words(given.finder, thing)
    return "; ".join(filter(None, (", ".join(actions), states and f"it is {states} now", where and f"it is {where}")))


def _action(action: str) -> str:
    return f"I put it {action}" if " " in action and action not in OPPOSITE else f"I had it {action}"


__all__ = ["PUT", "SEEN", "answer_condition", "answer_is", "plain_name"]
