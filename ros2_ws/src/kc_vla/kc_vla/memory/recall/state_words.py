"""How people say in which state something is.

Beside what is said every day, these are the words that WordNet (Miller, 1995) has close to each state, but for those
that say something else in a household as well.
"""

from __future__ import annotations

import re

from kc_vla.memory.short_term.unit import State

_ALWAYS = {
    State.HEATED: "heated reheated warmed preheated microwaved steaming sizzling",
    State.COOKED: "cooked boiled fried roasted baked poached stewed grilled barbecued braised broiled sauteed seared",
    State.SLICED: "sliced chopped diced minced shredded carved halved quartered",
    State.CLEANED: "cleaned washed rinsed wiped scrubbed polished spotless immaculate pristine speckless unsoiled",
    State.DIRTY: "dirty unwashed uncleaned unclean filthy stained soiled grimy grubby grungy mucky begrimed",
    State.FILLED: "filled full loaded laden brimming brimful overflowing",
    State.OPENED: "opened unlocked unsealed unfastened uncorked ajar",
    State.CLOSED: "closed shut sealed unopened fastened",
    State.BROKEN: "broken cracked shattered smashed busted",
    State.USED_UP: "empty emptied depleted finished exhausted spent drained",
}
_DESCRIBED = {
    State.CLEANED: "clean",
    State.OPENED: "open",
    State.ON: "(?:running|lit|lighted|illuminated|glowing|burning|operating|active)",
    State.OFF: "(?:unlit|unlighted|inactive|idle)",
    State.HEATED: "(?:warm|hot)",
    State.SLICED: "cut",
}
"""Words that describe something only after an article or a form of "be"."""
_PEOPLE = "(?:you|i|we|he|she|they|somebody|someone)"
_KINDS = (
    r"(?:\w+ )?(?:\w*ware|cutlery|furniture|equipment|luggage|art|cloth\w*|fabric|paper|decoration|sports|jewel\w*"
    r"|electr\w+)\b"
)
"""Of which one says "a piece" and means a whole one."""
_PHRASES = {
    State.SLICED: r"cut (?:up|(?:in|into) (?:slices|pieces))|in (?:slices|pieces)"
    rf"|(?:slices?|chunks?|pieces) of|piece of (?!{_KINDS})"
    rf"|{_PEOPLE}(?: has| have)?(?: just| already)? cut",
    State.ON: r"(?:switched|turned|powered|still|left|that is|which is|is|in) (?:on(?! the| a| my| your)|operation)",
    State.OFF: r"(?:switched|turned|powered|still|left|that is|which is|is) off(?! the| a| my| your)",
    State.OPENED: r"(?:stands|left|wide|half|still) open",
    State.USED_UP: r"used up|r[au]n out|all gone|nothing (?:left|in|inside|of)|(?:to be|needs?) replac(?:ed|ing)",
    State.HEATED: r"heated up|warmed up",
    State.FILLED: r"full of|with (?!no\b|nothing\b)(?:\w+ ){1,2}in(?:side)? it|contain(?:s|ing)",
    State.COOKED: r"(?:done|finished) cooking",
    State.DIRTY: r"with (?:dirt|stains|spots|grease|mud|food) on it",
}
_LACKING = {State.COOKED: "raw|uncooked", State.SLICED: "uncut|unsliced"}
"""Words for what has not been done."""
_BEFORE = r"(?:\b(?:the|a|an|my|your|one|some|any|is|are|was|still|already|not|very|nice|and|,)\s+(?:\w+\s+|\w+,\s+)?)"
_DUTY = r"\b(?:needs?|must|has|have|ought|should|still|yet|wants?)(?: still| yet| to)* (?:be|get) (\w+)"
_DUTY_ING = r"\b(?:needs?|wants?)(?: some| a| a good)? (\w+)ing\b"
"""Of what is to be done: "that must be washed", "that needs washing"."""
_CAN_BE_DUE = frozenset(
    {State.HEATED, State.COOKED, State.SLICED, State.CLEANED, State.FILLED, State.OPENED, State.CLOSED}
)


def states_said(text: str) -> set[State]:
    """The states that a text in small letters tells of."""
    found = {
        state for state, said in _ALWAYS.items() for word in said.split() if re.search(rf"(?<!be )\b{word}\b", text)
    }
    found |= {state for state, said in _PHRASES.items() if re.search(rf"\b(?:{said})\b", text)}
    found |= {state for state, word in _DESCRIBED.items() if re.search(rf"{_BEFORE}{word}\b", text)}
    return found


def states_lacking(text: str) -> set[State]:
    """Those that it tells of as not there: "raw" is not cooked, what needs washing is not washed."""
    due = [match.group(1) for match in re.finditer(_DUTY, text)]
    due += [f"{match.group(1)}ed" for match in re.finditer(_DUTY_ING, text)]
    found = {state for word in due for state in states_said(f"is {word}") & _CAN_BE_DUE}
    return found | {state for state, said in _LACKING.items() if re.search(rf"\b(?:{said})\b", text)}
