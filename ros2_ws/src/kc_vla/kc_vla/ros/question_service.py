"""The service `ask`: questions to what a robot remembers, answered while it works where the memories are nodes."""

from __future__ import annotations

from kc_vla.core import topics
from kc_vla.inference.worker import Runner
from kc_vla.memory.asking.answer import MemoryAnswer
from kc_vla.memory.asking.answering import Asker, Reader
from kc_vla.planning.execution.questions import open_asker
from kc_vla.planning.execution.robot import RememberingRobot
from kc_vla.ros.base import StackNode
from kc_vla.ros.planner_memory import PlannerMemory
from kc_vla.ros.work import serve
from kc_vla_msgs.srv import Ask


class QuestionService:
    """Answers one question after the other, by a worker."""

    def __init__(
        self, node: StackNode, robot: RememberingRobot, memory: PlannerMemory | None, work: Runner, reader: Reader
    ) -> None:
        """Offer the service.

        Args:
            node: that is active.
            robot: that remembers.
            memory: of the memory nodes, for this alone; None: the robot's own is asked, by the worker that uses it.
            work: answers the questions.
            reader: makes a checked question of a text.
        """
        self._robot, self._memory, self._reader = robot, memory, reader
        self._asker: Asker | None = None
        serve(node, work, [(Ask, topics.ASK, self._ask, _fill)])

    def _ask(self, request: Ask.Request) -> MemoryAnswer:
        if self._asker is None:
            memory = self._robot.memory if self._memory is None else self._memory.open_to_ask()
            self._asker = open_asker(self._robot, self._reader, memory)
        return self._asker.ask(request.question)


def _fill(response: Ask.Response, answer: MemoryAnswer) -> None:
    response.known, response.answer, response.confidence = answer.known, answer.text, float(answer.confidence)
    response.message = "" if answer.understood else answer.text
    response.ids = [each.object_id for each in answer.found]
    response.seen = [float(each.seen_s) for each in answer.found]
    response.confidences = [float(each.confidence) for each in answer.found]
    response.sources = [each.source for each in answer.found]
    response.keyframes = [each.keyframe for each in answer.found]
