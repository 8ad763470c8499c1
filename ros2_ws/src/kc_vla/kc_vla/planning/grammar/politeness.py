"""What people say around what they want: heads of a wish ("I would like", "make sure that") and plain courtesy.

Each line of a table stands for many: words apart by spaces, ways to say one apart by `|`, `_` for a space in a way, and
a way that is empty where it may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from kc_vla.planning.grammar.first_verb import Words, opened, starts_with_verb
from kc_vla.planning.grammar.lexicon import FILLER, word_set


def ways(*lines: str) -> frozenset[Words]:
    """Return all that the lines of a table stand for."""
    return frozenset(
        tuple(" ".join(chosen).replace("_", " ").split())
        for line in lines
        for chosen in product(*(part.split("|") for part in line.split(" ")))
    )


COURTESY = word_set("please kindly possibly perhaps maybe really")
"""Words that change nothing, wherever they stand."""
_IF = "if_you_could|if_you_would|if_you_can"
BEFORE = ways(
    "would|do you mind",
    "could|can|would|will|won't you be|try|| able_to|willing_to|",
    "are|would you able|willing|be_able|be_willing to",
    "is|would it be| possible for_you_to|to",
    "do you think you|we could|can",
    "i|we wonder|was_wondering|were_wondering|am_wondering if_you_could|if_you_can|whether_you_could",
    f"it|that would|'d| be| nice|great|good|kind|helpful|lovely|wonderful|best|better {_IF}|to",
    f"i|we|i'd|we'd would| appreciate it {_IF}",
    f"i|we|i'd|we'd would| be grateful|glad|happy|pleased|delighted {_IF}",
    f"{_IF}|if_you_don't_mind|if_possible|when_you_can|when_you_have_time|when_you_have_a_moment",
    "why_don't_you|why_not|don't_forget_to|do_not_forget_to|never_forget_to",
    "how|what about",
    "would_you|be so kind as|and| to|",
    "do me|us a favour|favor and|,|",
    "may|can|could i|we ask you to",
    "it is|'s| time to|for_you_to",
    "time to",
    "you|you're|you'd|you'll are|had|ought|| supposed|better|meant|| to|",
    "your|the|my|our next|first|| task|job|goal|mission|aim|idea|plan|wish|request is to|that_you",
    "all|what you have|need to_do is to|",
    "i|we|i'd|we'd want|need|like|love|prefer|expect|ask|would_like|would_love|would_prefer you|the_robot|for_you to",
    "i|we want|need|wish|would_like|would_love to",
    "i'd|we'd like|love to",
    "help me|us to|by|out_and|",
    "see if|whether you can|could",
    "hello|hi|hey|ok|okay|so|alright|right|sorry|thanks|robot|hello_robot|hi_robot|excuse_me|now_then",
    "feel free to",
)
"""Before what is to be done."""
BEHIND = ways(
    "thanks|thank_you|many_thanks|thank_you_very_much|thanks_a_lot|cheers",
    "if_you_could|if_you_would|if_you_can|if_you_don't_mind|if_you_please|if_possible|will_you|would_you|can_you|could_you",
    "right_now|right_away|straight_away|at_once|as_soon_as_possible|asap|for_now|this_time|today|ok|okay",
    "when_you_can|when_you_have_time|when_you_get_a_chance|when_you_have_a_moment",
)
"""After it."""
WANTED = ways(
    "i|we want|need|require|wish|expect|prefer|fancy|would_like|would_love|would_prefer|would_appreciate "
    "to_have|to_see|to_get|to_find|for|that|it_so_that|it_if|there_to_be|",
    "i'd|we'd like|love|prefer|appreciate|rather "
    "to_have|have|to_see|to_get|to_find|for|that|it_so_that|it_if|there_to_be|",
    "i|we could_use|could_do_with|wish_for|am_after",
    "i'm|we're after",
    "i'll|we'll have|take",
    "can|could|may|might|shall i|we have|get|see",
    "what|all i|we want|need|would_like is",
    "it would_be|is|'d_be nice|great|good|lovely|best|better to_have",
)
"""Before a thing as it is to be: "the mug on the desk", "the apple washed". Alone it is to be brought."""
ENSURED = ways(
    "make|be sure|certain|| that|",
    "ensure|guarantee|verify|confirm that|",
    "check|see|provide that",
    "see_to_it|take_care|see|arrange|arrange_it|arrange_things|set_things_up|have_it so|| that",
    "it is important|necessary|essential|crucial|vital that",
    "i'd|i_would|we_would|we'd like|love|prefer|appreciate it if",
    "it_would_be|it'd_be|it_is nice|great|good|lovely|best|better if",
    "the goal|aim|idea|plan|task is that",
) - {("make",), ("be",), ("make", "that"), ("be", "that")}
"""Before what is to be so: "the lamp is on", "everything has been washed"."""
LINKS = ways(
    "to be|get|go|end_up|stay|stand|sit|lie|come|have_been|become|return|remain",
    "is|are|was|were|be|being|get|gets|got|goes|go|becomes|become|stays|stay|stands|stand|sits|sit|lies|lie|comes|come",
    "ends|end up",
    "has|have|had been|to_be|to_go",
    "should|must|shall|will|would|can|could|may|might|ought_to|needs_to|need_to|is_to|are_to "
    "be|get|go|end_up|stay|stand|sit|lie|come|have_been|become|return|remain|be_put",
    "sitting|standing|lying|resting|returned",
)
"""Between a thing and what it is to be."""
OBLIGED = ways(
    "should|must|shall|ought_to|needs_to|need_to|has_to|have_to|is_to|are_to|is_supposed_to|are_supposed_to|had_better|"
    "is_meant_to|are_meant_to|wants_to|can|could|may "
    "be|get|go|end_up|stay|stand|sit|lie|come|have_been|become|return|remain",
    "belongs|belong|goes|go",
)
"""Between a thing and what it is to be, where nothing before it says that it is wished for."""
NEEDED = ways("needs|need|wants|want|requires|require|could_use|could_do_with a|some|a_good|a_quick|a_little|")
"""Before "washing", "a wash"."""
JOINS = frozenset(["and", "&", "plus", ",", "then"])


def begins(words: Words, with_one_of: frozenset[Words]) -> int:
    """Return the length of the longest entry that the words begin with; 0 if there is none."""
    longest = max(map(len, with_one_of))
    return next((count for count in range(min(longest, len(words)), 0, -1) if words[:count] in with_one_of), 0)


def plain(words: Words) -> Words:
    """Return a sentence without courtesy, at its beginning, its end, and in between."""
    words = tuple(word for word in words if word not in COURTESY)
    while words:
        if words[0] == ",":
            words = words[1:]
        elif words[-1] == ",":
            words = words[:-1]
        elif count := max((count for count in range(1, min(6, len(words))) if words[-count:] in BEHIND), default=0):
            words = words[:-count]
        else:
            return words
    return words


def without_adverbs(words: Words) -> Words:
    """Return what follows words that say how."""
    while words and (words[0] in FILLER or words[0] in _HOW or (words[0].endswith("ly") and len(words[0]) > 4)):
        words = words[1:]
    return words


def skipped(words: Words, some: Iterable[str]) -> Words:
    """Return what follows any of some words."""
    some = frozenset(some)
    while words and words[0] in some:
        words = words[1:]
    return words


def without_politeness(words: Words) -> Words:
    """Return a clause without what is said before a command or a wish."""
    while words:
        bare = without_adverbs(words)
        if bare != words and (starts_with_verb(opened(bare)) or headed(bare)):
            words = bare
            continue
        count = begins(words, BEFORE)
        rest = skipped(words[count:], [","])
        if not count or not rest or not (starts_with_verb(opened(rest)) or headed(rest) or begins(rest, BEFORE)):
            return words
        if begins(words, WANTED) > count or begins(words, ENSURED) > count:
            return words
        words = rest
    return words


def headed(words: Words) -> bool:
    """Return whether a request begins here."""
    return bool(begins(words, WANTED) or begins(words, ENSURED) or words[:1] in (("have",), ("let",)))


_HOW = word_set("all both always already nicely back nice")
