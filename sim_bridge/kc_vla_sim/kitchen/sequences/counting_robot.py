"""The robot of a kitchen as the planner uses it, with a limit of time for each instruction and a count of openings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.results import EXPLORE, SKILL, ExecutionStep
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla_sim.kitchen.sequences.robots import KitchenRobot


class CountingRobot:
    """A `SkillRobot` that passes skills on to the robot of a kitchen.

    Attributes:
        searched: drawers and doors that were opened, or tried, to look for something, in this instruction.
        opened: all that were opened, or tried.
    """

    def __init__(self, robot: KitchenRobot, limit_s: float) -> None:
        """Take the robot.

        Args:
            robot: of the kitchen.
            limit_s: of each instruction, s of the robot's time.
        """
        self._robot, self._limit_s = robot, limit_s
        self._stop: Callable[[str], object] | None = None
        self._ends_s, self.searched, self.opened = 0.0, 0, 0
        self._sought = ""
        robot.each_step = self._keep_to_limit

    def begin(self, stop: Callable[[str], object]) -> None:
        """Begin an instruction.

        Args:
            stop: ends it, and gets the reason.
        """
        self._stop, self._ends_s = stop, self._robot.now_s + self._limit_s
        self.searched = self.opened = 0
        self._sought = ""

    def tell(self, step: ExecutionStep) -> None:
        """Take in a step that the loop reports."""
        if step.kind == EXPLORE:
            self._sought = step.text
        elif step.kind == SKILL:
            self._sought = ""

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        if call.skill == "OpenObject":
            self.opened += 1
            self.searched += self._sought.endswith(f" in {call.arguments[0]}")
        return self._robot.do(call)

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        return self._robot.look()

    def _keep_to_limit(self) -> None:
        if self._stop is not None and self._robot.now_s >= self._ends_s:
            self._stop(f"the instruction took more than {self._limit_s:g} s")
