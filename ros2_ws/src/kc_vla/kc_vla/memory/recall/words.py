"""Words of instructions and of units, as they are compared: without endings, and without those that say nothing."""

from __future__ import annotations

import re
from functools import lru_cache

_LITTLE = """\
a an the this that these those some any one ones thing things something anything what which who where there here it
its is are was were be been being am do does did has have had having i me my mine we us our you your he she they them
their his her to of for from with without in on at by into onto out up down off over and or but not no so if then than
as can could would should will shall may might must please need needs want wants like find get give bring fetch take
hand pass go walk look see seen show put pick grab place still just very too also all more most other another lot lots
kind sort used use uses using usually especially made make makes making when while people person someone somebody
usually often"""
_NO_MEANING = frozenset(_LITTLE.split())
_COLOURS = "red orange yellow green blue purple pink brown black white grey gray silver gold"
COLOURS = frozenset(_COLOURS.split())
"""As people say them; a detector may tell others."""
_LEAST = 3
"""Letters that a word keeps without its ending."""


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text that mean something, in order, each without its ending."""
    return tuple(stem(word) for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _NO_MEANING)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return a word without an ending of English grammar: "slices" and "sliced" are the same."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= _LEAST:
            short = word[: len(word) - len(ending)] + instead
            return short[:-1] if len(short) > _LEAST and short[-1] == short[-2] and ending != "s" else short
    return word
