"""An episode whose instructions a planner carries out: they are given one after another, then the episode ends."""

from __future__ import annotations

from collections.abc import Sequence

from std_srvs.srv import Trigger

from kc_vla.core import topics
from kc_vla.ros.base import StackNode
from kc_vla.ros.instruction_giver import InstructionGiver

_PATIENCE_S = 300.0
"""So long a planner may take to accept an instruction, s: a simulator may take minutes to begin."""
_END_S, _AGAIN_S = 20.0, 3.0


class InstructedEpisode:
    """Gives instructions and ends the episode, on behalf of the node that runs it.

    Attributes:
        results: of each instruction that is over, why it was not done; empty where it was.
    """

    def __init__(self, node: StackNode, instructions: Sequence[str]) -> None:
        """Make the clients of the planner and of what ends the episode.

        Args:
            node: that is starting, and closes this in its `stop`.
            instructions: at least one, in their order.
        """
        self._node, self._instructions = node, tuple(instructions)
        self._giver = InstructionGiver(node, _PATIENCE_S)
        self._end = node.call(Trigger, topics.END_EPISODE)
        self.results: list[str] = []

    @property
    def success(self) -> bool:
        """Return whether all instructions are done, as far as the planner knows."""
        return len(self.results) == len(self._instructions) and not any(self.results)

    @property
    def reason(self) -> str:
        """Return why the first instruction that was not done was not; empty where all that are over were."""
        return next(filter(None, self.results), "")

    def close(self) -> None:
        """Destroy the client of the planner."""
        self._giver.close()

    async def go_through(self) -> None:
        """Give all instructions, one after another, and end the episode; what the memories know stays between them."""
        for instruction in self._instructions:
            result = await self._giver.give(instruction)
            self.results.append("" if result.success else result.reason or "it was not done, and nobody said why")
        if await self._node.ask(self._end, Trigger.Request(), _END_S, _AGAIN_S) is None:
            self._node.problem(f"nobody ends the episode on {topics.END_EPISODE}: is its node alive?")
