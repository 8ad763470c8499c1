"""Node `planner`: an instruction in, skills out, each fed back into both memories.

What is planned, recalled, explored and done is logged in lines. An instruction that comes while another one is carried
out takes its place; the skill that is being done is stopped first.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from rclpy.action import CancelResponse, GoalResponse
from std_msgs.msg import Bool

from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.memory.asking.answering import Reader, read_by_grammar
from kc_vla.memory.asking.model import ModelReader
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.served import Server
from kc_vla.planning.choosing import TimedPlanner, open_planner
from kc_vla.planning.execution.belief import belief
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.execution.results import ExecutionStep, InstructionResult
from kc_vla.planning.execution.robot import Limits
from kc_vla.planning.model import BY as MODEL
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.planner_memory import PlannerMemory
from kc_vla.ros.planner_parameters import PlannerParameters
from kc_vla.ros.planner_publisher import PlannerPublisher, result_message
from kc_vla.ros.process import run_node
from kc_vla.ros.question_service import QuestionService
from kc_vla.ros.skill_client import SkillClient
from kc_vla.ros.skills import grounds_from
from kc_vla.ros.work import answer, runner
from kc_vla.skills.interface import STILL_STOPPED, STOPPED
from kc_vla_msgs.action import ExecuteInstruction
from kc_vla_msgs.srv import LookAround

_LOOK_S, _ASK_AGAIN_S = 0.2, 2.0
_QUESTIONS = 10
"""That wait at most."""


class PlannerNode(StackNode):
    """The node `planner`, which plans an instruction, has its skills done, and updates both memories."""

    Parameters = PlannerParameters
    parameters: PlannerParameters

    def __init__(self) -> None:
        super().__init__("planner")

    def start(self) -> None:
        """Open planner and memories; the loop begins when the robot has said where it is."""
        values = self.parameters
        self._loop: Loop | None = None
        self._refused = self._stopped = False
        try:
            planning, remembering = values.planner_settings(), values.memory_settings()
            note = partial(self.statistics.add, "plan")
            self._planner = TimedPlanner(open_planner(planning), note)
            embedder = open_embedder(values.embedding)
            self._memory = PlannerMemory(self, remembering, embedder)
            self._asked = PlannerMemory(self, remembering, embedder) if values.memory_nodes else None
            server = planning.server if values.planner == MODEL else None
            self._reader: Reader = read_by_grammar if server is None else ModelReader(Server(server))
        except (StackError, OSError) as error:
            raise StartError(str(error)) from error
        self._work = runner(self, False, "the planner", refusals=(StackError,))
        self._asking = runner(self, False, "the questions", _QUESTIONS, refusals=(StackError,))
        self._voice = PlannerPublisher(self)
        self._body = SkillClient(self, values.skill_timeout)
        self._look = self.call(LookAround, topics.LOOK_AROUND)
        self.subscribe(Bool, topics.STOPPED, self._on_stopped, qos.EVENT_LOG)
        self._server = self.serve_action(
            ExecuteInstruction, topics.EXECUTE_INSTRUCTION, self._execute, self._accept, self._cancel
        )
        self.soon(self._begin)

    def stop(self) -> None:
        """End the instruction, its skill first, and leave the store to others."""
        if self._loop is not None:
            self._loop.stop("the planner ends")
        self._body.close()
        self._memory.close()
        if self._asked is not None:
            self._asked.close()
        self._server.destroy()
        self._work.close()
        self._asking.close()
        self._memory.close_store()

    def details(self) -> dict[str, object]:
        """Return who plans, and with which memory."""
        where = "in nodes of its own" if self.parameters.memory_nodes else "in the planner"
        return {"planner": self.parameters.planner, "memory": f"{self.parameters.memory}, {where}"}

    # -- beginning ----------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        """Wait for the robot, and carry out what the parameters ask for."""
        values = self.parameters
        around = await self._robot(time.monotonic() + values.startup_timeout)
        if around is None:
            self.fail(f"no robot answers on {topics.DO_SKILL} and {topics.LOOK_AROUND}: is its node alive?")
            return
        try:
            self._loop = await answer(self._work, lambda: self._opened(around))
        except StackError as error:
            self.cannot_start(str(error))
            return
        self._memory.stop_waiting(self._loop.interrupted)
        work = self._work if self._asked is None else self._asking
        QuestionService(self, self._loop.robot, self._asked, work, self._reader)
        if values.instruction:
            result = await self._carried_out(values.instruction)
            self.exit_code, self.done = int(not result.success), True

    async def _robot(self, until_s: float) -> LookAround.Response | None:
        """Return where the robot is, as it reports itself; None where it does not in time.

        By then the robot has found all of this node.
        """
        while time.monotonic() < until_s:
            if not self._body.ready:
                await self.sleep(_LOOK_S)
            elif (around := await self.ask(self._look, LookAround.Request(), _ASK_AGAIN_S)) is not None:
                return around
        return None

    def _opened(self, around: LookAround.Response) -> Loop:
        values = self.parameters
        grounds = grounds_from(around.areas)
        memory = self._memory.open(grounds)
        limits = Limits(calls=values.calls)
        told, cancel, lasting = self._tell, self._body.cancel, values.lasting_clock()
        return Loop(self._body, self._planner, memory, grounds, around.at, told, limits, cancel, self._reader, lasting)

    def _tell(self, step: ExecutionStep) -> None:
        """Take in a step of the loop, on its thread."""
        loop = self._loop
        assert loop is not None
        self._voice.step(step, lambda: belief(loop.robot))

    def _on_stopped(self, message: Bool) -> None:
        """End the instruction with the emergency stop: after its release nothing moves before another one is given."""
        self._stopped = message.data
        if message.data and self._loop is not None:
            self._loop.stop(f"{STOPPED}: give the instruction again after its release")

    # -- instructions -------------------------------------------------------------------------------------------

    def _accept(self, goal: ExecuteInstruction.Goal) -> GoalResponse:
        """Accept a goal once the robot is there; it takes the place of another one."""
        if self._loop is None:
            if not self._refused:
                self._refused = True
                self.get_logger().info("the robot is not there yet: an instruction has to wait, and be given again")
            return GoalResponse.REJECT
        self._loop.stop("another instruction came")
        return GoalResponse.ACCEPT

    def _cancel(self, goal: Any) -> CancelResponse:
        if self._loop is not None and goal is self._voice.goal:
            self._loop.stop()
        return CancelResponse.ACCEPT

    async def _execute(self, goal: Any) -> ExecuteInstruction.Result:
        result = await self._carried_out(goal.request.instruction, goal)
        if goal.is_cancel_requested:
            goal.canceled()
        elif result.success:
            goal.succeed()
        else:
            goal.abort()
        return result_message(result)

    async def _carried_out(self, instruction: str, goal: Any = None) -> InstructionResult:
        assert self._loop is not None

        def work() -> InstructionResult:
            assert self._loop is not None
            if goal is not None and goal.is_cancel_requested:  # while it waited for the one before to end
                return _not_done(instruction, "a person said stop")
            if self._stopped:
                return _not_done(instruction, STILL_STOPPED)
            self._voice.goal = goal
            return self._loop.carry_out(instruction)

        try:
            result: InstructionResult = await answer(self._work, work)
            self.problem("")
        except StackError as error:
            self.problem(str(error), ERROR)
            result = _not_done(instruction, str(error))
        self._voice.end(result, goal)
        return result


def _not_done(instruction: str, reason: str) -> InstructionResult:
    return InstructionResult(instruction, False, reason, "", 0.0, 0.0, 0, 0, 0)


def main() -> None:
    """Run the node."""
    run_node(PlannerNode)
