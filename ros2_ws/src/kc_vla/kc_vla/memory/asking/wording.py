"""A question as it is compared: without courtesy, short forms written out, what is asked in a clause turned around."""

from __future__ import annotations

import re

from kc_vla.core.untrusted import one_line
from kc_vla.memory.asking.question import MOST_LETTERS, QuestionError

_SHORT = (
    (r"[\u2018\u2019`\u00b4]", "'"),
    (r"\bwhere ?abouts\b(?! of)(?<!the whereabouts)", "where"),
    (r"\b(where|what|who|how|when|that|there|it|which|here)'?s\b(?! (?:the )?(?:own)\b)", r"\1 is"),
    (r"\b(where|what|how|when|they|we|you)'?re\b(?<!were)", r"\1 are"),
    (r"\b(where|what|how|when)'d\b", r"\1 did"),
    (r"\bcan(?:'t|not)\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\b(is|are|was|were|has|have|had|do|does|did|could|would|should|must|need)n't\b", r"\1 not"),
    (r"\b(i|you|we|they|who|what|where)'ve\b", r"\1 have"),
    (r"\b(i|you|we|they)'d\b", r"\1 would"),
    (r"\bi'm\b", "i am"),
    (r"\bgotten\b", "got"),
    (r"\bcolor\b", "colour"),
    (r"\b(?:gonna)\b", "going to"),
)
_NOTHING = re.compile(
    r"\b(?:please|kindly|exactly|actually|currently|right now|at the moment|at present|by any chance|by chance|already"
    r"|ever|really|perhaps|maybe|possibly|again|so far|in fact|yet|presently|precisely|roughly|nowadays|these days"
    r"|as far as you (?:know|remember)|to your knowledge|in your memory|still|even|thanks|thank you|for me"
    r"|on earth|in the world|the hell|the heck)\b"
)
_HEAD = (
    r"(?:hey|hi|hello|ok|okay|so|well|now|right|robot|dear robot|sorry|excuse me|pardon me|by the way|good morning"
    r"|quick question|question|i have a question|one question|listen|and|but|then|hm+|uh+m*)\b[ ,:]*"
)
_KNOW = r"(?:know|remember|recall|tell|say|figure out|work out|find out|see|guess|check|have (?:an|any) idea|show)"
_LEADS = (
    _HEAD,
    rf"(?:can|could|would|will|might) you {_KNOW}(?: to)?(?: me| us)?(?: know)?(?: of| about)?\b[ ,:]*(?=IF)",
    r"(?:can|could|would|will) you (?:let me know|inform me|remind me|help me (?:find|find out|remember))[ ,:]*(?=IF)",
    rf"do (?:you|we) (?:happen to )?{_KNOW}(?: me| us)?\b[ ,:]*(?=IF)",
    r"(?:have|had) (?:you|we) (?:got )?(?:any|an) (?:idea|clue)(?: of| about| as to)?[ ,:]*(?=IF)",
    r"(?:any|an|got any) (?:idea|clue)(?: of| about| as to)?[ ,:]*(?=IF)",
    r"(?:tell|show|remind|inform)(?: me| us)?(?: again)?(?: about)?[ ,:]*(?=IF)",
    r"(?:let me know|say)[ ,:]*(?=IF)",
    r"(?:i|we) (?:would |do )?(?:like|love|want|need|wish) to (?:know|ask|find out)(?: you)?(?: about)?[ ,:]*(?=IF)",
    r"(?:i|we) (?:am |are |was |were )?wonder(?:ing)?(?: about)?[ ,:]*(?=IF)",
    r"(?:i|we) (?:do not|can not|have no idea|forgot|have forgotten|am not sure)(?: know| remember| recall)?["
    r" ,:]*(?=IF)",
    r"(?:is it|would it be) (?:true|right|correct|the case) that (?=.)",
    r"(?:please )?(?:name|list) (?:me )?(?=(?:the|all|every|any)?thing)",
)
_IF = (
    r"(?:if|whether|where|what|which|when|how|who|whose|in which|on which|in what"
    r"|the (?:location|position|place|whereabouts|state|condition|colour|number))\b"
)
_BEGINNINGS = tuple(re.compile(f"^{lead.replace('IF', _IF)}") for lead in _LEADS)
_CLAUSE = re.compile(
    r"^(?P<w>where|how(?! (?:many|much|long|far|often|old|big|tall))|(?:what|which)(?: (?:state|condition"
    r"|colour|place|room|area|floor))?"
    r"|(?:in|on) (?:which|what) \w+(?: \w+)?) "
    r"(?P<x>(?:the|my|your|our|his|her|their|that|this|these|those|all|some|any|an?) .+?|\w+(?: \w+)?) "
    r"(?P<v>is|are|was|were|could be|can be|might be|may be|would be|should be)(?P<r>(?: .+)?)$"
)
_WHETHER = re.compile(r"^(?:if|whether)(?: or not)? (?P<x>.+?) (?P<v>is|are|was|were|has|have) (?P<r>.+?)(?: or not)?$")
_WHETHER_THERE = re.compile(r"^(?:if|whether)(?: or not)? there (?P<v>is|are|was|were) (?P<r>.+?)(?: or not)?$")
_WHETHER_DID = re.compile(r"^(?:if|whether)(?: or not)? (?P<x>i|you|we|they) (?P<v>have |had )?(?P<r>.+?)(?: or not)?$")
_WHERE_DID = re.compile(
    r"^(?P<w>where|when|what) (?P<x>i|you|we|they) (?P<l>last )?(?P<v>could |can |might |have )?(?P<r>.+)$"
)
_VERBS = r"is|are|was|were"


