"""What an instruction asks for beside the object itself: states that it should have, and what it should not be.

"the clean plate" wants one that is cleaned, "clean the plate" does not: words that are also something to do count as a
state only where something is described by them, after an article or a form of "be".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kc_vla.memory.short_term.unit import State

_ALWAYS = {
    State.HEATED: "heated warmed preheated",
    State.COOKED: "cooked boiled fried roasted baked",
    State.SLICED: "sliced chopped diced minced",
    State.CLEANED: "cleaned washed rinsed wiped spotless",
    State.DIRTY: "dirty unwashed filthy stained soiled",
    State.FILLED: "filled full",
    State.OPENED: "opened unlocked",
    State.CLOSED: "closed shut sealed unopened",
    State.BROKEN: "broken cracked shattered",
    State.USED_UP: "empty emptied depleted finished",
}
_DESCRIBED = {
    State.CLEANED: "clean",
    State.OPENED: "open",
    State.ON: "running",
    State.HEATED: "(?:warm|hot)",
    State.SLICED: "cut",
}
"""Words that describe something only after an article or a form of "be"."""
_PHRASES = {
    State.SLICED: r"cut (?:up|(?:in|into) (?:slices|pieces))|in (?:slices|pieces)|(?:slices|pieces) of",
    State.ON: r"(?:switched|turned|still|left|that is|which is|is) on(?! the| a| my)",
    State.OFF: r"(?:switched|turned|still|left|that is|which is|is) off",
    State.OPENED: r"(?:stands|left|wide|half|still) open",
    State.USED_UP: r"used up|run out|ran out",
    State.HEATED: r"heated up|warmed up",
    State.FILLED: r"full of",
}
_BEFORE = r"(?:\b(?:the|a|an|my|your|one|some|any|is|are|was|still|already|not|very|nice|and|,)\s+(?:\w+\s+|\w+,\s+)?)"
_PAIRS = (
    (State.CLEANED, State.DIRTY),
    (State.OPENED, State.CLOSED),
    (State.ON, State.OFF),
    (State.FILLED, State.USED_UP),
)
_OPPOSITES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_NEGATION = (
    r"\b(?:not(?! find| see| know)|(?:is|are|was|were|has|have)n't|don't want|never|nobody has|yet to be|no longer"
    r"|other than|except(?: for)?|but no|without being|rather than|non)(?: (?:been|being))*[\s-]+"
)
_END_OF_NEGATION = r"(?=[,.;!?]|\bbut\b|\band\b|\bthat\b|\bwhich\b|$)"


@dataclass(frozen=True)
class Instruction:
    """An instruction, understood.

    Attributes:
        text: as it was given.
        meaning: of it, without what it is not about.
        states: of which it should have one; empty where any will do.
        not_states: that it should not have.
        not_meant: what it should not be, in words; each is excluded by itself.
    """

    text: str
    meaning: str
    states: frozenset[State]
    not_states: frozenset[State]
    not_meant: tuple[str, ...]

    @property
    def likely_states(self) -> frozenset[State]:
        """Those it should have one of, or the opposites of those that it should not have."""
        return self.states or frozenset(_OPPOSITES[each] for each in self.not_states if each in _OPPOSITES)


def understand(text: str) -> Instruction:
    """What an instruction asks for."""
    lower = " ".join(text.lower().split())
    negated = [match.group(1) for match in re.finditer(rf"{_NEGATION}(.*?){_END_OF_NEGATION}", lower)]
    meaning = " ".join(
        re.sub(rf"(?:\b(?:that|which) (?:is|are) )?{_NEGATION}.*?{_END_OF_NEGATION}", " ", lower).split()
    )
    not_states = frozenset(state for part in negated for state in _states(f"is {part}"))
    not_meant = tuple(each for part in negated if not _states(f"is {part}") for each in re.split(r"\bn?or\b", part))
    for part in not_meant[:1]:  # "not the white plate, the blue one"
        meaning = re.sub(r"\bones?\b", part.split()[-1], meaning) if part.split() else meaning
    return Instruction(text, meaning or lower, frozenset(_states(meaning)), not_states, not_meant)


def _states(text: str) -> set[State]:
    found = {
        state for state, said in _ALWAYS.items() for word in said.split() if re.search(rf"(?<!be )\b{word}\b", text)
    }
    found |= {state for state, said in _PHRASES.items() if re.search(rf"\b(?:{said})\b", text)}
    found |= {state for state, word in _DESCRIBED.items() if re.search(rf"{_BEFORE}{word}\b", text)}
    return found
