"""Answers about places: where something is, or likely is, and what is in or on a place."""

from __future__ import annotations

from dataclasses import replace

from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.meaning import MeantThings
from kc_vla.memory.asking.meant import names_hand, plain_name
from kc_vla.memory.asking.question import ROBOT, QuestionKind
from kc_vla.memory.asking.telling import ago, called, evidence_of, listed, place_in_words
from kc_vla.memory.asking.understood import Understood, sure_of
from kc_vla.memory.references.likely_places import holders as likely_holders
from kc_vla.memory.references.likely_places import share, vocabulary
from kc_vla.memory.things import CLOSED, OPENED, KnownThing

_MOST_WHERE, _MOST_GUESS, _LEAST_SHARE = 3, 0.3, 0.05
_ON_TOP, _NOTHING = 0.7, 0.75
"""Confidence that a surface is empty whose things would have been seen, and a container that was looked into."""
_EMPTY_HAND = MemoryAnswer("Nothing: my hand is empty, as far as I know.", True, _NOTHING, (), yes=False, count=0)


def answer_where(given: Understood, found: MeantThings) -> MemoryAnswer:
    """Return where things are; where they are not known, where they are likely."""
    finder = given.finder
    if given.question.thing == ROBOT:
        return _here(given)
    if not found.things and found.unstated and not given.question.states:
        found = replace(found, maybe=found.unstated)
    if not found.things:
        return _likely(given, found)
    things = [each for each in found.things if place_in_words(finder, each)]
    if not things:
        return given.none(found)
    first = things[0]
    seen = ago(first.seen_s, finder.around.now_s)
    parts = [f"{called(each)} is {place_in_words(finder, each)}" for each in things[:_MOST_WHERE]]
    text = "; ".join(parts)
    more = f" I know of {len(things) - _MOST_WHERE} more." if len(things) > _MOST_WHERE else ""
    perhaps = "Perhaps " if found.trust < 0.6 else ""
    sentence = f"{perhaps}{text}" if perhaps else text[0].upper() + text[1:]
    return MemoryAnswer(
        f"{sentence} (seen {seen}).{more}", True, sure_of(found, 1), evidence_of(finder, things), notes=found.notes
    )


def _here(given: Understood) -> MemoryAnswer:
    """Return where the robot is."""
    around = given.finder.around
    if around.at not in around.areas:
        return unknown("I do not know where I am.")
    return MemoryAnswer(f"I am in the {around.room(around.at)} ({around.at}).", True, 1.0)


def answer_rooms(given: Understood) -> MemoryAnswer:
    """Return the rooms that the map names."""
    rooms = sorted({each.name for each in given.finder.around.areas.values() if each.name})
    if not rooms:
        return unknown("I do not know: no area of my map has a name.")
    return MemoryAnswer(f"I know of {len(rooms)}: {', '.join(rooms)}.", True, 0.95, count=len(rooms))


def _likely(given: Understood, found: MeantThings) -> MemoryAnswer:
    """Return where a thing that is not known may be; it is said to be a guess."""
    finder, name = given.finder, plain_name(given.question.thing) or "such thing"
    types = [each for each in found.named if each in vocabulary()]
    places = [each for each in finder.things if not each.movable and each.object_type in likely_holders()]
    scored = sorted(
        ((max(share(kind, place.object_type) for kind in types), place) for place in places if types),
        key=lambda pair: (-pair[0], pair[1].object_id),
    )
    if not scored or scored[0][0] < _LEAST_SHARE or found.unstated:
        return given.none(found)
    chance, place = scored[0]
    where = place_in_words(finder, place)
    text = f"I do not know where to find {name}. A guess: look at {called(place)}{f', {where}' if where else ''}."
    return MemoryAnswer(
        text, False, min(chance, _MOST_GUESS), evidence_of(finder, [place]), guess=True, notes=found.notes
    )


def answer_contents(given: Understood) -> MemoryAnswer:
    """Return what is in, on or beside a place.

    Raises:
        UnknownNameError: the place is unknown.
    """
    question, finder = given.question, given.finder
    assert question.place is not None
    inside = question.place.preposition in ("in", "on")
    areas = finder.around.called(question.place.name) if question.place.preposition in ("", "in", "on") else None
    everything = finder.named("")
    found = given.ordered(finder.placed(everything, question.place))
    if names_hand(question.place):
        return _contents(given, found) if found.things else _EMPTY_HAND
    if areas is not None:
        found = found.only([each for each in found.things if each.movable] or found.things)
        return _contents(given, found) if found.things else unknown(f"I know of nothing {_told(given)}.")
    holders = finder.holders(question.place)
    if found.things:
        return _contents(given, replace(found, certainty=found.certainty * (1.0 if inside else 0.8)))
    return _empty(given, holders) if inside else unknown(f"I know of nothing {_told(given)}.")


def _told(given: Understood) -> str:
    place = given.question.place
    return "" if place is None else str(place)


def _contents(given: Understood, found: MeantThings) -> MemoryAnswer:
    things = list(found.things)
    yes = None if given.question.asked is not QuestionKind.IS_THERE else not given.question.negated
    begin = "" if yes is None else "Yes. " if yes else "No. "
    verb = "is" if len(things) == 1 else "are"
    text = f"{begin}There {verb} {listed(things)} {_told(given)}."
    newest = max(each.seen_s for each in things)
    text = f"{text[:-1]} (seen {ago(newest, given.finder.around.now_s)})."
    evidence = evidence_of(given.finder, things)
    return MemoryAnswer(text, True, sure_of(found), evidence, yes=yes, count=len(things), notes=found.notes)


def _empty(given: Understood, holders: MeantThings) -> MemoryAnswer:
    """Return that nothing is there, where the robot has looked; otherwise that it does not know."""
    seen = [each for each in holders.things if _looked_into(given, each)]
    if len(seen) < len(holders.things):
        shut = [each for each in holders.things if each not in seen]
        evidence = evidence_of(given.finder, shut)
        return replace(unknown(f"I do not know: I have not looked into {listed(shut)}."), found=evidence)
    yes = None if given.question.asked is not QuestionKind.IS_THERE else given.question.negated
    when = max(max(given.looked.get(each.object_id, 0.0), each.seen_s) for each in seen)
    begin = "" if yes is None else "Yes: " if yes else "No: "
    text = f"{begin}nothing that I know of is {_told(given)}; I looked {ago(when, given.finder.around.now_s)}."
    closed = any({OPENED, CLOSED} & each.states for each in seen)
    sure = (_NOTHING if closed else _ON_TOP) * min(each.confidence for each in seen)
    return MemoryAnswer(text[0].upper() + text[1:], True, sure, (), yes=yes, count=0, notes=holders.notes)


def _looked_into(given: Understood, place: KnownThing) -> bool:
    """Return whether what is in a place would be known: it is open, or was looked into."""
    shuts = bool({OPENED, CLOSED} & place.states)
    return not shuts or OPENED in place.states or place.object_id in given.looked
