"""The planner that asks a language model (KARMA, 3.5), at any server that speaks OpenAI's API."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from kc_vla.memory.served import Cost, Said, Server, ServerError
from kc_vla.planning.answer_cache import AnswerCache
from kc_vla.planning.checking import checked
from kc_vla.planning.in_hand import without_taking
from kc_vla.planning.interface import Plan, PlanningError, Request
from kc_vla.planning.prompt import SCHEMA, CannotError, Message, correction, messages_for, read_answer
from kc_vla.planning.scope import check_scope
from kc_vla.planning.skills import Call

BY = "model"
_REFUSALS = frozenset({400, 404, 415, 422, 501})
"""HTTP statuses by which a server without JSON schemas refuses a request."""


class NoAnswerError(PlanningError):
    """The language model cannot be asked."""


class ModelPlanner:
    """A planner that asks a language model and checks its answer against the skill table and the instruction.

    A wrong answer goes back to the model once, with what is wrong.
    """

    def __init__(
        self, server: Server, cache: AnswerCache | None = None, hear: Callable[[str], None] = lambda text: None
    ) -> None:
        """Keep the server.

        Args:
            server: of a language model.
            cache: of answers; None: it is asked each time.
            hear: is given each bit of an answer as it comes, on the thread that plans.
        """
        self._server, self._cache, self._hear = server, cache, hear
        self._schemas = True

    @property
    def cost(self) -> Cost:
        """Return the cost of all requests so far."""
        return self._server.cost

    def plan(self, request: Request) -> Plan:
        """Ask the model for a plan, and once more if its answer cannot be used.

        Raises:
            NoAnswerError: the server does not answer.
            CannotError: the model says that the instruction cannot be done.
            PlanningError: neither answer can be used.
        """
        messages = messages_for(request)
        notes: list[str] = []
        said, tokens = self._ask(messages, notes)
        try:
            calls, kept = _calls(said, request)
        except CannotError:
            raise
        except PlanningError as wrong:
            notes.append(f"the first answer could not be used: {wrong}")
            said, more = self._ask([*messages, *correction(said, wrong)], notes)
            tokens += more
            try:
                calls, kept = _calls(said, request)
            except CannotError:
                raise
            except PlanningError as again:
                name = self._server.settings.model
                raise PlanningError(
                    f"the model {name} gave no plan that can be done, even after it got the reason: {again}"
                ) from again
        return Plan(calls, BY, tokens, tuple(dict.fromkeys((*notes, *kept))))

    def _ask(self, messages: Sequence[Message], notes: list[str]) -> tuple[str, int]:
        """Return what the model says, and the tokens that it took."""
        settings = self._server.settings
        asked = json.dumps([settings.model, settings.base_url, settings.most_tokens, SCHEMA, list(messages)])
        known = self._cache.get(asked) if self._cache else None
        if known is not None:
            notes.append("an answer was taken from the cache")
            self._hear(known)
            return known, 0
        try:
            said = self._said(messages, notes)
        except ServerError as error:
            raise NoAnswerError(str(error)) from error
        if self._cache:
            try:
                self._cache.put(asked, said.text)
            except OSError as error:
                notes.append(f"an answer could not be kept in the cache: {error}")
        return said.text, said.input_tokens + said.output_tokens

    def _said(self, messages: Sequence[Message], notes: list[str]) -> Said:
        if self._schemas:
            try:
                return self._server.stream(messages, SCHEMA, self._hear)
            except ServerError as error:
                if error.status not in _REFUSALS:
                    raise
        said = self._server.stream(messages, None, self._hear)
        self._schemas = False
        notes.append("the server takes no JSON schema: it was asked for JSON in words")
        return said


def _calls(said: str, request: Request) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    """Return the calls of an answer, and a note on each step that is not needed."""
    calls, notes = without_taking(read_answer(said), request.in_hand)
    if not calls and notes:
        return (), notes
    found = checked(calls, request.in_hand)
    note = check_scope(found, request)
    return found, (*notes, note) if note else notes
