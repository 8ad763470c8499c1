"""Questions without a language model: by their patterns. What is not understood is refused, never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from kc_vla.memory.asking.forms_of_actions import ACTION_FORMS
from kc_vla.memory.asking.forms_of_places import CONTENT_FORMS, ORDERED_FORM, WHERE_FORMS
from kc_vla.memory.asking.forms_of_states import CONDITION_FORMS, DUTY_FORM, IS_FORM, STATE_FORMS
from kc_vla.memory.asking.forms_of_things import COUNT_FORMS, FOR_FORMS, LAST_RESORT, THERE_FORMS
from kc_vla.memory.asking.past_words import read_past
from kc_vla.memory.asking.question import MemoryQuestion, QuestionError
from kc_vla.memory.asking.wording import prepared, without_lead, worded

_Form = Callable[[re.Match[str]], MemoryQuestion | None]
_TABLE: tuple[tuple[str, _Form], ...] = (
    DUTY_FORM,
    *FOR_FORMS[-2:],
    *WHERE_FORMS,
    *COUNT_FORMS,
    *ACTION_FORMS,
    *CONDITION_FORMS,
    FOR_FORMS[0],
    *CONTENT_FORMS,
    *FOR_FORMS[1:-2],
    *THERE_FORMS,
    *STATE_FORMS,
    ORDERED_FORM,
    IS_FORM,
    LAST_RESORT,
)
_FORMS = tuple((re.compile(pattern), form) for pattern, form in _TABLE)
"""All patterns of questions, each with what makes a checked question of it; the first that fits counts."""
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|might|may|would|should|will|am)"
_QUESTION = re.compile(
    rf"^(?:(?:where|when) (?:(?:else|in|on|at|inside)\b.*? )?{_AUXILIARY}\b|what\b|which\b|who\b|whose\b|whom\b"
    rf"|why\b|how\b"
    r"|(?:in|on|at|of|inside) (?:which|what)\b|since when\b|(?:is|are|was|were|am|does|did|has|had) "
    r"|(?:do|have) (?:you|we|i|they|any|all|some|someone|somebody|anyone|anybody)\b"
    r"|do (?:the|my|our|your|these|those) .*\b(?:need|have|contain|stand|lie|sit|hang|belong)\b)"
)
_CLAUSE = re.compile(
    r"^(?:if|whether|where|when|what|which|how|the (?:location|position|whereabouts|state|condition|colour|number)) "
)
_REQUEST = re.compile(
    r"^(?:(?:can|could|will|would|may|might|shall|should|must|let|how about|what about|why not|why do not|do you mind"
    r"|is it possible|are you (?:able|willing|free|ready)|is it (?:ok|okay|time|alright)|what (?:i|we|you)|all (?:i|we)"
    r"|(?:if|whether) (?:you|we|i) (?:can|could|would|will|may))\b)"
)
_COMPARED = re.compile(
    r"\b(?:more|fewer|less) (?!than)\w+.* than\b|\bas (?:many|much)\b|\b\w+er than (?:the|a|an|my)\b"
)
_THEN = re.compile(
    r"[,;.] ?(?:then|and|please (?=\w)|so|if (?:so|not|yes|no))\b"
    r"|\b(?:and|then) (?:then |please )?(?:bring|put|take|wash|get|give|open|close|fetch|go|clean|place|slice"
    r"|turn|switch"
    r"|pick|carry|heat|move|cook|tell)\b|[.?!;] +\w+.*\w"
)


def is_question(text: str) -> bool:
    """Return whether a text is a question to the memory, and no request.

    "could you bring me the mug?" is a request, and so is what goes on with one.
    """
    if (past := read_past(text)) is not None and past.moment is not None:
        text = past.rest
    lower = " ".join(text.lower().replace("\u2019", "'").split())
    if _THEN.search(lower):
        return False
    try:
        whole = prepared(text)
    except QuestionError:
        return False
    plain = without_lead(whole)
    if _REQUEST.match(plain):
        return False
    clause = plain != whole and _CLAUSE.match(plain) is not None
    return clause or _QUESTION.match(plain) is not None


def read_question(text: str) -> MemoryQuestion:
    """Return what a question asks for.

    Raises:
        QuestionError: it is not understood, or nothing that is remembered can answer it.
    """
    plain = worded(text)
    if _COMPARED.search(plain):
        raise QuestionError("I do not compare things: ask how many there are, or in which state each one is")
    for pattern, form in _FORMS:
        if (found := pattern.match(plain)) is not None and (question := form(found)) is not None:
            return replace(question, text=text.strip()[:300])
    raise QuestionError(_refusal(plain))


def _refusal(plain: str) -> str:
    first = plain.split()[0] if plain.split() else ""
    if first in ("who", "whose", "whom", "why"):
        return f"I do not know {first}: I remember things, where they are, their states, and what I did with them"
    told = plain if len(plain) <= 60 else f"{plain[:57]}..."
    return (
        f"I do not understand {told!r}: ask where something is, what is in or on a place, in which state a thing is, "
        "how many there are, or what I did with it"
    )