def worded(text: str) -> str:
    """Return a question in its plain form: small letters, no courtesy, no question mark.

    Raises:
        QuestionError: it is empty or too long.
    """
    return _turned(without_tail(without_lead(prepared(text))))


def prepared(text: str) -> str:
    """Return a question in small letters, with short forms written out, and with what people say before it.

    Raises:
        QuestionError: it is empty or too long.
    """
    line = one_line(text).strip()
    if not line:
        raise QuestionError("the question is empty: ask where something is, what is in a place, or in which state")
    if len(line) > MOST_LETTERS:
        raise QuestionError(f"a question of {len(line)} letters: give {MOST_LETTERS} at most")
    plain = line.lower()
    for short, whole in _SHORT:
        plain = re.sub(short, whole, plain)
    plain = re.sub(r"[\"\u201c\u201d]", " ", plain)
    plain = _spaced(_NOTHING.sub(" ", plain).rstrip("?!. "))
    plain = re.sub(
        r"\b(?:most recently|most lately|recently|lately|latest|the last time|last time|last of all)\b", "last", plain
    )
    return _without_asides(re.sub(r"\b(did|have|has|had) (you|i|we) just\b", r"\1 \2 last", plain))


_ASIDES = (
    (re.compile(r"\b(where|what|which|when) (?:do|did|would) you (?:think|suppose|believe|reckon|guess|say)\b"), r"\1"),
    (re.compile(r"^what (?:is|was) it (?:that )?(?=(?:you|i|we)\b)"), "what have "),
    (re.compile(r"\b(what|which) (?:kinds?|types?|sorts?) of\b"), r"\1"),
    (re.compile(r"^of (?=what colour)"), ""),
    (re.compile(r"^(is|are|was|were) there not (?=(?:an?|any|some)\b)"), r"\1 there "),
    (
        re.compile(
            r"^((?:in|on|at|inside) (?:the|my|our) [^,]+), ((?:how|what|which|where|is|are|do|have|did)"
            r" .+)$"
        ),
        r"\2 \1",
    ),
    (re.compile(r"^(.+) (is|are) where$"), r"where \2 \1"),
    (re.compile(r"\bwhere (the .+? (?:that|which) (?:is|are) .+) (is|are)$"), r"where \2 \1"),
    (
        re.compile(
            r"^(is|are|was|were|do|does|did|has|have) not (?=(?:the|my|our|your|there|you|we|i|any|this|that)\b)"
        ),
        r"\1 ",
    ),
    (re.compile(r"^(did|have) (you|we|i) not\b"), r"\1 \2"),
)
_TAILS = (
    re.compile(r",? (?:and|or) (?:if (?:so|yes),? )?where(?: (?:is|are) (?:it|they|that))?$"),
    re.compile(
        r",? (?:the last time|when|last)(?: that)? (?:you|i|we) (?:last )?(?:saw|used|noticed|had|looked at)"
        r" (?:it|them)(?: last)?$"
    ),
    re.compile(
        r",? (?<!\bthe )(?:right|correct|or|or not|or what|is it|is it not|are they|are they not|does it|do you|did you"
        r"|have you|no|yes)$"
    ),
    re.compile(r"(?:, | )(?:do you think|you think|i wonder|in your opinion|if you know)$|, (?:do you know|robot)$"),
)
_TAG = re.compile(r", (?:is|are|was|were|do|does|did|has|have)(?: not)? (?:it|there|they|you|we|i)(?: not)?$")
_THERE = re.compile(r"^there (?P<v>is|are|was|were) (?P<r>.+)$")
_POINTED = re.compile(
    r"^(?:(?:i|we) (?:can not find|can not see|am looking for|are looking for|have lost|lost|need|am missing"
    r"|miss|have misplaced)"
    r" )?(?P<x>(?:the|my|our|that|your|a|an|some) [\w' ]+?)[,.;:?!-]+ ?(?:so |and )?(?P<w>where|in (?:what"
    r"|which) (?:room|state)"
    r"|what (?:state|colour)) (?P<v>is|are|was|were) (?:it|they|that|those)(?P<r>(?: in| now| last| at)*)$"
)
_STATED = re.compile(r"^(?P<x>(?:the|my|our|your|that|all|some|a|an) .+?) (?P<v>is|are|was|were|has|have) (?P<r>.+)$")


