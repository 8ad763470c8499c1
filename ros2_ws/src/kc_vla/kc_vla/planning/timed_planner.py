"""A planner whose time for each plan is noted."""

from __future__ import annotations

import time
from collections.abc import Callable

from kc_vla.planning.interface import Plan, Planner, Request


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
