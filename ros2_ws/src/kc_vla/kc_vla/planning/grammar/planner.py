"""The planner that needs no server: by the verbs of household instructions. What it does not understand it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kc_vla.memory.things import ObservedThing
from kc_vla.planning.checking import MOST_LETTERS, checked
from kc_vla.planning.grammar.limits import notes_on, refuse_limits
from kc_vla.planning.grammar.meanings import ClauseMeaning, meaning_of
from kc_vla.planning.grammar.reading import amounts, clauses_of
from kc_vla.planning.grammar.remembered import RememberedThings
from kc_vla.planning.grammar.replanning import matched, what_is_left
from kc_vla.planning.grammar.steps import Steps
from kc_vla.planning.in_hand import without_taking
from kc_vla.planning.instruction import check_instruction, clean
from kc_vla.planning.interface import Plan, PlanningError, Request
from kc_vla.planning.skills import Call

BY = "grammar"
_NAMELESS = "thing"
"""What is held and has neither an id nor a type that can be written."""


class GrammarPlanner:
    """A planner that reads household instructions by their verbs, and makes the same plan of the same request."""

    def plan(self, request: Request) -> Plan:
        """Plan an instruction clause by clause, with what is remembered of its things.

        Raises:
            PlanningError: a clause is not understood, or no skill can do it; the text names the words.
        """
        check_instruction(request.instruction)
        refuse_limits(request.instruction)
        request = replace(request, in_hand=_cleaned(request.in_hand), held_before=_cleaned(request.held_before))
        meanings = [meaning_of(each) for each in clauses_of(request.instruction)]
        calls, notes = self._steps(meanings, request, RememberedThings(request.known, request.recalled))
        if request.tried:  # what a memory tells now may be what the plan itself has made so
            other = self._steps(meanings, request, RememberedThings())
            calls, notes = max(other, (calls, notes), key=lambda each: matched(each[0], request.tried))
            if calls:
                calls = what_is_left(calls, request)
        told = any("it is not said" in each or "that are known: " in each for each in notes)
        left = [each for each in amounts(request.instruction) if not (told and "taken for one" in each)]
        notes = [*notes, *notes_on(request.instruction), *left]
        return Plan(checked(calls, request.in_hand) if calls else (), BY, notes=tuple(dict.fromkeys(notes)))

    def _steps(
        self, meanings: Sequence[ClauseMeaning], request: Request, remembered: RememberedThings
    ) -> tuple[tuple[Call, ...], list[str]]:
        """Return the whole plan, and its notes."""
        held = request.held_before if request.tried else request.in_hand
        steps = Steps(held, remembered)
        steps.do(meanings)
        if not steps.hand.calls:
            raise PlanningError(
                f"nothing is to be done in {request.instruction[:80]!r}: say what, with a verb and a thing"
            )
        calls, notes = without_taking(steps.hand.calls, held)
        return tuple(Call(skill, tuple(names)) for skill, names in calls), [*steps.notes, *notes]


def _cleaned(held: ObservedThing | None) -> ObservedThing | None:
    """Return what is held with an id that calls can name; it is its type where it has none."""
    if held is None:
        return None
    name = (clean(held.object_id) or clean(held.object_type) or _NAMELESS)[:MOST_LETTERS]
    return replace(held, object_id=name)
