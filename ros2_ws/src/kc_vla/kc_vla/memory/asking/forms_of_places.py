"""The patterns of questions for places: where something is, and what is in, on or beside a place."""

from __future__ import annotations

import re

from kc_vla.memory.asking.actions import VERB, action_of
from kc_vla.memory.asking.building import ask, contents, existing
from kc_vla.memory.asking.fragments import BE, GUESS, IN_PLACE, LYING, ROOM, WE
from kc_vla.memory.asking.noun_phrases import NounPhrase, one_thing
from kc_vla.memory.asking.predicates import place_of, predicate_of
from kc_vla.memory.asking.question import (
    CARRIED,
    HANDLED,
    IN_HAND,
    PUT,
    ROBOT,
    STATES,
    MemoryQuestion,
    Order,
    PlacePhrase,
    QuestionError,
    QuestionKind,
)

_END = re.compile(
    r" (?:kept|located|stored|now|gone|lying|hidden|hiding|placed|situated|found|to be found|put|left|standing|sitting"
    r"|supposed to be|likely|likely to be|probably|usually|normally|last|seen last|last seen|seen|at|from|away|down"
    r"|back|for|anyway|today|be|been|then|usually kept|around|somewhere|anywhere|in the house|in this house"
    r"|in the home|at home)$"
)
_ME = r"me|you|us|here|where (?:you|i) (?:are|am)|the robot"


def _bare(name: str) -> str:
    name = re.sub(r"^(?:there |likely |probably |usually |now |else |located )+", "", name)
    said = re.search(r" (?:you|i|we) ", name) is not None  # of "the thing you used last" all words count
    while not said and (shorter := _END.sub("", name)) != name:
        name = shorter
    return name


def _where(found: re.Match[str]) -> MemoryQuestion | None:
    said = found.groupdict()
    place = place_of(said["pl"]) if said.get("pl") else None
    guess = bool(re.match(GUESS, said.get("a") or ""))
    if guess and action_of(said.get("v") or "") in (CARRIED, HANDLED, PUT):
        raise QuestionError("I do not know what will be or should be done: ask where something is")
    if guess and action_of(said.get("v") or "") in STATES:  # "where can I wash my hands"
        return ask(QuestionKind.WHERE, NounPhrase(thing=f"something to {said['v']} {found['x']}"))
    given = {"guess": guess, **({"place": place} if place else {})}
    question = existing(_bare(found["x"]), QuestionKind.WHERE, **given)
    if question.action or question.place or not re.match(r"(?:put|place|leave|left|set|store)\b", said.get("v") or ""):
        return question
    return ask(QuestionKind.WHERE, NounPhrase(question.thing, question.order, None, PUT))


def _where_to(found: re.Match[str]) -> MemoryQuestion | None:
    return ask(QuestionKind.WHERE, NounPhrase(thing=f"something to {found['vp']}"))


def _where_i(found: re.Match[str]) -> MemoryQuestion | None:
    raise QuestionError("I do not know where you are: ask where I am, or where a thing is")


def _where_you(found: re.Match[str]) -> MemoryQuestion | None:
    return ask(QuestionKind.WHERE, NounPhrase(thing=ROBOT))


def _in_hand(found: re.Match[str]) -> MemoryQuestion | None:
    name = (found.groupdict().get("x") or "").removeprefix("a ")
    asked = QuestionKind.IS_THERE if name else QuestionKind.WHICH
    return contents(PlacePhrase("in", IN_HAND), asked, name=name)


def _room_of(found: re.Match[str]) -> MemoryQuestion | None:
    name = re.sub(r" (?:in|on|at|inside)$|^last$", "", _bare(found["x"]))
    return None if predicate_of(name) is not None or not name else existing(name, QuestionKind.WHERE)


def _nearest(found: re.Match[str]) -> MemoryQuestion | None:
    order = Order.NEAREST if found["o"] in ("nearest", "closest") else Order.FARTHEST
    rest = found["r"] or ""
    other = re.match(r"(?:one )?(?:to|from|of) (.+)$", rest)
    if rest and rest != "one" and other is None:
        return None
    near = None if other is None or re.fullmatch(_ME, other[1]) else PlacePhrase("next to", other[1])
    return ask(QuestionKind.WHICH, found["x"] or "thing", order=order, place=near)


def _ordered(found: re.Match[str]) -> MemoryQuestion | None:
    return ask(QuestionKind.WHICH, found["x"])


def _in_place(found: re.Match[str]) -> MemoryQuestion | None:
    return contents(place_of(found["pl"]), name=one_thing(found.groupdict().get("x") or ""))


def _any_in_place(found: re.Match[str]) -> MemoryQuestion | None:
    return contents(place_of(found["pl"]), QuestionKind.IS_THERE, negated=found["n"] == "nothing")


def _held_by(found: re.Match[str]) -> MemoryQuestion | None:
    return contents(PlacePhrase("in", one_thing(found["n"])))


def _empty(found: re.Match[str]) -> MemoryQuestion | None:
    return contents(PlacePhrase("in", one_thing(found["n"])), QuestionKind.IS_THERE, negated=not found["no"])


