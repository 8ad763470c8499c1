"""Asks the arm's controller for an emergency stop on behalf of another thread, and tells what it answered."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future

from std_srvs.srv import Trigger

from kc_vla.core import topics
from kc_vla.live.server import Stopped
from kc_vla.ros.base import StackNode

_FIND_S, _ANSWER_S, _AGAIN_S = 3.0, 3.0, 0.5


class StopRequest:
    """The request of one node for an emergency stop, for callers in any thread.

    `kc_vla.ros.emergency_stop` says who answers.
    """

    def __init__(self, node: StackNode) -> None:
        """Make the client of the service.

        Args:
            node: that asks.
        """
        self._node = node
        self._client = node.call(Trigger, topics.STOP)
        self._wanted: deque[Future[Stopped]] = deque()
        self._pass_on = node.from_any_thread(self._ask_all)

    def __call__(self) -> Future[Stopped]:
        """Ask, from any thread; returns at once."""
        wanted: Future[Stopped] = Future()
        self._wanted.append(wanted)
        self._pass_on()
        return wanted

    async def _ask_all(self) -> None:
        while self._wanted:
            wanted = self._wanted.popleft()
            waits = wanted.set_running_or_notify_cancel()  # who has left the page meanwhile wants it no less
            answer = await self._ask()
            if waits:
                wanted.set_result(answer)

    async def _ask(self) -> Stopped:
        until = time.monotonic() + _FIND_S
        while not self._client.service_is_ready():
            if time.monotonic() > until:
                return Stopped(False, False, f"nobody serves {topics.STOP}: the arm's controller does not run")
            await self._node.sleep(0.05)
        answer = await self._node.ask(self._client, Trigger.Request(), _ANSWER_S, _AGAIN_S)
        if answer is None:
            return Stopped(False, False, f"{topics.STOP} has not answered for {_ANSWER_S:g} s")
        return Stopped(True, bool(answer.success), answer.message)
