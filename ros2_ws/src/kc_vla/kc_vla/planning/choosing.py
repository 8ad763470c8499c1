"""Which planner plans, by settings: the grammar, a language model, or a model with the grammar behind it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kc_vla.memory.served import Server, ServerError, ServerSettings
from kc_vla.planning import model
from kc_vla.planning.answer_cache import MOST_ENTRIES, AnswerCache
from kc_vla.planning.grammar import planner as grammar
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import Plan, Planner, PlanningError, Request
from kc_vla.planning.model import ModelPlanner

PLANNERS = (grammar.BY, model.BY)


@dataclass(frozen=True)
class PlannerSettings:
    """The settings that choose and configure a planner.

    Attributes:
        planner: "grammar" or "model".
        server: of the language model; its `most_tokens` have to hold a plan: 2000 do.
        offline: the grammar plans where the model does not, and the plan says so in its notes.
        cache: folder for the model's answers; None: it is asked each time.
        cached: answers that are kept there.
    """

    planner: str = grammar.BY
    server: ServerSettings | None = None
    offline: bool = False
    cache: Path | None = None
    cached: int = MOST_ENTRIES


def open_planner(settings: PlannerSettings, hear: Callable[[str], None] = lambda text: None) -> Planner:
    """Return the planner that is configured; nothing is sent yet.

    Args:
        settings: see there.
        hear: is given each bit of a model's answer as it comes.

    Raises:
        PlanningError: the settings make no sense, or the cache cannot be used.
    """
    if settings.planner not in PLANNERS:
        raise PlanningError(f"there is no planner {settings.planner!r}: choose {' or '.join(PLANNERS)}")
    if settings.planner == grammar.BY:
        return GrammarPlanner()
    if settings.server is None:
        raise PlanningError("a language model is to plan and no server is named: give its model and address")
    try:
        cache = AnswerCache(settings.cache, settings.cached) if settings.cache else None
        asked = ModelPlanner(Server(settings.server), cache, hear)
    except ServerError as error:
        raise PlanningError(str(error)) from error
    except (OSError, ValueError) as error:
        raise PlanningError(f"the cache of answers {settings.cache} cannot be used: {error}") from error
    return WithGrammar(asked) if settings.offline else asked


class WithGrammar:
    """A planner with the grammar behind it."""

    def __init__(self, first: Planner) -> None:
        self._first, self._second = first, GrammarPlanner()

    def plan(self, request: Request) -> Plan:
        """Return the first planner's plan, or the grammar's with a note that says why the first made none.

        Raises:
            PlanningError: neither makes a plan; the text has both reasons.
        """
        try:
            return self._first.plan(request)
        except PlanningError as error:
            reason = str(error)
        try:
            plan = self._second.plan(request)
        except PlanningError as error:
            raise PlanningError(f"{reason}; nor is there a plan without it: {error}") from error
        return replace(plan, notes=(f"planned without the language model: {reason}", *plan.notes))


class TimedPlanner:
    """A `Planner` that has another one plan, and reports how long each plan took."""

    def __init__(self, planner: Planner, note: Callable[[float], None]) -> None:
        """Take the planner; `note` gets the time of each plan, s, on the thread that plans."""
        self._planner, self._note = planner, note

    def plan(self, request: Request) -> Plan:
        """Return the plan of the other one; errors as there."""
        began_s = time.monotonic()
        plan = self._planner.plan(request)
        self._note(time.monotonic() - began_s)
        return plan