_FAR = r"(?:nearest|closest|farthest|furthest)"
_HAVE = rf"(?:is there|are there|do {WE} (?:have|keep|see|store|know of)|have {WE}(?: got| seen| found)?)"
WHERE_FORMS = (
    (rf"^where {GUESS} {WE} (?:go|look|turn|search) (?:to (?:get|find|fetch)|for) (?P<x>.+)$", _where),
    (r"^where are you$|^which room are you in$", _where_you),
    (r"^where am i$", _where_i),
    (r"^what (?:are|do) you (?:currently )?(?:holding|hold|carrying|carry|have in (?:your|the) hands?)$", _in_hand),
    (r"^(?:are|do) you (?:holding|hold|carrying|carry) (?P<x>.+)$", _in_hand),
    (rf"^where (?P<pl>(?:in|on|at|inside) .+?) {BE} (?P<x>.+)$", _where),
    (
        rf"^where (?P<pl>(?:in|on|at|inside) .+?) (?P<a>{GUESS}|did|do|have) {WE} (?:last )?(?:{VERB}|have|keep) "
        r"(?P<x>.+)$",
        _where,
    ),
    (
        rf"^where (?:else )?(?P<a>did|do|does|have|has|had|{GUESS}) {WE} (?:last |usually |normally |best |be"
        rf" able to )*"
        rf"(?P<v>{VERB}|look for|keep|kept|expect|expect to find|search for|have|locate|go to find|go for|buy) "
        r"(?P<x>.+)$",
        _where,
    ),
    (
        rf"^where (?:else )?(?P<a>{GUESS}) (?P<x>.+?) "
        r"(?:be|have gone|have been|have got to|hide|have ended up|go|belong)(?: .+)?$",
        _where,
    ),
    (
        r"^where (?:has|have|had) (?P<x>.+?) (?:gone|been|got to|ended up|disappeared|moved|wandered)(?: .+)?$",
        _where,
    ),
    (
        r"^where (?:did|do|does) (?P<x>.+?) (?:go|end up|belong|live|disappear|get to|lie|stand|sit)"
        r"(?: to| off to| now)?$",
        _where,
    ),
    (rf"^where (?:else )?(?:{BE}|lies?|stands?|sits?) (?P<x>.+)$", _where),
    (
        rf"^(?:(?:in|on|at|inside) )?(?:which|what) {ROOM} (?:{BE}|has|have|holds?|contains?) (?P<x>.+)$",
        _room_of,
    ),
    (
        rf"^(?:(?:in|on|at|inside) )?(?:which|what) {ROOM} (?:did|do|have|{GUESS}) {WE} (?:last )?(?:{VERB}|keep|have) "
        r"(?P<x>.+)$",
        _room_of,
    ),
    (
        rf"^(?:(?:in|on|inside) )?(?:what|which) {BE} (?P<x>(?:the|my|our|your) .+?)"
        r"(?: (?:standing|lying|sitting|resting|kept|stored))?(?: (?:on|in|inside|on top of))$",
        _where,
    ),
    (rf"^(?:in|on|inside) what {BE} (?P<x>.+)$", _where),
    (
        r"^(?:what (?:is|are) )?the (?:current |last |last known |exact )*(?:location|position|place|whereabouts) "
        r"(?:of|for) (?P<x>.+)$",
        _where,
    ),
    (r"^how (?:can|could|do|would|should) (?:i|we) (?:find|get to|reach) (?P<x>.+)$", _where),
    (
        r"^(?:i|we) (?:can not find|am looking for|are looking for|have lost|lost|am searching for|have misplaced"
        r"|misplaced|can not see|am missing) (?P<x>.+)$",
        _where,
    ),
    (rf"^where {GUESS} (?:i|we|you|one) (?P<vp>.+)$", _where_to),
    (r"^which way (?:is it |do i go )?to (?P<x>.+)$", _where),
    (r"^(?:(?:can|could|would|will) you )?help (?:me|us) (?:to )?(?:find|locate|look for) (?P<x>.+)$", _where),
    (rf"^(?:find|locate|where(?! {BE}| {GUESS}| am| do| did| does| has| have)) (?P<x>.+)$", _where),
    (
        rf"^(?:which|what)(?: (?P<x>.+?))? (?:is|are|lies|stands) (?:the )?(?:one )?(?P<o>{_FAR})(?: (?P<r>.+))?$",
        _nearest,
    ),
    (rf"^(?:which|what|who)(?: one)? (?:is|are) (?P<x>(?:the |my |our )?{_FAR} .+)$", _ordered),
    (rf"^(?P<x>(?:the )?{_FAR} .+)$", _ordered),
)
CONTENT_FORMS = (
    (
        rf"^what(?: else)?(?: (?:things?|items?|objects?|stuff))? (?:{_HAVE}|{GUESS} {WE} (?:find|see|get)"
        rf"|did {WE} (?:last )?(?:see|find|notice|leave|put)|{GUESS} be (?:found|seen)) {IN_PLACE}$",
        _in_place,
    ),
    (
        rf"^(?:what|which)(?: else| all)?(?: (?P<x>.+?))? (?:{BE}|has|have|lies|stands|sits|lie|stand|sit|{GUESS} be)"
        rf"(?: {LYING})* {IN_PLACE}$",
        _in_place,
    ),
    (
        r"^what (?:do|does|did) (?P<n>.+?) (?:contain|hold|store|have (?:in|on|inside) it|have inside|have|carry)$",
        _held_by,
    ),
    (r"^(?:what are |what is |list |show )?(?:the )?contents? of (?P<n>.+)$", _held_by),
    (
        r"^(?:(?:can|could|would|will) you )?(?:list |name |show |tell |give )?(?:me )?"
        r"(?:everything|all (?:the )?things|all|things|the things) "
        rf"(?:(?:that|which) (?:is|are) |there is |you know )?{IN_PLACE}$",
        _in_place,
    ),
    (rf"^(?:is|are|do|does|did) (?P<n>anything|something|nothing|any thing)(?: {LYING})* {IN_PLACE}$", _any_in_place),
    (r"^(?:is|are|was|were) (?P<n>.+?) (?P<no>not )?(?:empty|bare)$", _empty),
)
ORDERED_FORM = (
    r"^(?:which(?: one| ones)?|what(?=.* (?:thing|object|item)s?\b)) (?:is|are) (?P<x>(?:the|that|those) .+)$",
    _ordered,
)
