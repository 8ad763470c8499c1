"""Prints the plan for an instruction: `python -m kc_vla.planning.grammar "wash an apple"`."""

from __future__ import annotations

import argparse

from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import PlanningError, Request


def shown(instruction: str) -> tuple[str, bool]:
    """Return the plan and its notes, a line each, or why there is none; and whether there is one."""
    try:
        plan = GrammarPlanner().plan(Request(instruction))
    except PlanningError as error:
        return f"no plan: {error}", False
    return "\n".join([*map(str, plan.calls), *(f"note: {note}" for note in plan.notes)]), True


def main() -> int:
    """Print what `shown` gives; 1 where there is no plan."""
    parser = argparse.ArgumentParser(prog="python -m kc_vla.planning.grammar", description="Print a plan, by grammar.")
    parser.add_argument("instruction", nargs="+", help='such as "wash an apple"')
    text, planned = shown(" ".join(parser.parse_args().instruction))
    print(text)
    return 0 if planned else 1


if __name__ == "__main__":
    raise SystemExit(main())
