"""What people say that no skill follows: refused where leaving it out would do something else, else a note.

A robot that leaves out "tomorrow", "if it is dirty" or "to my neighbor" does what nobody asked for. One that leaves out
"gently" does what was asked, and says that it did so in its own way.
"""

from __future__ import annotations

import re

from kc_vla.planning.grammar.lexicon import MANNER, PREPOSITIONS, REPLACED, SUPERLATIVES, first_words, word_set
from kc_vla.planning.instruction import clean
from kc_vla.planning.interface import PlanningError

_NUMBER = (
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|half an?|a few|some)"
)
_SPAN = r"(?:seconds?|minutes?|mins?|hours?|days?|weeks?|months?|moment|while)"
_SHIFTED = "move|push|pull|shift|slide|drag|lift|raise|lower"
_LENGTH = r"(?:cm|mm|m|centim\w+|millim\w+|met(?:er|re)s?|inch(?:es)?|foot|feet|steps?)"
_DAY = (
    r"(?:day|morning|noon|afternoon|evening|night|hour|minute|week|month|year|time"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_WHEN = "everything is done once, and now"
_REFUSED = tuple(
    (re.compile(rf"\b(?:{pattern})"), reason)
    for pattern, reason in (
        (rf"in {_NUMBER} (?:more )?{_SPAN}\b", _WHEN),
        (rf"(?:every|each|any) (?:other )?{_DAY}s?\b", _WHEN),
        (rf"(?:next|this|on|by|before|until|till) {_DAY}\b(?! to)", _WHEN),
        (r"at (?:\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\b| ?o'?clock)?(?!\w)|noon\b|midnight\b|night\b|\w+ o'?clock\b)", _WHEN),
        (r"(?:tomorrow|tonight|yesterday|later(?! on the)|daily|weekly|hourly|regularly|forever|from now on)\b", _WHEN),
        (r"(?:whenever|as soon as (?!possible)|as often as|again and again|repeatedly|over and over)\b", _WHEN),
        (r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several|many|a few) times\b", _WHEN),
        (r"(?:in case|provided|assuming|as long as|depending on|otherwise|or else)\b", "a condition is not looked at"),
        (r"(?:other than|apart from|besides|rather than|aside from|excluding)\b", "nothing can be left out"),
        (r"(?:any|every|some)(?:thing|one|body) but\b|(?:any|all|every) (?:\w+ ){0,3}but\b", "nothing can be left out"),
        (
            r"(?:you|i|we) (?:did(?: not|n't)|have(?: not|n't)|do(?: not|n't)|never)\b",
            "what was not done with a thing is not known",
        ),
        (rf"half (?:of )?(?:the|an?|my|your|this|that) (?!{_SPAN}|dozen)\w+", "it is done wholly or not at all"),
        (
            r"(?:throw|toss|hurl|fling)\b[^.,;]*\b(?:to (?:me|us)\b|at (?!once)|over the\b|through\b|out of\b)",
            "where it is thrown is left to the hand",
        ),
        (
            rf"(?:{_SHIFTED})\b[^.;]*\b{_NUMBER} ?{_LENGTH}\b"
            rf"|(?:{_SHIFTED}) (?:\w+ ){{1,5}}(?:to|towards?) the (?:left|right|side|front|back)"
            r"(?= ?(?:$|[.,;]|and\b|then\b))",
            "say to which place, not how far",
        ),
        (
            r"(?:upside[ -]down|face[ -](?:up|down)|in an? (?:row|line|circle|pile|heap)\b|on its side)",
            "how it lies is left to the hand",
        ),
        (r"(?:half ?way|partly|partially|half (?:on|off|open|closed|full|shut))\b", "it is done wholly or not at all"),
        (r"move\b.*\baway from\b", "it has to be said where it goes"),
        (
            r"(?:(?:the )?(?:rest|most|half|none|majority) of (?:the|my|these|those|your) \w+s)\b",
            "say how many, six at most",
        ),
    )
)
_COMPARED = re.compile(
    r"(?:bigg|larg|small|tall|short|long|heavi|light|near|clos|farth|furth|old|new|young|clean|dirti|hott|warm|cold|cool"
    r"|cheap|fresh|full|empti|ripe?|sharp|soft|hard|thick|thinn|bright|dark|nic|wid|deep|high|low)(?:er|est)"
    r"|better|best|worse|worst|least|most"
)
_ALSO_NOUNS = frozenset(["cooler", "lighter", "warmer", "cleaner", "sharper", "dryer", "softer", "freezer", "toaster"])
_OF_PART = re.compile(
    r"\b(?:(?:left|right|front|back|far|near|other|opposite)(?: hand)? (?:side|end|edge|corner)"
    r"|middle|center|centre|edge|corner|bottom|back) of (?:the |an? |my |your )?[a-z]+"
)
_POINTED = re.compile(
    r"(\w+),? (this|that|these|those) (?!is\b|are\b|was\b|you\b|i\b|we\b|can\b|has\b|have\b|one\b|ones\b)(\w+)"
)
_COUNTED_OFF = re.compile(r"\b(?:the|my) (first|second|third|fourth|fifth|sixth|last) ((?:\w+ )?)(?!time|of)(\w+)")
_OTHERS = word_set(
    "him her man woman boy girl kid child children baby wife husband mother father mom dad mum grandma "
    "grandpa brother sister son daughter friend neighbor neighbour guest guests visitor visitors cat dog "
    "pet everyone everybody somebody someone people person family boss colleague roommate doctor nurse "
    "granny uncle aunt"
)


def refuse_limits(text: str) -> None:
    """Check that an instruction has no words that change its meaning and that no skill can follow.

    Raises:
        PlanningError: it has; the text names the words and says why.
    """
    plain = clean(text).lower().replace("\u2019", "'")
    for pattern, reason in _REFUSED:
        if (found := pattern.search(plain)) is not None:
            raise PlanningError(f"not understood: '{found.group().strip()[:60]}' in {plain[:80]!r}: {reason}")


def refuse_compared(words: tuple[str, ...] | list[str], said: str) -> None:
    """Check that no thing is named by a comparison.

    Raises:
        PlanningError: one is.
    """
    for at, word in enumerate(words):
        if word in SUPERLATIVES and not at:  # where things are can be compared
            continue
        noun = at + 1 == len(words) and word in _ALSO_NOUNS
        if _COMPARED.fullmatch(word) and not noun and len(words) > 1:
            raise PlanningError(
                f"not understood: {word!r} in {said[:80]!r}: things are not compared: say which by name"
            )


def refuse_others(words: tuple[str, ...], said: str) -> None:
    """Check that a thing is brought to the speaker or to a place, and to no other person.

    Raises:
        PlanningError: it is to be brought to another person.
    """
    if words and words[-1] in _OTHERS:
        raise PlanningError(f"not understood: {said[:80]!r}: things are brought to you, or to a place that is named")


def replaced(said: str, lamp: bool = False) -> str:
    """Return a note where a clause asks for more than is done for it; empty where it does not.

    Args:
        said: the clause, from its verb on.
        lamp: it is done by the light of one.
    """
    verb = said.partition(" ")[0]
    return f"'{verb}' was taken for {REPLACED[verb]}" if verb in REPLACED and not lamp else ""


def notes_on(text: str) -> list[str]:
    """Return what of an instruction changes nothing in a plan, though it was said: a line each."""
    plain = clean(text).lower().replace("\u2019", "'")
    words = re.findall(r"[\w']+", plain)
    notes = [f"'{word}' was left out: a skill is done in one way" for word in words if word in MANNER]
    notes += [f"'{found.group()}' was taken for the whole" for found in _OF_PART.finditer(plain)]
    for found in _POINTED.finditer(plain):
        before, pointed, noun = found.groups()
        opens = before in first_words() or before in PREPOSITIONS or before in ("me", "and", "up", "then", "to")
        if opens and noun not in plain[: found.start(2)]:
            notes.append(f"'{pointed} {noun}' was taken for 'the {noun}': nobody sees what is pointed at")
    for found in _COUNTED_OFF.finditer(plain):
        if found.group(3) not in plain[: found.start()]:
            notes.append(f"'{found.group(1)}' was not looked at: nothing tells the order of things")
    return list(dict.fromkeys(notes))
