"""The closed loop: plan, do each call, take in what is seen, repair, plan anew; what KARMA (limitations) lacks.

A person may say stop, or another instruction, at any time from another thread; what is being done is ended first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count, zip_longest

from kc_vla.core.errors import StackError
from kc_vla.memory.asking.answering import Reader, read_by_grammar
from kc_vla.memory.asking.grammar import is_question
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.robot_memory import RobotMemory
from kc_vla.memory.things import ObservedThing, seen_of
from kc_vla.planning.execution.finding import Finder
from kc_vla.planning.execution.former import FormerNames, FormerThings
from kc_vla.planning.execution.questions import answer_question, open_asker
from kc_vla.planning.execution.results import BEGIN, END, MEMORY, PLAN, InstructionResult, Tell
from kc_vla.planning.execution.robot import ExecutionError, Limits, RememberingRobot
from kc_vla.planning.execution.skill_executor import SkillExecutor
from kc_vla.planning.instruction import clean
from kc_vla.planning.interface import Plan, Planner, PlanningError, Request, SkillRobot, TriedCall

_LINES = 12
"""Lines of the memory's content that are published before and after an instruction."""
_MOST_INSTEAD = 20
_MOST_SAID = 300
"""Letters of an instruction that are reported."""


class Loop:
    """Carries instructions out, one at a time."""

    def __init__(
        self,
        body: SkillRobot,
        planner: Planner,
        memories: RobotMemory,
        grounds: NavigationMap,
        at: str = "",
        tell: Tell | None = None,
        limits: Limits | None = None,
        cancel: Callable[[], None] | None = None,
        reader: Reader = read_by_grammar,
        lasting: Callable[[], float] | None = None,
    ) -> None:
        """Put a robot together that follows instructions.

        Args:
            body: does the skills.
            planner: makes plans.
            memories: of the robot.
            grounds: where it can go.
            at: the area in which it stands; empty where that is not known.
            tell: gets each step.
            limits: of an instruction.
            cancel: makes the body end the skill that it is doing; without, a skill is ended by itself.
            reader: makes checked questions of what people ask.
            lasting: the clock that stamps what else fills the memories; see `RobotClock`.
        """
        self.robot = RememberingRobot(body, memories, grounds, at, tell, limits, lasting)
        self.robot.interrupted = self.interrupted
        self._finder = Finder(self.robot)
        self._doer = SkillExecutor(self.robot, self._finder)
        self._planner, self._cancel, self._reader = planner, cancel, reader
        self._former = FormerThings(self.robot, lambda: open_asker(self.robot, read_by_grammar))
        self._busy = threading.Lock()
        self._lock = threading.Lock()
        self._running, self._why, self._instead = False, "", ""

    def stop(self, why: str = "a person said stop") -> bool:
        """End the instruction that is being carried out, from any thread; return whether one is."""
        return self._interrupt(why, "")

    def instead(self, instruction: str) -> bool:
        """End it, and carry another one out, from any thread; return whether one is being carried out."""
        return self._interrupt("another instruction came", instruction)

    def run(self, instruction: str) -> list[InstructionResult]:
        """Carry an instruction out, and those that come instead of it, 20 at most; see `carry_out`."""
        results = [self.carry_out(instruction)]
        while results[-1].then and len(results) < _MOST_INSTEAD:
            results.append(self.carry_out(results[-1].then))
        return results

    def carry_out(self, instruction: str) -> InstructionResult:
        """Carry an instruction out.

        Raises:
            ExecutionError: another one is being carried out.
        """
        if not self._busy.acquire(blocking=False):
            raise ExecutionError("an instruction is being carried out: stop it, or give this one instead of it")
        try:
            with self._lock:
                self._running, self._why, self._instead = True, "", ""
            return self._carried_out(instruction)
        finally:
            with self._lock:
                self._running = False
            self._busy.release()

    def _carried_out(self, instruction: str) -> InstructionResult:
        robot = self.robot
        began_s, plans, tokens, by = robot.clock.told_s, 0, 0, ""
        robot.begin()
        self._finder.begin()
        tried: list[TriedCall] = []
        notes: dict[str, None] = {}
        reason = ""
        robot.say(BEGIN, clean(instruction[:_MOST_SAID]))
        try:
            robot.look()
            if is_question(instruction):
                return self._answered(instruction)
            robot.say(MEMORY, self._state("before"))
            held_before, former = robot.held, self._former.read(instruction)
            for plans in count():
                plan = self._plan(former, tried, held_before)
                by, tokens = plan.by, tokens + plan.tokens
                notes |= dict.fromkeys(plan.notes)
                reason = self._tried(plan, tried, former)
                if not reason or plans == robot.limits.replans or not robot.limits.feedback:
                    break
                robot.say(PLAN, f"another plan is needed: {reason}")
        except StackError as error:  # interrupted, not planned, not remembered: a full disk, a server that is down
            reason = f"{reason}; {error}" if reason and isinstance(error, PlanningError) else str(error)
        held = robot.held
        robot.say(MEMORY, self._state("after"))
        robot.say(END, reason or "done")
        with self._lock:
            then = self._instead
        return InstructionResult(
            instruction,
            not reason,
            reason,
            by,
            robot.clock.told_s - began_s,
            robot.walked_m,
            robot.explorations,
            robot.calls,
            plans,
            tokens,
            tuple(self._finder.recalls),
            "" if held is None else held.object_id,
            then,
            (*notes, *robot.notes),
        )

    def _answered(self, question: str) -> InstructionResult:
        """Answer a question; the robot stays where it is."""
        result = answer_question(self.robot, question, self._reader)
        self.robot.say(END, result.answer or result.reason)
        with self._lock:
            return replace(result, then=self._instead)

    def _plan(self, former: FormerNames, tried: list[TriedCall], held_before: ObservedThing | None) -> Plan:
        memories, instruction = self.robot.memory, former.text
        recalled = memories.recalled(instruction)
        request = Request(
            instruction,
            memories.surroundings(instruction),
            recalled,
            former.named(self.robot.held),
            tuple(tried),
            former.named(held_before),
            self._known(recalled),
            self.robot.grounds.area_names(),
            self.robot.begun_at,
        )
        plan = self._planner.plan(request)
        if not plan.calls and not plan.notes:
            raise PlanningError(f"the plan of {plan.by} is empty: say the instruction in other words")
        nothing = f"nothing is to be done: {'; '.join(plan.notes)}"
        self.robot.say(PLAN, f"by {plan.by}: {', '.join(map(str, plan.calls)) or nothing}")
        return plan

    def _known(self, recalled: str) -> tuple[ObservedThing, ...]:
        """Return what is in sight or remembered, for the planner, each once."""
        robot = self.robot
        found = {each.object_id: seen_of(each) for each in robot.memory.known(recalled)}
        return tuple((found | {name: robot.sight[name] for name in robot.sight}).values())

    def _tried(self, plan: Plan, tried: list[TriedCall], former: FormerNames) -> str:
        """Do the calls of a plan; return why it failed."""
        for call, following in zip_longest(plan.calls, plan.calls[1:]):
            reason = self._doer.do(former.call(call), None if following is None else former.call(following))
            tried.append(TriedCall(call, reason))
            if reason:
                return f"{call}: {reason}"
        return ""

    def _state(self, when: str) -> str:
        return "\n".join(
            (f"{when}:", *(f"  {line}" for line in self.robot.memory.lines(_LINES, self.robot.clock.began_s)))
        )

    def interrupted(self) -> str:
        """Return why the instruction that is being carried out ends, from any thread; empty while it goes on."""
        with self._lock:
            return self._why

    def _interrupt(self, why: str, instead: str) -> bool:
        with self._lock:
            if not self._running:
                return False
            self._why, self._instead = why, instead
        if self._cancel is not None:
            self._cancel()
        return True
