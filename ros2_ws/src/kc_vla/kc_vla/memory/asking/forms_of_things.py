"""The patterns of questions for things: how many, whether there are any, which ones, and for what they serve."""

from __future__ import annotations

import re

from kc_vla.memory.asking.building import ask, described, existing, with_place
from kc_vla.memory.asking.fragments import BE, GUESS, HOME, SEE, WE
from kc_vla.memory.asking.noun_phrases import NounPhrase
from kc_vla.memory.asking.predicates import PREPOSITION, predicate_of
from kc_vla.memory.asking.question import MemoryQuestion, PlacePhrase, QuestionKind

_COUNTED = (
    r"(?P<x>.+?) (?:are|is|were|was|exist)(?: there| known)(?: (?P<p>.+))?$",
    r"(?P<x>.+?) there (?:are|is)(?: (?P<p>.+))?$",
    r"(?P<x>.+?) (?:can|could) (?:be (?:found|seen)|I find)(?: (?P<p>.+))?$",
    r"(?P<x>.+?) (?P<p>(?:need|needs|must|should|ought|have to|has to) .+)$",
    rf"(?P<x>.+?) (?:do|did|have|can|could) {WE} (?:last )?(?:{SEE}|count|counted)(?: (?P<p>.+))?$",
    rf"(?P<x>.+?) {WE} (?:{SEE})(?: (?P<p>.+))?$",
    r"(?P<x>.+?) (?:are|is|were|was|have|has) (?P<p>.+)$",
    r"(?P<x>.+?) (?:exist|stand|lie|sit)(?: (?P<p>.+))?$",
    rf"(?P<x>.+?) (?P<p>(?:{PREPOSITION}) .+)$",
    r"(?P<x>\w+(?: \w+)?)$",
)
_HELD = re.compile(
    r"^(?P<x>.+?) (?:does|do|did) (?P<n>(?:the|my|our|your|this) .+?) (?:have|contain|hold)(?:"
    r" (?:in|on) it)?$"
)
_NUMBER = re.compile(
    r"^(?:more than |at least |exactly |less than |fewer than |only )*(?:one|two|three|four|five|six|\d+"
    r"|several|many|enough) "
)


def _count(found: re.Match[str]) -> MemoryQuestion | None:
    rest = re.sub(r"^(?:of |different )+", "", found["r"])
    rest = re.sub(rf" (?:(?:in|around) {HOME}|here|in total|altogether)$", "", rest)
    if (held := _HELD.match(rest)) is not None:
        place = {} if re.fullmatch(HOME, held["n"]) else {"place": PlacePhrase("in", held["n"])}
        return existing(held["x"], QuestionKind.HOW_MANY, **place)
    for pattern in _COUNTED:
        if (part := re.match(pattern, rest)) is None:
            continue
        said = part.groupdict().get("p") or ""
        predicate = predicate_of(said) if said else None
        if said and predicate is None:
            continue
        if predicate is None or predicate.anywhere:
            return existing(part["x"], QuestionKind.HOW_MANY)
        return described(QuestionKind.HOW_MANY, part["x"], predicate)
    return None


def _there(found: re.Match[str]) -> MemoryQuestion | None:
    name = found["x"]
    negated = name.startswith("nothing")
    name = re.sub(r"^not (?:an?|any) ", "", name)
    if (number := _NUMBER.match(name)) is not None:
        return existing(name[number.end() :], QuestionKind.HOW_MANY)
    return existing(re.sub(r"^nothing\b", "anything", name), negated=negated)


def _contains(found: re.Match[str]) -> MemoryQuestion | None:
    if re.fullmatch(HOME, found["n"]):
        return existing(found["x"])
    name = re.sub(r" (?:in|on|inside) it$", "", found["x"])
    return existing(name, place=PlacePhrase("in", found["n"]))


def _which_there(found: re.Match[str]) -> MemoryQuestion | None:
    name, place = with_place(f"{found['x']} {found['p'] or ''}".strip())
    return existing(name, QuestionKind.WHICH, **({"place": place} if place else {}))


