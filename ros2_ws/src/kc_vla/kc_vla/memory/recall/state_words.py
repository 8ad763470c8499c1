"""How people say in which state something is.

Beside what is said every day, these are the words that WordNet (Miller, 1995) has close to each state, but for those
that say something else in a household as well.
"""

from __future__ import annotations

import re

from kc_vla.memory.short_term.unit import ObjectState

_ALWAYS = {
    ObjectState.HEATED: "heated reheated warmed preheated microwaved steaming sizzling",
    ObjectState.COOKED: "cooked boiled fried roasted baked poached stewed grilled barbecued braised broiled sauteed"
    " seared",
    ObjectState.SLICED: "sliced chopped diced minced shredded carved halved quartered",
    ObjectState.CLEANED: "cleaned washed rinsed wiped scrubbed polished spotless immaculate pristine speckless"
    " unsoiled",
    ObjectState.DIRTY: "dirty unwashed uncleaned unclean filthy stained soiled grimy grubby grungy mucky begrimed",
    ObjectState.FILLED: "filled full loaded laden brimming brimful overflowing",
    ObjectState.OPENED: "opened unlocked unsealed unfastened uncorked ajar",
    ObjectState.CLOSED: "closed shut sealed unopened fastened",
    ObjectState.BROKEN: "broken cracked shattered smashed busted",
    ObjectState.USED_UP: "empty emptied depleted finished exhausted spent drained",
}
_DESCRIBED = {
    ObjectState.CLEANED: "clean",
    ObjectState.OPENED: "open",
    ObjectState.ON: "(?:running|lit|lighted|illuminated|glowing|burning|operating|active)",
    ObjectState.OFF: "(?:unlit|unlighted|inactive|idle)",
    ObjectState.HEATED: "(?:warm|hot)",
    ObjectState.SLICED: "cut",
}
"""Words that describe something only after an article or a form of "be"."""
_PEOPLE = "(?:you|i|we|he|she|they|somebody|someone)"
_KINDS = (
    r"(?:\w+ )?(?:\w*ware|cutlery|furniture|equipment|luggage|art|cloth\w*|fabric|paper|decoration|sports|jewel\w*"
    r"|electr\w+|fruit)\b"
)
"""Nouns after which "a piece" means a whole one."""
_PHRASES = {
    ObjectState.SLICED: r"cut (?:up|(?:in|into) (?:slices|pieces))|in (?:slices|pieces)"
    rf"|(?:slices?|chunks?|pieces) of|piece of (?!{_KINDS})"
    rf"|{_PEOPLE}(?: has| have)?(?: just| already)? cut",
    ObjectState.ON: r"(?:switched|turned|powered|still|left|that is|which is|is|in)"
    r" (?:on(?! the| a| my| your)|operation)",
    ObjectState.OFF: r"(?:switched|turned|powered|still|left|that is|which is|is) off(?! the| a| my| your)",
    ObjectState.OPENED: r"(?:stands|left|wide|half|still) open",
    ObjectState.USED_UP: r"used up|r[au]n out|all gone|nothing (?:left|in|inside|of)|(?:to be|needs?) replac(?:ed|ing)",
    ObjectState.HEATED: r"heated up|warmed up",
    ObjectState.FILLED: r"full of|with (?!no\b|nothing\b)(?:\w+ ){1,2}in(?:side)? it|contain(?:s|ing)",
    ObjectState.COOKED: r"(?:done|finished) cooking",
    ObjectState.DIRTY: r"with (?:dirt|stains|spots|grease|mud|food) on it",
}
_WHOLE = r"whole(?! (?:wheat|grain|milk|meal|set|lot|bunch|family|day|house|room|kitchen|thing)\b)"
"""Not "whole wheat", nor "a whole set"."""
_LACKING = {
    ObjectState.COOKED: "raw|uncooked",
    ObjectState.HEATED: "unheated",
    ObjectState.SLICED: f"uncut|unsliced|intact|{_WHOLE}",
    ObjectState.BROKEN: f"unbroken|intact|undamaged|{_WHOLE}",
    ObjectState.FILLED: "unfilled",
}
"""Words for what has not been done."""
_BEFORE = r"(?:\b(?:the|a|an|my|your|one|some|any|is|are|was|still|already|not|very|nice|and|,)\s+(?:\w+\s+|\w+,\s+)?)"
_DUTY = r"\b(?:needs?|must|has|have|ought|should|still|yet|wants?)(?: still| yet| to)* (?:be|get) (\w+)"
_DUTY_ING = r"\b(?:needs?|wants?)(?: some| a| a good)? (\w+)ing\b"
"""Pattern of what is still to be done: "that must be washed", "that needs washing"."""
_CAN_BE_DUE = frozenset(
    {
        ObjectState.HEATED,
        ObjectState.COOKED,
        ObjectState.SLICED,
        ObjectState.CLEANED,
        ObjectState.FILLED,
        ObjectState.OPENED,
        ObjectState.CLOSED,
    }
)


def states_said(text: str) -> set[ObjectState]:
    """Return the states that a text in small letters names."""
    found = {
        state for state, said in _ALWAYS.items() for word in said.split() if re.search(rf"(?<!be )\b{word}\b", text)
    }
    found |= {state for state, said in _PHRASES.items() if re.search(rf"\b(?:{said})\b", text)}
    found |= {state for state, word in _DESCRIBED.items() if re.search(rf"{_BEFORE}{word}\b", text)}
    return found


def states_lacking(text: str) -> set[ObjectState]:
    """Return the states that a text names as not there: "raw" is not cooked, what needs washing is not washed."""
    due = [match.group(1) for match in re.finditer(_DUTY, text)]
    due += [f"{match.group(1)}ed" for match in re.finditer(_DUTY_ING, text)]
    found = {state for word in due for state in states_said(f"is {word}") & _CAN_BE_DUE}
    return found | {state for state, said in _LACKING.items() if re.search(rf"\b(?:{said})\b", text)}