def _without_asides(plain: str) -> str:
    """Return a text without "do you think" and the like in its middle; "the watch, where is it" in plain order."""
    for aside, instead in _ASIDES:
        plain = aside.sub(instead, plain)
    plain = " ".join(plain.split())
    if (found := _POINTED.match(plain)) is not None:
        return f"{found['w']} {found['v']} {found['x']}{found['r']}"
    return plain


def without_tail(plain: str) -> str:
    """Return a question without what people say behind it: "right", "and where"; a statement as a question."""
    for tail in _TAILS:
        shorter = tail.sub("", plain)
        if shorter != plain and len(shorter.split()) > 1:
            plain = shorter
    plain = _TAG.sub("", plain)
    if (found := _THERE.match(plain)) is not None:
        return f"{found['v']} there {found['r']}"
    if (found := _STATED.match(plain)) is not None:
        return f"{found['v']} {found['x']} {found['r']}"
    return plain


def without_lead(plain: str) -> str:
    """Return a text without what people say before a question: "do you know where", "tell me"."""
    while True:
        for lead in _BEGINNINGS:
            if (found := lead.match(plain)) is not None and found.end():
                plain = plain[found.end() :].strip(" ,:")
                break
        else:
            return plain


def _spaced(text: str) -> str:
    text = re.sub(r"\s*,\s*", ", ", " ".join(text.split()))
    return text.strip(" ,;:.?!")


def _turned(plain: str) -> str:
    """Return a clause such as "where the mug is" and "whether it is open" in the order of a question."""
    if (found := _WHETHER_THERE.match(plain)) is not None:
        return f"{found['v']} there {found['r']}"
    if (found := _WHETHER.match(plain)) is not None:
        return f"{found['v']} {found['x']} {found['r']}"
    if (found := _WHETHER_DID.match(plain)) is not None:
        return f"{found['v'] or 'did '}{found['x']} {found['r']}"
    if (
        (found := _CLAUSE.match(plain)) is not None
        and not re.match(rf"(?:{_VERBS}|did|do|does|has|have|can|could|might|may|would|should|else)\b", found["x"])
        and (found["w"] in ("where", "how") or " " in found["w"])
    ):
        first, _, second = found["v"].partition(" ")
        return _spaced(f"{found['w']} {first} {found['x']} {second}{found['r']}")
    if (found := _WHERE_DID.match(plain)) is not None:
        verb = (found["v"] or "did ").strip()
        return f"{found['w']} {verb} {found['x']} {found['l'] or ''}{found['r']}"
    return plain