def _for(found: re.Match[str]) -> MemoryQuestion | None:
    said = found.groupdict()
    if said.get("g"):
        base = re.sub(r"([^aeiousl])\1$", r"\1", said["g"].removesuffix("ing"))
        return ask(QuestionKind.WHICH, NounPhrase(thing=f"something to {base}{said.get('o') or ''} with"))
    if said.get("c"):
        return ask(QuestionKind.WHICH, NounPhrase(thing=f"something that {said['c']}"))
    whole = said.get("vp") or said.get("vp2") or ""
    wanted = re.sub(r"^(?:use to |use for |take to |need to |use )", "", whole)
    if wanted.split()[0] in ("do", "be", "say", "have", "need", "happen", "go", "know"):
        return None
    end = " with" if wanted != whole and not wanted.endswith(("with", "from")) else ""
    return ask(QuestionKind.WHICH, NounPhrase(thing=f"something to {wanted}{end}"))


COUNT_FORMS = (
    (r"^how many (?P<r>.+)$", _count),
    (r"^(?:what is |tell |what )?(?:the )?(?:number|count) of (?P<r>.+)$", _count),
    (r"^count (?:all )?(?P<r>.+)$", _count),
)
FOR_FORMS = (
    (
        rf"^what (?:do {WE} have|is there|have {WE}(?: got)?|can {WE} use)(?: here)? (?:for (?P<g>\w+ing)(?P<o> .+)?"
        r"|to (?P<vp>.+)|(?:that|which) (?P<c>.+)|(?:i|we|you|one) (?:can|could|may|might) (?P<vp2>.+))$",
        _for,
    ),
    (rf"^(?:what|which thing) {GUESS} {WE} (?P<vp>.+)$", _for),
    (rf"^(?:what|which thing) (?:do|does) {WE} (?P<vp>.+ (?:with|from|on|in|out of))$", _for),
    (
        r"^(?:i|we) (?:want|need|would like|wish|am looking for|would love)(?: something)?,? to (?P<vp>.+?),? "
        r"(?:what|is there|do you|which|where|have you)\b.*$",
        _for,
    ),
    (
        r"^(?:i|we) (?:want|need|would like|am looking for) (?P<c2>something|anything) to (?P<vp>.+?),? "
        r"(?:what|is there|do you|which|where|have you)\b.*$",
        _for,
    ),
)
THERE_FORMS = (
    (rf"^(?:{BE}|{GUESS}) there(?: be)? (?P<x>.+)$", _there),
    (r"^(?:does|do|did) (?P<n>(?:the|my|our|your|this) .+?) (?:contain|hold|have) (?P<x>.+)$", _contains),
    (
        rf"^(?:do|did|have|has|had|can|could|would) {WE}(?: not)? (?:(?:last|got|see|happen to|have|any|also"
        rf"|own) )*{SEE}"
        r"(?: of| any)? (?P<x>.+)$",
        _there,
    ),
    (r"^have (?:you|we) (?:any|an?|some) (?P<x>.+)$", _there),
    (rf"^(?:what|which) (?P<x>.+?) (?:does|do) {HOME} have(?P<p>)$", _which_there),
    (r"^(?:do|does|did) (?P<x>.+?) exist\b.*$", _there),
    (r"^(?:seen|got) (?P<x>.+)$", _there),
    (r"^(?P<x>(?:any|some)(?:thing)? .+)$", _there),
    (
        rf"^(?:what|which) (?P<x>.+?) (?:are|is) (?:there|known|available)(?: (?P<p>(?:{PREPOSITION}) .+))?$",
        _which_there,
    ),
    (
        rf"^(?:what|which) (?P<x>.+?) (?:do|did|have|can) {WE} (?:last )?{SEE}(?: (?P<p>(?:{PREPOSITION}) .+))?$",
        _which_there,
    ),
)
LAST_RESORT = (
    r"^what (?P<c>(?:tells|shows|gives|makes|keeps|cuts|holds|plays|cleans|lights|heats|cools|opens|opened) .+)$",
    _for,
)
