"""The planner that needs no server: by the verbs of household instructions. What it does not understand it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kc_vla.planning.checking import MOST_LETTERS, checked
from kc_vla.planning.grammar.meanings import Meaning, meaning_of
from kc_vla.planning.grammar.reading import amounts, clauses_of
from kc_vla.planning.grammar.replanning import matched, what_is_left
from kc_vla.planning.grammar.steps import Steps
from kc_vla.planning.held import without_taking
from kc_vla.planning.instruction import check_instruction, clean
from kc_vla.planning.interface import Plan, PlanningError, Request, Seen
from kc_vla.planning.skills import Call

BY = "grammar"


class GrammarPlanner:
    """See the module; the same request always gets the same plan."""

    def plan(self, request: Request) -> Plan:
        """See `Planner`."""
        check_instruction(request.instruction)
        request = replace(request, in_hand=_cleaned(request.in_hand), held_before=_cleaned(request.held_before))
        meanings = [meaning_of(each) for each in clauses_of(request.instruction)]
        calls, notes = self._steps(meanings, request, request.recalled)
        if request.tried:  # what a memory tells now may be what the plan itself has made so
            other = self._steps(meanings, request, "")
            calls, notes = max(other, (calls, notes), key=lambda each: matched(each[0], request.tried))
            if calls:
                calls = what_is_left(calls, request)
        told = any("it is not said" in each for each in notes)
        notes = [*notes, *(each for each in amounts(request.instruction) if not (told and "'all'" in each))]
        return Plan(checked(calls, request.in_hand) if calls else (), BY, notes=tuple(dict.fromkeys(notes)))

    def _steps(
        self, meanings: Sequence[Meaning], request: Request, recalled: str
    ) -> tuple[tuple[Call, ...], list[str]]:
        """The whole plan, and its notes."""
        held = request.held_before if request.tried else request.in_hand
        steps = Steps(held, recalled)
        steps.do(meanings)
        if not steps.hand.calls:
            raise PlanningError(
                f"nothing is to be done in {request.instruction[:80]!r}: say what, with a verb and a thing"
            )
        calls, notes = without_taking(steps.hand.calls, held)
        return tuple(Call(skill, tuple(names)) for skill, names in calls), [*steps.notes, *notes]


def _cleaned(held: Seen | None) -> Seen | None:
    """With an id that calls can name; by its type where it has none."""
    if held is None:
        return None
    name = (clean(held.object_id) or clean(held.object_type))[:MOST_LETTERS]
    return replace(held, object_id=name) if name else None
