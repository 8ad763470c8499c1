"""Somebody who gives instructions to a household's planner, or skills to its robot, and hears what comes of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla_msgs.action import DoSkill, ExecuteInstruction
from tests.support.node_process import Peer

_ASK_AGAIN_S = 5.0


class Person(Peer):
    """Says what is to be done, and hears what is."""

    def __enter__(self) -> Person:
        super().__enter__()
        self._planner = ActionClient(self.node, ExecuteInstruction, topics.EXECUTE_INSTRUCTION)
        self._skills = ActionClient(self.node, DoSkill, topics.DO_SKILL)
        self.steps: list[Any] = []
        self.truth = self.hear(String, topics.HOUSEHOLD, qos.STATUS)
        return self

    def say(self, instruction: str) -> Any:
        """Give an instruction, again until the planner accepts it: a new one may not know this client yet."""
        self.until(self._planner.server_is_ready)

        def accepted() -> Any:
            goal = self._sent(self._planner, ExecuteInstruction.Goal(instruction=instruction), self.steps.append)
            return goal if goal and goal.accepted else None

        return self.until(accepted)

    def do(self, skill: str, *arguments: str) -> Any:
        """Have a skill done, without a planner; return the goal. It is given again as an instruction is."""
        self.until(self._skills.server_is_ready)
        return self.until(lambda: self._sent(self._skills, DoSkill.Goal(skill=skill, arguments=list(arguments))))

    def _sent(self, client: ActionClient, goal: Any, *told: Callable[[Any], None]) -> Any:
        """Send a goal and return it as it was answered, or None."""
        sent = client.send_goal_async(goal, *told)
        asked = time.monotonic()
        self.until(lambda: sent.done() or time.monotonic() > asked + _ASK_AGAIN_S)
        return sent.result() if sent.done() else None

    def result(self, goal: Any) -> Any:
        """Wait for what comes of a goal."""
        asked = goal.get_result_async()
        return self.until(lambda: asked.done() and asked.result())

    def heard(self, kind: str, words: str) -> bool:
        """Return whether a step was reported."""
        return any(each.feedback.kind == kind and words in each.feedback.text for each in self.steps)

    @property
    def home(self) -> dict[str, Any]:
        """Return what is true."""
        self.until(lambda: self.truth)
        found: dict[str, Any] = json.loads(self.truth[-1].data)
        return found
