"""A policy server for tests: nothing but garbage in the first episode, garbage between good chunks in the others."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from contextlib import suppress

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from kc_vla.core import topics
from kc_vla.core.chunk import TOOL_DELTA_NAMES
from kc_vla_msgs.msg import ActionChunk
from kc_vla_msgs.srv import ExpertChunk, PredictChunk

HORIZON = 16
BETWEEN = 3
"""In the later episodes, every so many-th answer is garbage."""


def _with_value(index: int, value: float) -> Callable[[ActionChunk], None]:
    def spoil(chunk: ActionChunk) -> None:
        chunk.actions[index] = value

    return spoil


def _with(**fields: object) -> Callable[[ActionChunk], None]:
    def spoil(chunk: ActionChunk) -> None:
        for name, value in fields.items():
            setattr(chunk, name, value)

    return spoil


def _older(chunk: ActionChunk) -> None:
    chunk.sequence = max(0, chunk.sequence - 1)


def _far_joints(chunk: ActionChunk) -> None:
    chunk.action_type = ActionChunk.JOINT_POSITION
    chunk.actions = array("f", [1e6] * len(chunk.actions))


def _narrow(chunk: ActionChunk) -> None:
    chunk.names, chunk.dimension = list(TOOL_DELTA_NAMES[:6]), 6
    chunk.actions = array("f", [0.0] * HORIZON * 6)


GARBAGE: dict[str, Callable[[ActionChunk], None]] = {
    "not a number": _with_value(24, math.nan),
    "infinite": _with_value(8, math.inf),
    "a step of 5 m": _with_value(14, 5.0),
    "a turn of 3 rad": _with_value(17, -3.0),
    "an opening of 7": _with_value(20, 7.0),
    "cut short": _with(actions=array("f", [0.0] * 5)),
    "empty": _with(horizon=0, actions=array("f")),
    "six numbers": _narrow,
    "wrong names": _with(names=["a", "b", "c", "d", "e", "f", "g"]),
    "an unknown kind": _with(action_type=9),
    "far joints": _far_joints,
    "an older number": _older,
    "from the future": _with(observation_frame=4_000_000),
    "of another episode": _with(episode_id="counting-000000-of-yesterday"),
}


class RoguePolicy(Node):
    """Serves `predict_chunk`."""

    def __init__(self) -> None:
        super().__init__("policy_server")
        group = ReentrantCallbackGroup()
        self._expert = self.create_client(ExpertChunk, topics.EXPERT_CHUNK, callback_group=group)
        self.create_service(PredictChunk, topics.PREDICT_CHUNK, self._predict, callback_group=group)
        self._episodes: list[str] = []
        self._answers = 0
        self._spoils = list(GARBAGE.values())

    async def _predict(self, request: PredictChunk.Request, response: PredictChunk.Response) -> PredictChunk.Response:
        if request.episode_id not in self._episodes:
            self._episodes.append(request.episode_id)
        frame = request.observation_frame
        plan = await self._expert.call_async(
            ExpertChunk.Request(episode_id=request.episode_id, observation_frame=frame, horizon=HORIZON)
        )
        response.success, response.message = plan.success, plan.message
        if not plan.success:
            return response
        chunk = response.chunk
        chunk.episode_id, chunk.sequence, chunk.observation_frame = request.episode_id, request.sequence, frame
        chunk.action_type, chunk.names, chunk.backend = ActionChunk.TOOL_DELTA, list(TOOL_DELTA_NAMES), "rogue"
        chunk.period, chunk.horizon, chunk.dimension = 0.05, HORIZON, len(TOOL_DELTA_NAMES)
        chunk.actions = plan.actions
        self._answers += 1
        if len(self._episodes) == 1 or self._answers % BETWEEN == 0:
            spoil = self._spoils.pop(0)
            self._spoils.append(spoil)
            spoil(chunk)
        return response


def main() -> None:
    """Run the node until it is interrupted."""
    rclpy.init()
    # What interrupts it has shut the middleware down already; a second shutdown beside that one fails now and then.
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(RoguePolicy())


if __name__ == "__main__":
    main()
