"""Relations in what people say: "the cup between the sink and the fridge, seen from the door", taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kc_vla.memory.references.spatial import DIRECTIONAL, Spatial
from kc_vla.memory.short_term.unit import plain

IT = frozenset({"it", "them", "this", "that", "one"})
MOST_LETTERS = 400
"""Letters of a text that are read."""
_SIDE = r"(?:(?:to|on|at|off to) (?:the|its|your|my) )"
_OF = r"(?:(?:[- ]hand)? side)? ?(?:of|from)"
_RELATIONS = (
    (Spatial.LEFT_OF, rf"{_SIDE}?left{_OF}"),
    (Spatial.RIGHT_OF, rf"{_SIDE}?right{_OF}"),
    (Spatial.IN_FRONT_OF, r"(?:in|at|to) (?:the )?front of|before"),
    (Spatial.BEHIND, r"behind|(?:in|at|to) (?:the )?(?:back|rear) of|in back of"),
    (Spatial.NEAREST, r"(?:nearest|closest)(?: by)?(?: to)?|as (?:near|close) as possible to"),
    (
        Spatial.FARTHEST,
        r"(?:farthest|furthest|most distant|most remote)(?: away)?(?: from)?|as far (?:away )?as possible from",
    ),
    (Spatial.BETWEEN, r"(?:in )?between|in the middle (?:of|between)|amid|amidst"),
    (Spatial.UNDER, r"under(?:neath)?|below|beneath"),
    (Spatial.ABOVE, r"above|(?<!hand )(?<!pass )(?<!take )(?<!turn )(?<!bring )over(?! there)"),
    (
        Spatial.NEXT_TO,
        r"(?:right |directly |immediately )?next to|besides?|alongside(?: of)?|adjacent to|adjoining"
        r"|by the side of|close to|near(?: to)?|nearby|not far from|around|side by side with"
        r"|by(?= (?:the|a|an|my|our|your)\b)",
    ),
)
_HELD = (
    (Spatial.ON, r"(?:right )?on(?:to)?(?: the)? top of|upon|on(?! the (?:left|right)\b)"),
    (Spatial.IN, r"(?:in|from) ?side(?: of)?|within|in(?! (?:slices|pieces|use|operation|the hand)\b)"),
)
_LINK = r"(?:'s|,? ?(?:(?:(?:that|which) )?(?:is|are|stands?|sits?|lies?)|standing|sitting|lying|located|placed))?"
_JUST = r"(?:just |right |directly |immediately |slightly |somewhere )?"
_VERBS = r"(?:as |when )?(?:seen|viewed|looked at|looking|watched|perceived)"
_FROM = re.compile(
    rf"(?:^|,? )(?:{_VERBS} from|from (?:the )?(?:view ?point|point of view|perspective|side|standpoint) of"
    r"|(?:when |if )?(?:you |i |we )?(?:stand|standing) (?:at|by|in|near|next to))"
    r" (?P<from>(?:(?!\b(?:is|are|was|were)\b)[^,])+)(?:, ?|$)"
)
_FROM_LAST = re.compile(r",? (?<!side )(?<!away )from (?P<from>(?:the|my|your|our|a) [\w ]+|here|where [\w ]+)$")
"""Without a verb, where a relation that depends on a viewpoint is named: "left of the mug from the door"."""
_BEFORE = re.compile(
    r"^(?P<articles>(?:(?:the|a|an|my|your|our) )*)(?P<word>nearest|closest|farthest|furthest|most distant)"
    r"(?: (?P<name>.+?))?(?: (?:to|from) (?P<other>.+))?$"
)
_SIDED = re.compile(
    rf"^(?P<name>.+?){_LINK} (?P<word>(?:on|to|at) (?:the|my|your) (?:left|right)(?:[- ]hand side| side)?"
    r"|in front|behind)$"
)
_VIEWER = re.compile(r"(?:me|you|us|the robot|yourself|myself|here|where (?:i|you) (?:am|are|stand))")
_SIDE_WORDS = {
    "left": Spatial.LEFT_OF,
    "right": Spatial.RIGHT_OF,
    "front": Spatial.IN_FRONT_OF,
    "behind": Spatial.BEHIND,
}
_POSSESSED = re.compile(rf"^(?P<name>.+?){_LINK} (?:on|to|at) (?P<other>.+?)'s? (?P<word>left|right)(?: side)?$")
_ARTICLES = re.compile(r"^(?:(?:the|a|an|my|our|your|some|any) )+")
_COUNTED = re.compile(r"^(?:two|both|three|four|2|3|4) (?:of )?(?:the )?")
_NOT = re.compile(r"\b(?:not|isn't|aren't|nothing|nor|never|except|other than|rather than)\b[^,]*$")
_NO_RELATION = re.compile(
    r"\bto$|\b(?:to|can|could|may|might) (?!find\b|see\b)(?:(?:i|you|we) (?!find\b|see\b))?\w+"
    r"(?: up| down| on| in| from| with)?$"
    r"|\b(?:you|i|we) (?!see\b|find\b|have\b|know\b|can\b|could\b)\w+"
)
"""A purpose or an action, which has no relation ("something to sit on in summer", "the cup you put on the table")."""
_QUESTION = re.compile(
    r"^(?P<any>what(?:ever)?|which)(?: (?:thing|object|item)s?)? (?:did|does|do|has|have|can|could) "
    r"(?!.*\b(?:to|for)\b).*$"
)
"""A question after anything that is somewhere: "what did you leave in the sink"."""
_END = " ?.!"


@dataclass(frozen=True)
class SpatialPhrase:
    """A reference with a relation to other things.

    Attributes:
        thing: what is asked for, without the relation.
        relation: None where the text names none.
        others: texts of the things that it is compared with; empty where those are the viewer's surroundings: "the
            nearest mug", "the mug on the left".
        viewpoint: text of where one looks from; empty where none is named, "robot" for the one who is asked.
    """

    thing: str
    relation: Spatial | None = None
    others: tuple[str, ...] = ()
    viewpoint: str = ""


def read_relation(text: str) -> SpatialPhrase:
    """Take a text apart into the thing, its relation, the others and the viewpoint; what it cannot read is the thing.

    A relation of place beside ("left of", "between", "nearest to") is taken before one of a holder ("on", "in"): "the
    mug on the table left of the lamp" is a mug on the table. Of several the first one counts.
    """
    whole = plain(text[:MOST_LETTERS]).strip(_END)
    rest, viewpoint = _without_viewpoint(whole.lower())
    found = _superlative(rest) or _split(rest, _RELATIONS) or _sided(rest) or _split(rest, _HELD)
    if found is None:
        return SpatialPhrase(rest.strip(" ,") if viewpoint else whole, None, (), viewpoint)
    thing, relation, others = found
    if not others and re.search(r"\b(?:my|your) (?:left|right)\b", rest):
        viewpoint = "robot"
    if relation in DIRECTIONAL and not viewpoint and others:
        others, viewpoint = _viewpoint_at_end(others)
    if others and all(_VIEWER.fullmatch(each) for each in others):
        return SpatialPhrase(thing, Spatial.NEAREST if relation is Spatial.NEXT_TO else relation, (), "robot")
    return SpatialPhrase(thing, relation, others, viewpoint)


_HOLDS = frozenset({Spatial.ON, Spatial.IN})
"""Relations that detectors report in words, and that nobody needs to compute."""


@lru_cache(maxsize=1024)
def relation_of(text: str) -> SpatialPhrase | None:
    """Return how a named thing stands to others, where poses have to be compared for it; None where none is named.

    What it is on or in is none of these.
    """
    phrase = read_relation(text)
    return phrase if phrase.relation is not None and phrase.relation not in _HOLDS else None


def without_relation(name: str) -> str:
    """Return a name without how the thing stands to others: "mug left of lamp" is "mug"."""
    phrase = relation_of(name)
    return name if phrase is None else phrase.thing


_Found = tuple[str, Spatial, tuple[str, ...]]


def _without_viewpoint(text: str) -> tuple[str, str]:
    """Return a text without its viewpoint, and that."""
    match = _FROM.search(text)
    if match is None:
        return text, ""
    rest = f"{text[: match.start()]} {text[match.end() :]}".strip(" ,")
    return " ".join(rest.split()), _viewer(match["from"])


def _viewpoint_at_end(others: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    match = _FROM_LAST.search(others[-1])
    if match is None:
        return others, ""
    return (*others[:-1], _named(others[-1][: match.start()])), _viewer(match["from"])


def _viewer(text: str) -> str:
    return "robot" if _VIEWER.fullmatch(text.strip()) else _named(text)


def _superlative(text: str) -> _Found | None:
    """Return "the nearest mug to the door", "nearest mug"."""
    match = _BEFORE.match(text)
    if match is None or (match["name"] or "").startswith(("to ", "from ")):
        return None
    relation = Spatial.NEAREST if match["word"] in ("nearest", "closest") else Spatial.FARTHEST
    return match["name"] or "thing", relation, (_named(match["other"]),) if match["other"] else ()


def _split(text: str, table: tuple[tuple[Spatial, str], ...]) -> _Found | None:
    """Return a text at the first relation of a table."""
    best: tuple[int, int, _Found] | None = None
    for relation, pattern in table:
        match = re.search(rf"^(?P<thing>.*?){_LINK}(?:^| ){_JUST}(?:{pattern}) (?P<others>.+)$", text)
        if match is None or match["others"] in IT or any(each.search(match["thing"]) for each in (_NOT, _NO_RELATION)):
            continue
        at = (len(match["thing"]), match.start("others") * -1)
        if best is None or at < best[:2]:
            thing = _QUESTION.sub(r"\g<any>", match["thing"].strip(" ,")) or "thing"
            found = thing, relation, _others(match["others"], relation)
            best = (*at, found)
    return None if best is None else best[2]


def _sided(text: str) -> _Found | None:
    """Return "the mug on the left", "the cup on the lamp's right"."""
    if (match := _POSSESSED.match(text)) is not None:
        return match["name"], _SIDE_WORDS[match["word"]], (_named(match["other"]),)
    if (match := _SIDED.match(text)) is None:
        return None
    word = next(each for each in _SIDE_WORDS if each in match["word"])
    return match["name"], _SIDE_WORDS[word], ()


def _others(text: str, relation: Spatial) -> tuple[str, ...]:
    if relation is not Spatial.BETWEEN:
        return (_named(text),)
    parts = [part for part in re.split(r",? and |, ", text) if part]
    return tuple(_COUNTED.sub("", _named(part)) for part in parts)


def _named(text: str) -> str:
    return _ARTICLES.sub("", text.strip(" ,"))
