"""What an instruction asks for beside the object itself: states that it should have, and what it should not be.

"the clean plate" wants one that is cleaned, "clean the plate" does not: words that are also something to do count as a
state only where something is described by them, after an article or a form of "be".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.memory.recall.state_words import states_lacking, states_said
from kc_vla.memory.short_term.unit import ObjectState

_PAIRS = (
    (ObjectState.CLEANED, ObjectState.DIRTY),
    (ObjectState.OPENED, ObjectState.CLOSED),
    (ObjectState.ON, ObjectState.OFF),
    (ObjectState.FILLED, ObjectState.USED_UP),
)
_OPPOSITES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_NEGATION = (
    r"\b(?:not(?! find| see| know)|(?:is|are|was|were|has|have)n't|don't want|never|(?:nobody|no one) has|yet to be"
    r"|neither|no longer|other than|except(?: for)?|(?:any|every)thing but|instead of|but no|without being|rather than"
    r"|non)"
    r"(?: (?:been|being))*[\s-]+"
)
_END_OF_NEGATION = (
    r"(?=[,.;!?]|\b(?:but|and|that|which|yet)\b|\s(?:in|on|from) (?:the|my)\b"
    r"|\s(?:you|i|we|somebody|someone|standing|lying|over there|to be|so that)\b|$)"
)
_NON = re.compile(r"\bnon[- ](\w+) (\w+)")
"""A word that negates the next one alone: "a non-dirty plate"."""
_GOING = r"(?:to|into|onto) (?:the|my|our|your|a) \w+(?: \w+)?"
_PLACE = rf"(?:{_GOING}|(?:in|on|inside|at|beside|next to|under) (?:the|my|our|your|a) \w+(?: \w+)?)"
_ASKED = "^(?:please |(?:can|could|will) you )?"
_DESTINATIONS = (
    rf"{_ASKED}(?:put|place|set|lay|leave|store|drop) (?!it\b|them\b).+?(?P<place> {_PLACE})$",
    rf"{_ASKED}(?:move|carry|take|return|bring) .+?(?P<place> (?:over |back )?{_GOING})$",
    rf"(?P<place>,? (?:to be|so that (?:it|they) (?:is|are)) {_PLACE})$",
    rf"(?P<place>,? (?:and|then) (?:put|place|leave|set|store|keep) (?:it|them)(?: down| back)? {_PLACE})$",
)
"""Where something shall be brought, which does not say where it is."""
_STANDS = re.compile(r"\b(?:in|on|inside|beside|next to|under) (?:the|my|our|your|a) \w+(?: \w+)?")


@dataclass(frozen=True)
class Instruction:
    """An instruction, understood.

    Attributes:
        text: as it was given.
        meaning: of it, without what it is not about.
        states: of which it should have one; empty where any will do.
        not_states: that it should not have.
        not_meant: what it should not be, in words; each is excluded by itself.
        places: where it should be: "on the desk".
        negated: it says of something that it is not so, in words of its own.
    """

    text: str
    meaning: str
    states: frozenset[ObjectState]
    not_states: frozenset[ObjectState]
    not_meant: tuple[str, ...]
    places: tuple[str, ...] = ()
    negated: bool = False

    @property
    def likely_states(self) -> frozenset[ObjectState]:
        """Return those it should have one of, or the opposites of those that it should not have."""
        return self.states or frozenset(_OPPOSITES[each] for each in self.not_states if each in _OPPOSITES)


def understand(text: str) -> Instruction:
    """Return what an instruction asks for."""
    lower = re.sub(r"(?<=\w)-(?=(?:on|off|up|open)\b)", " ", " ".join(text.lower().split()))
    for destination in _DESTINATIONS:
        if (match := re.search(destination, lower)) is not None:
            lower = lower[: match.start("place")] + lower[match.end("place") :]
    lower = _NON.sub(r"\2 not \1", lower)
    negated = [match.group(1) for match in re.finditer(rf"{_NEGATION}(\S.*?){_END_OF_NEGATION}", lower)]
    meaning = " ".join(
        re.sub(rf"(?:\b(?:that|which) (?:is|are) )?{_NEGATION}\S.*?{_END_OF_NEGATION}", " ", lower).split()
    )
    said = [(part, states_said(f"is {part}"), states_lacking(part)) for part in negated]
    not_states = states_lacking(meaning).union(*(states for _, states, _ in said))
    states = states_said(meaning).union(*(lacking for _, _, lacking in said))
    not_meant = tuple(
        each for part, *told in said if not any(told) for each in re.split(r"\bn?or\b", part) if each.strip()
    )
    if name := _named(negated):  # "not the white plate, the blue one"
        meaning = re.sub(r"\bones?\b", lambda _: name, meaning)  # as it is: it may have backslashes
    meaning, places = meaning or lower, tuple(_STANDS.findall(meaning))
    return Instruction(text, meaning, frozenset(states), frozenset(not_states), not_meant, places, bool(negated))


def _named(negated: Sequence[str]) -> str:
    """Return the last word of what is negated, where it names a thing: "plate" of "the white plate"."""
    last = [part.split()[-1] for part in negated if part.strip()]
    return next((word for word in last if word != "one" and not states_said(f"is {word}")), "")
