"""The planner that needs no server: by the verbs of household instructions. What it does not understand it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kc_vla.planning.checking import MOST_LETTERS, checked
from kc_vla.planning.grammar.meanings import Meaning, meaning_of
from kc_vla.planning.grammar.reading import clauses_of
from kc_vla.planning.grammar.replanning import hand_at_start, matched, what_is_left
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
        meanings = [meaning_of(each) for each in clauses_of(request.instruction)]
        steps = self._steps(meanings, request, request.recalled)
        if request.tried:  # what a memory tells now may be what the plan itself has made so
            other = self._steps(meanings, request, "")
            steps = max(other, steps, key=lambda each: matched(each.hand.calls, request.tried))
        calls = tuple(steps.hand.calls)
        if request.tried:
            calls = what_is_left(calls, request)
        return Plan(checked(calls, request.in_hand), BY, notes=tuple(dict.fromkeys(steps.notes)))

    def _steps(self, meanings: Sequence[Meaning], request: Request, recalled: str) -> Steps:
        steps = Steps(hand_at_start(request), recalled)
        steps.do(meanings)
        return steps
