"""Lets coroutines wait until a frame has come in."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.task import Future

from kc_vla.ros.base import StackNode


class FrameGate:
    """Waiting requests of one node, ended by a frame or by time."""

    def __init__(self, node: StackNode, timeout: float) -> None:
        """Begin without a waiting request.

        Args:
            node: that gets the requests.
            timeout: after which a waiting request learns that its frame has not come, s.
        """
        self.timeout = timeout
        self._waiting: list[tuple[int, float, Future]] = []
        node.every(0.1, self._expire)

    async def wait(self, frame: int) -> bool:
        """Return True as soon as `open(newest)` is called with `frame` or a later one, False after the time-out."""
        arrived: Future = Future()
        self._waiting.append((frame, time.monotonic() + self.timeout, arrived))
        return bool(await arrived)

    def open(self, newest: int) -> None:
        """Let those through who wait for `newest` or an earlier frame."""
        self._end(lambda frame, deadline: frame <= newest, True)

    def _expire(self) -> None:
        now = time.monotonic()
        self._end(lambda frame, deadline: deadline < now, False)

    def _end(self, due: Callable[[int, float], bool], answer: bool) -> None:
        ended = [w for w in self._waiting if due(w[0], w[1])]
        self._waiting = [w for w in self._waiting if not due(w[0], w[1])]
        for _, _, arrived in ended:
            arrived.set_result(answer)
