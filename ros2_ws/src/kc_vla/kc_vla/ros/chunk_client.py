"""Asks the policy for chunks: one request at a time, given up after a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kc_vla.core import topics
from kc_vla.execution.scheduler import ChunkRequest
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import floats_array
from kc_vla_msgs.srv import PredictChunk


def request_message(episode_id: str, request: ChunkRequest) -> PredictChunk.Request:
    """Return a request as the policy server takes it."""
    message = PredictChunk.Request(
        episode_id=episode_id,
        observation_frame=request.step,
        sequence=request.sequence,
        frozen_steps=len(request.frozen),
    )
    message.frozen_actions = floats_array(request.frozen)
    return message


class ChunkClient:
    """The arm controller's end of the service `predict_chunk`."""

    def __init__(
        self,
        node: StackNode,
        timeout: float,
        on_answer: Callable[[str, int, PredictChunk.Response], None],
        on_timeout: Callable[[int], None],
    ) -> None:
        """Make the client of the service.

        Args:
            node: that asks.
            timeout: of a request, s.
            on_answer: called with the episode's id, the sequence and the answer.
            on_timeout: called with the sequence after the timeout.
        """
        self._node = node
        self._timeout = timeout
        self._on_answer = on_answer
        self._on_timeout = on_timeout
        self._client = node.call(PredictChunk, topics.PREDICT_CHUNK)
        self._future: Any = None
        self._sequence = -1
        self._asked_at = 0.0
        node.every(min(timeout / 4, 0.1), self._expire)

    def ask(self, episode_id: str, request: ChunkRequest) -> None:
        """Send a request; one that is still waiting is given up."""
        self.forget()
        self._sequence, self._asked_at = request.sequence, time.monotonic()
        self._future = self._client.call_async(request_message(episode_id, request))
        self._future.add_done_callback(lambda done: self._answered(episode_id, request.sequence, done))

    def forget(self) -> None:
        """Give up the request that waits, if one does: its answer will be dropped."""
        if self._future is not None:
            self._client.remove_pending_request(self._future)
            self._future = None

    def _answered(self, episode_id: str, sequence: int, done: Any) -> None:
        if done is not self._future:
            return
        self._future = None
        self._node.statistics.add("chunk_round_trip", time.monotonic() - self._asked_at)
        self._on_answer(episode_id, sequence, done.result())

    def _expire(self) -> None:
        if self._future is not None and time.monotonic() - self._asked_at > self._timeout:
            self.forget()
            self._on_timeout(self._sequence)
