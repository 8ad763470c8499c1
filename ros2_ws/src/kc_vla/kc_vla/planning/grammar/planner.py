"""The planner that needs no server: by the verbs of household instructions. What it does not understand it says."""

from __future__ import annotations

from dataclasses import replace

from kc_vla.planning.checking import MOST_LETTERS, checked
from kc_vla.planning.grammar.meanings import meaning_of
from kc_vla.planning.grammar.reading import clauses_of
from kc_vla.planning.grammar.replanning import hand_at_start, what_is_left
from kc_vla.planning.grammar.steps import Steps
from kc_vla.planning.instruction import check_instruction, clean
from kc_vla.planning.interface import Plan, Request

BY = "grammar"


class GrammarPlanner:
    """See the module; the same request always gets the same plan."""

    def plan(self, request: Request) -> Plan:
        """See `Planner`."""
        check_instruction(request.instruction)
        request = replace(request, in_hand=clean(request.in_hand)[:MOST_LETTERS])
        steps = Steps(hand_at_start(request), request.recalled)
        steps.do([meaning_of(each) for each in clauses_of(request.instruction)])
        calls = tuple(steps.hand.calls)
        if request.tried:
            calls = what_is_left(calls, request)
        return Plan(checked(calls, request.in_hand), BY, notes=tuple(dict.fromkeys(steps.notes)))
