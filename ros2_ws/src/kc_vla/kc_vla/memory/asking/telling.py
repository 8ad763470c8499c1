"""Answers in words for people."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.memory.asking.answer import MOST_TOLD, AnswerEvidence
from kc_vla.memory.asking.meant import NameFinder, is_held
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import KnownThing

_NOW_S, _MINUTE_S, _HOUR_S, _DAY_S = 2.0, 60.0, 3600.0, 86400.0
_FEW = 5


def place_in_words(finder: NameFinder, thing: KnownThing) -> str:
    """Return where a thing is: "in the fridge (Fridge_1) in the kitchen"; empty where nothing is known."""
    area = finder.around.areas.get(thing.area)
    room = f"the {area.name}" if area is not None and area.name else thing.area
    inside = f"in {room}" if room else ""
    if is_held(thing):
        return "in my hand"
    holders = finder.chain(thing)
    if not holders:
        lies = thing.relation == "floor" or "floor" in thing.attributes.get("place", "")
        return " ".join(filter(None, ("on the floor" if lies else "", inside)))
    parts = []
    relation = thing.relation or "in"
    for holder in holders:
        known = finder.by_id.get(holder)
        kind = spoken(known.object_type) if known else ""
        parts.append(f"{relation} the {kind} ({holder})" if kind and kind != holder else f"{relation} {holder}")
        relation = known.relation if known is not None and known.relation in ("on", "in") else "on"
    return f"{', '.join(parts)} {inside}".strip()


def evidence_of(finder: NameFinder, things: Sequence[KnownThing]) -> tuple[AnswerEvidence, ...]:
    """Return things as what an answer rests on, at most `MOST_TOLD`."""
    return tuple(
        AnswerEvidence(
            each.object_id,
            each.object_type,
            place_in_words(finder, each),
            each.container,
            each.area,
            each.seen_s,
            each.confidence,
            each.source,
        )
        for each in things[:MOST_TOLD]
    )


def called(thing: KnownThing) -> str:
    """Return a thing in words: "the red mug (Mug_1)"."""
    colour = thing.attributes.get("colour", "")
    return f"the {spoken(f'{colour} {thing.object_type}')} ({thing.object_id})"


def listed(things: Sequence[KnownThing]) -> str:
    """Return some things in words, at most a few and how many more."""
    names = [called(each) for each in things[:_FEW]]
    if len(things) > _FEW:
        names.append(f"{len(things) - _FEW} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


def ago(seen_s: float, now_s: float) -> str:
    """Return when something was, in words: "3 minutes ago"; by its stamp where nobody knows what time it is."""
    past = now_s - seen_s
    if not now_s or past < 0:
        return f"at {seen_s:.0f} s"
    if past < _NOW_S:
        return "just now"
    for length, name in ((_DAY_S, "day"), (_HOUR_S, "hour"), (_MINUTE_S, "minute"), (1.0, "second")):
        if past >= length:
            count = int(past // length)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
