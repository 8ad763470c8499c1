"""Words for a time before: "before", "at the start", "before it was moved", "the one I showed you first".

They are taken off a question; the rest is a question that a memory answers as things stood then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from kc_vla.core.untrusted import one_line

MOST_LETTERS = 300


class PastMoment(Enum):
    """When, in words."""

    BEFORE = "before"
    UNMOVED = "before it was moved"
    START = "at the start"


class SceneEvent(Enum):
    """What happened to a thing, in words."""

    SHOWN = "shown"
    MOVED = "moved"


LAST = -1
"""In place of a number: the last one."""


@dataclass(frozen=True)
class PastPhrase:
    """A question or a name that looks at a time before.

    Attributes:
        rest: the question without its time; of an event, the name of the thing, empty for any.
        moment: of which the question is; None of an event.
        event: which thing it happened to, as the `rank`-th; None where none is asked for.
        rank: 1 for the first, or `LAST`.
    """

    rest: str
    moment: PastMoment | None = None
    event: SceneEvent | None = None
    rank: int = 1


_WHO = (
    r"(?:you|i|we|they|he|she|somebody|someone|anybody|anyone|people|a (?:person|hand)"
    r"|the (?:other |second |teacher'?s? )?(?:hand|arm|robot|teacher|person|user))"
)
_MOVED = (
    r"(?:moved?|shuffled?|swapped|swap|switched|switch|changed?|mixed|mix|rearranged?|touched|touch|took|take|taken"
    r"|lifted|lift|picked|pick|grasped|grasp|grabbed|grab|put|carried|carry|displaced?|exchanged?)"
)
_UNMOVED = (
    rf"before (?:{_WHO} (?:had |have )?{_MOVED}(?: .+)?"
    rf"|(?:it|they|that|those|the [\w ]+?) (?:was|were|had been|got) {_MOVED}(?: .+)?"
    r"|(?:(?:the|any|all|that) )*(?:shuffl\w+|swap\w*|mov\w+|chang\w+|mix\w*|exchange|rearrang\w+))"
)
_START = (
    r"(?:(?:at|in) the (?:very )?(?:start|beginning|outset)(?: of (?:the|this) (?:episode|task|demonstration))?"
    r"|at first|originally|initially|to begin with)"
)
_BEFORE = r"(?:before(?:hand)?|earlier(?: on)?|previously|formerly|(?:just )?a (?:while|moment|minute) ago)"
_MOMENTS = ((PastMoment.UNMOVED, _UNMOVED), (PastMoment.START, _START), (PastMoment.BEFORE, _BEFORE))
_PAST = re.compile(r"\b(?:was|were|had|did|stood|lay|sat|used to)\b")
_USED_TO = (
    (re.compile(r"^(?P<w>.*?)\bdid (?P<x>.+?) used? to (?:be|stand|lie|sit)\b"), r"\g<w>was \g<x>"),
    (re.compile(r"\bused to (?:be|stand|lie|sit)\b"), "was"),
)
_STOOD = re.compile(r"\b(?:stood|lay|sat)\b")
_ADVERB = re.compile(
    r"\b(?P<v>was|were|stood|lay|sat) (?P<t>originally|initially|previously|formerly|earlier|at first)\b", re.IGNORECASE
)
_RANKS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": LAST}
_RANK = rf"(?P<r>{'|'.join(_RANKS)})(?: of all)?"
_NAME = r"(?P<x>(?:(?!\b(?:did|was|were|have|has|that|which)\b).)+?)"
_SHOW = r"(?:show|shown|showed|present|presented|hold up|held up|point(?:ed)? at)"
_TO_YOU = r"(?: (?:to )?(?:you|the robot|me))?"
_AWAY = r"(?: up| away| aside| around)?"
_EVENTS = (
    (SceneEvent.SHOWN, rf"(?:which|what)(?: {_NAME})? (?:did|have) (?:i|we) {_SHOW}{_TO_YOU} {_RANK}"),
    (SceneEvent.SHOWN, rf"(?:which|what)(?: {_NAME})? (?:was|were) {_SHOW}{_TO_YOU} {_RANK}"),
    (SceneEvent.SHOWN, rf"(?:which|what)(?: {_NAME})? did you see (?P<r>first|second|third|fourth|fifth)"),
    (SceneEvent.SHOWN, rf"{_NAME}(?: that| which)? (?:i|we) {_SHOW}{_TO_YOU} {_RANK}"),
    (SceneEvent.SHOWN, rf"{_NAME}(?: that| which)? (?:was|were) {_SHOW}{_TO_YOU} {_RANK}"),
    (SceneEvent.SHOWN, rf"the {_RANK} {_NAME}(?: that| which)? (?:i|we) {_SHOW}{_TO_YOU}"),
    (SceneEvent.MOVED, rf"(?:which|what)(?: {_NAME})? (?:was|were) {_MOVED}{_AWAY} {_RANK}"),
    (SceneEvent.MOVED, rf"(?:which|what)(?: {_NAME})? did (?!you\b|i\b){_WHO} {_MOVED}{_AWAY} {_RANK}"),
    (SceneEvent.MOVED, rf"{_NAME} (?:that|which) (?:was|were) {_MOVED}{_AWAY} {_RANK}"),
    (SceneEvent.MOVED, rf"the {_RANK} {_NAME} (?:that|which) (?:was|were) {_MOVED}{_AWAY}"),
)
_PATTERNS = tuple((event, re.compile(f"^{pattern}$")) for event, pattern in _EVENTS)
_WHICH_ONE = re.compile(r"^(?:(?:the|a|of|all|them|these|those) )*(?:ones?|things?|objects?|items?)?$")
_CLAUSE = re.compile(
    r"^(?:the |my |that )?(?P<x>.+?),? (?:that|which) (?:was|were|stood|lay|sat|had been|has been) (?P<p>.+)$"
)
_HEAD = r"\b(?:the|my|that) (?:(?!(?:that|which|and|then|on|in|to)\b)\w+ ){1,4}"
_WAS = r"(?:that|which) (?:was|were|stood|lay|sat|had been)"
_SHORT_UNMOVED = (
    rf"before (?:{_WHO} (?:had |have )?{_MOVED}(?: (?:it|them|anything))?"
    rf"|(?:it|they) (?:was|were) {_MOVED}|(?:(?:the|any|all) )*(?:shuffl\w+|swap\w*|mov\w+|exchange))"
)
_IN_A_ROW = r"(?:in|on|at) the (?:far )?(?:middle|cent(?:er|re)|left|right)(?: (?:side|end))?(?: of the \w+)?"
_NAMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_HEAD}{_WAS} (?:originally|initially|previously|formerly|earlier|at first) {_IN_A_ROW}",
        rf"{_HEAD}{_WAS} (?:(?!(?:that|which|and|then)\b)[\w]+ ){{1,8}}?(?:{_SHORT_UNMOVED}|{_START}|{_BEFORE})\b",
        rf"{_HEAD}(?:(?:that|which) )?(?:i|we) {_SHOW}{_TO_YOU} {_RANK}\b",
        rf"{_HEAD}(?:that|which) (?:was|were) (?:{_MOVED}{_AWAY}|{_SHOW}{_TO_YOU}) {_RANK}\b",
        rf"\bthe {_RANK} (?:\w+ ){{1,3}}?(?:(?:that|which) )?(?:i|we) {_SHOW}{_TO_YOU}\b",
        rf"\bthe {_RANK} (?:\w+ ){{1,3}}?(?:that|which) (?:was|were) {_MOVED}{_AWAY}\b",
    )
)


def read_past(text: str) -> PastPhrase | None:
    """Return a question that looks at a time before, without that time; None where it looks at none."""
    plain = " ".join(one_line(text)[:MOST_LETTERS].lower().replace("\u2019", "'").split()).strip(" ?!.,")
    if (event := _named_event(plain)) is not None:
        return event
    for pattern, instead in _USED_TO:
        if (shorter := pattern.sub(instead, plain)) != plain:
            return PastPhrase((_apart(shorter) or PastPhrase(shorter)).rest, PastMoment.BEFORE)
    return _apart(plain) if _PAST.search(plain) else None


def past_names_in(text: str) -> Iterator[tuple[int, int, PastPhrase]]:
    """Yield each thing that an instruction names by a time before: where its words begin and end, and what they say.

    "The cube that was in the middle before" asks "which cube was in the middle". Without such a time, "the mug that was
    on the table" is none.
    """
    for pattern in _NAMES:
        for found in pattern.finditer(text):
            said = found.group().lower()
            phrase = _named_event(said)
            if phrase is None and (clause := _CLAUSE.match(said)) is not None:
                whole = read_past(f"which {clause['x']} was {clause['p']}")
                phrase = None if whole is None or whole.moment is None else whole
            if phrase is not None:
                yield found.start(), found.end(), phrase


def _named_event(said: str) -> PastPhrase | None:
    for event, pattern in _PATTERNS:
        if (found := pattern.match(said)) is not None:
            return PastPhrase(_thing(found["x"] or ""), None, event, _RANKS[found["r"]])
    return None


def _apart(plain: str) -> PastPhrase | None:
    if (adverb := _ADVERB.search(plain)) is not None:
        moment = PastMoment.START if re.fullmatch(_START, adverb["t"]) else PastMoment.BEFORE
        return PastPhrase(_STOOD.sub("was", f"{plain[: adverb.end('v')]}{plain[adverb.end() :]}"), moment)
    for moment, words in _MOMENTS:
        for pattern in (rf"^(?P<a>.+?),? {words}$", rf"^{words}, (?P<a>.+)$"):
            if (found := re.match(pattern, plain)) is not None:
                return PastPhrase(_STOOD.sub("was", found["a"].strip(" ,")), moment)
    return None


def _thing(name: str) -> str:
    """Return the name of a thing; empty for any one."""
    return "" if _WHICH_ONE.match(name) else name
