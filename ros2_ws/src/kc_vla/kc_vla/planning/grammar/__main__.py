"""Prints the plan for an instruction: `python -m kc_vla.planning.grammar "wash an apple"`."""

from __future__ import annotations

import sys

from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import PlanningError, Request


def shown(instruction: str) -> str:
    """The plan and its notes, or why there is none, a line each."""
    try:
        plan = GrammarPlanner().plan(Request(instruction))
    except PlanningError as error:
        return f"no plan: {error}"
    return "\n".join([*map(str, plan.calls), *(f"note: {note}" for note in plan.notes)])


if __name__ == "__main__":
    print(shown(" ".join(sys.argv[1:])))
