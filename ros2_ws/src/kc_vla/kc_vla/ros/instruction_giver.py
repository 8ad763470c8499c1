"""Gives a planner instructions, and waits for what comes of each, also where the planner ends meanwhile."""

from __future__ import annotations

import time
from typing import Any

from rclpy.action import ActionClient

from kc_vla.core import topics
from kc_vla.ros.base import StackNode
from kc_vla_msgs.action import ExecuteInstruction

_LOOK_S, _AGAIN_S = 0.1, 0.3
_ANSWER_S = 10.0
"""A planner that does not answer for so long is asked again: the request went to one that has just ended."""
PLANNER_ENDED = "the planner ended while it carried this out"
"""Why an instruction was not done whose planner is gone; the next one is for the planner that is started again."""


class InstructionGiver:
    """The client of a planner, on behalf of a node."""

    def __init__(self, node: StackNode, patience_s: float) -> None:
        """Make the client of the action `execute_instruction`.

        Args:
            node: that is starting, and closes this in its `stop`.
            patience_s: so long a planner may take to accept an instruction, s.
        """
        self._node, self._patience_s = node, patience_s
        self._planner = ActionClient(node, ExecuteInstruction, topics.EXECUTE_INSTRUCTION)

    @property
    def ready(self) -> bool:
        """Return whether a planner is there; it may still refuse instructions until it knows the robot."""
        return bool(self._planner.server_is_ready())

    def close(self) -> None:
        """Destroy the client."""
        self._planner.destroy()

    async def give(self, instruction: str) -> Any:
        """Return the result of an instruction; of one whose planner ends, or that none accepts, the reason."""
        until_s = time.monotonic() + self._patience_s
        while time.monotonic() < until_s:
            if not self.ready:
                await self._node.sleep(_LOOK_S)
                continue
            goal = await self._accepted(instruction)
            if goal is not None:
                return await self._result_of(goal)
            await self._node.sleep(_AGAIN_S)  # it does not know the robot yet, or is one that has just ended
        return ExecuteInstruction.Result(reason="the planner takes no instruction: is its node alive?")

    async def _accepted(self, instruction: str) -> Any:
        """Return the accepted goal; None where the planner refuses it, or does not answer."""
        sent = self._planner.send_goal_async(ExecuteInstruction.Goal(instruction=instruction))
        until_s = time.monotonic() + _ANSWER_S
        while not sent.done():
            if time.monotonic() > until_s:
                return None
            await self._node.sleep(_LOOK_S)
        return sent.result() if sent.result().accepted else None

    async def _result_of(self, goal: Any) -> Any:
        planners, asked = self._planners(), goal.get_result_async()
        while not asked.done():
            if self._planners() - planners or not planners & self._planners():
                return ExecuteInstruction.Result(reason=PLANNER_ENDED)
            await self._node.sleep(_LOOK_S)
        return asked.result().result

    def _planners(self) -> set[tuple[int, ...]]:
        """Return the planners that are there, each by what no other one has."""
        steps = self._node.get_publishers_info_by_topic(self._node.resolve_topic_name(topics.PLANNER_STEPS))
        return {tuple(each.endpoint_gid) for each in steps}
