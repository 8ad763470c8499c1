"""The patterns of questions about what was done and seen: "what did I use last", "when was the mug washed"."""

from __future__ import annotations

import re

from kc_vla.memory.asking.actions import VERB, action_of
from kc_vla.memory.asking.building import ask, is_state
from kc_vla.memory.asking.noun_phrases import NounPhrase, done, is_anything, phrase_of
from kc_vla.memory.asking.predicates import place_of, states_of
from kc_vla.memory.asking.question import HANDLED, PUT, SEEN, MemoryQuestion, Order, QuestionKind

_I = r"(?:i|you|we|the robot|anyone|anybody|someone|somebody)"


def _what_done(found: re.Match[str]) -> MemoryQuestion | None:
    action, thing, place, last = done(found["vp"])
    name = found.groupdict().get("x") or ""
    if found.groupdict().get("l"):
        last = True
    name = re.sub(r"^(?:of (?=the|my|our|your|these|those))", "", name)
    if name.startswith("last ") or name == "last":
        name, last = name[5:], True
    if not action or (thing and not is_anything(thing)):
        return None
    if action == SEEN and place is None and not last:
        return None
    phrase = NounPhrase() if not name or is_anything(name) else phrase_of(name)
    return ask(
        QuestionKind.WHICH,
        phrase,
        action=action if action != SEEN or last else "",
        place=place,
        order=Order.LAST if last else Order.ANY,
    )


def _what_was(found: re.Match[str]) -> MemoryQuestion | None:
    action, name = action_of(found["v"]), found["x"] or ""
    last = bool(found["l"] or found["l2"])
    if not action or (found["be"] in ("is", "are") and is_state(action)):
        return None
    place = place_of(found["pl"]) if found["pl"] else None
    if found["pl"] and place is None:
        return None
    phrase = NounPhrase() if not name or is_anything(name) else phrase_of(re.sub(r"^of (?=the|my|our)", "", name))
    return ask(QuestionKind.WHICH, phrase, action=action, place=place, order=Order.LAST if last else Order.ANY)


def _the_last(found: re.Match[str]) -> MemoryQuestion | None:
    phrase = phrase_of(found["x"])
    if phrase.order is not Order.LAST:
        return None
    return ask(QuestionKind.WHICH, phrase, action=phrase.action or HANDLED)


def _when(found: re.Match[str]) -> MemoryQuestion | None:
    action, thing, place, _ = done(found["vp"])
    if not action:
        return None
    phrase = NounPhrase() if is_anything(thing) else phrase_of(thing)
    return ask(QuestionKind.WHEN, phrase, action=action, place=place if action in (PUT, SEEN) else phrase.place)


def _when_was(found: re.Match[str]) -> MemoryQuestion | None:
    action = action_of(found["v"])
    place = place_of(found["pl"]) if found["pl"] else None
    return ask(QuestionKind.WHEN, phrase_of(found["x"]), action=action, place=place) if action else None


def _did(found: re.Match[str]) -> MemoryQuestion | None:
    action, thing, place, _ = done(re.sub(r"^(?:not )?", "", found["vp"]))
    if not action or action == SEEN or not thing:
        return None
    thing = re.sub(r"^(?:an?|any|some) (?=\w)", "", thing)
    every = re.match(r"(?:all|every|each|both)\b", thing) is not None
    negated = found["vp"].startswith("not ")
    return ask(QuestionKind.IS, phrase_of(thing), action=action, place=place, negated=negated, every=every)


def _left_so(found: re.Match[str]) -> MemoryQuestion | None:
    return ask(QuestionKind.IS, phrase_of(found["x"]), states=states_of(found["s"])[0])


_LAST = r"(?P<l>last )?"
_AGO = r"(?:when|how long ago|at what time|what time|how long is it since|how long has it been since|since when)"
ACTION_FORMS = (
    (rf"^(?:what|which)(?: (?P<x>.+?))? (?:did|have|had|has) {_I} {_LAST}(?P<vp>(?:{VERB}|do)\b.*)$", _what_done),
    (r"^(?:what|which)(?: one)? (?:was|is|were|are) (?P<x>(?:the |my |your )?last\b.*)$", _the_last),
    (r"^(?P<x>(?:the |my |your )?last .+)$", _the_last),
    (
        rf"^(?:what|which)(?: (?P<x>.+?))? (?P<be>was|were|is|are|has been|have been|had been|got) {_LAST}(?P<v>{VERB})"
        rf"(?P<l2> last)?(?: (?P<pl>.+?))?$",
        _what_was,
    ),
    (
        rf"^{_AGO} (?:was|is) last (?:that )?(?P<x>(?:the|my|a|an|any|our) .+?) (?:was|were|has been)"
        rf" (?P<v>{VERB})(?P<pl>)$",
        _when_was,
    ),
    (rf"^{_AGO} (?:was|is) last (?:that )?{_I} (?:have )?(?P<vp>.+)$", _when),
    (rf"^{_AGO} (?:did|have|has|had|was|were)? ?{_I} (?:have )?(?P<vp>(?:last )?(?:{VERB}).*)$", _when),
    (
        rf"^{_AGO} (?:was|were|has|have|did|is) (?P<x>.+?) (?:been )?(?:last )?(?:been )?(?:get"
        rf" )?(?P<v>{VERB})(?: last)?(?: (?P<pl>.+))?$",
        _when_was,
    ),
    (rf"^{_AGO} (?P<x>.+?) (?:was|were|has been) (?:last )?(?P<v>{VERB})(?: last)?(?P<pl> .+)?$", _when_was),
    (
        rf"^(?:did|have|has|had) {_I} (?:leave|left) (?P<x>.+?) (?P<s>open|on|closed|shut|off|running|unlocked)$",
        _left_so,
    ),
    (rf"^(?:did|have|has|had) {_I} (?:last )?(?P<vp>(?:not )?(?:{VERB}|turn|turned|switch|switched)\b.+)$", _did),
)
