"""A language model that reads questions: it gives the checked form as JSON; the grammar reads where it cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kc_vla.core.untrusted import one_line, parsed_json
from kc_vla.memory.asking.grammar import read_question
from kc_vla.memory.asking.question import (
    ACTIONS,
    COLOUR,
    MOST_LETTERS,
    PREPOSITIONS,
    STATES,
    MemoryQuestion,
    Order,
    PlacePhrase,
    QuestionError,
    QuestionKind,
)
from kc_vla.memory.served import Server, ServerError

_TEXT: Mapping[str, Any] = {"type": "string"}
_FLAG: Mapping[str, Any] = {"type": "boolean"}


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


_FIELDS: Mapping[str, Any] = {
    "answerable": _FLAG,
    "asked": _one_of(*QuestionKind),
    "thing": _TEXT,
    "states": {"type": "array", "items": _one_of(*STATES)},
    "not_states": {"type": "array", "items": _one_of(*STATES)},
    "preposition": _one_of("", *PREPOSITIONS),
    "place": _TEXT,
    "action": _one_of("", *ACTIONS),
    "order": _one_of(*Order),
    "about": _one_of("", COLOUR),
    "colour": _TEXT,
    "negated": _FLAG,
    "every": _FLAG,
    "guess": _FLAG,
}
SCHEMA: Mapping[str, Any] = {
    "name": "question",
    "strict": True,
    "schema": {
        "type": "object",
        "properties": dict(_FIELDS),
        "required": list(_FIELDS),
        "additionalProperties": False,
    },
}
_TASK = """\
You translate a question to a household robot into JSON. The robot remembers things: their types, colors, states, where
they are, when they were seen, and what it did with them. Never answer the question.
- answerable: false if the question is about people, reasons, sizes, prices, the weather, or anything else than that.
- asked: "where" a thing is, "which" things fit, "is there" any, "how many", "when" something happened, "is" a thing so
  (yes or no), or "condition" (in which state it is; with about "colour", which color it has).
- thing: what the question calls it, with its color and article: "the red mug"; empty for anything.
- states, not_states: that it has to be in, or out of. preposition and place: where it is: "in" and "the fridge"; an
  empty preposition for "upstairs".
- action: what was done with it: "seen", "handled" (used), "carried", "put", or the state that it was brought into.
- order: "last", "first", "nearest", "farthest", or empty.
- colour: of a question such as "is the mug red". negated: the question is whether it is not so. every: all have to be.
- guess: a likely place will do: "where could I find a knife".
Leave empty what the question does not say. Answer with the JSON alone."""


class ModelReader:
    """Reads questions with a language model; where it cannot be asked or gives no usable form, by the grammar."""

    def __init__(self, server: Server) -> None:
        """Keep the server.

        Args:
            server: of a language model.
        """
        self._server = server

    def __call__(self, text: str) -> tuple[MemoryQuestion, tuple[str, ...]]:
        """Return the question of a text, and a note where the grammar had to read it.

        Raises:
            QuestionError: neither can, or the model says that nothing that is remembered answers it.
        """
        line = one_line(text)[:MOST_LETTERS]
        messages = [{"role": "system", "content": _TASK}, {"role": "user", "content": line}]
        try:
            said = self._server.stream(messages, SCHEMA, lambda bit: None).text
            form = _form_of(said)
        except (ServerError, QuestionError) as error:
            return read_question(text), (f"read by the grammar: {error}",)
        if not form["answerable"]:
            raise QuestionError(
                "I do not know: I remember things, where they are, their states, and what I did with them"
            )
        return question_of(line, form), ()


def _form_of(said: str) -> Mapping[str, Any]:
    """Return what a model said, as fields of the right types.

    Raises:
        QuestionError: it is none.
    """
    body = said.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        form = parsed_json(body)
    except ValueError as error:
        raise QuestionError("the model gave no JSON") from error
    if not isinstance(form, dict) or set(form) != set(_FIELDS):
        raise QuestionError(f"the model gave no form with the fields {', '.join(_FIELDS)}")
    for name, kind in _FIELDS.items():
        wanted = {"string": str, "boolean": bool, "array": list}[kind["type"]]
        if not isinstance(form[name], wanted) or ("enum" in kind and form[name] not in kind["enum"]):
            raise QuestionError(f"the model gave {json.dumps(form[name])[:60]} as {name}")
    if not all(isinstance(each, str) for each in (*form["states"], *form["not_states"])):
        raise QuestionError("the model gave a state that is no text")
    if form["answerable"]:
        question_of("", form)
    return form


def question_of(text: str, form: Mapping[str, Any]) -> MemoryQuestion:
    """Return the checked question of a form.

    Raises:
        QuestionError: it makes no sense; the message says why.
    """
    return MemoryQuestion(
        text,
        QuestionKind(form["asked"]),
        form["thing"].strip().lower(),
        frozenset(form["states"]),
        frozenset(form["not_states"]),
        PlacePhrase(form["preposition"], form["place"].strip().lower()) if form["place"].strip() else None,
        form["action"],
        Order(form["order"]),
        form["about"],
        form["colour"].strip().lower(),
        form["negated"],
        form["every"],
        form["guess"],
    )
