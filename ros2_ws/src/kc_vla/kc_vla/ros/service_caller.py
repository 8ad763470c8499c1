"""Services asked by the thread of a worker, which waits for the answer while the node's own thread does the talking."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from kc_vla.core.errors import StackError
from kc_vla.ros.base import StackNode

_AGAIN_S = 2.0
"""After so long without an answer a request is sent again: a node that was started anew knows nothing of it."""
_LOOK_S = 0.1
_GRACE_S = 1.0
"""A node that works answers sooner: what is asked at the end of an instruction that was stopped still gets through."""


class ServiceError(StackError):
    """A service did not answer, or refused; the text says in one line which, and why."""


class _Asked:
    """One request, as the thread of the worker and that of the node share it."""

    def __init__(self, client: Any, request: Any) -> None:
        self.client, self.request = client, request
        self.answered = threading.Event()
        self.response: Any = None
        self.future: Any = None
        self.sent_s = -_AGAIN_S


class ServiceCaller:
    """Asks services of other nodes, for the thread of one worker; every request must bear being sent twice.

    A node that is being started again is waited for: the request is sent again when its service is there.
    """

    def __init__(self, node: StackNode, patience_s: float, stopped: Callable[[], str] = str) -> None:
        """Prepare to ask.

        Args:
            node: that is starting, and closes this in its `stop`.
            patience_s: how long an answer is waited for in all, s.
            stopped: says from any thread why nobody waits for an answer any more; empty while somebody does.
        """
        self._node, self._patience_s, self.stopped = node, patience_s, stopped
        self._waiting: deque[_Asked] = deque()
        self._wake = node.from_any_thread(self._send)
        self._closed = False

    def close(self) -> None:
        """Let nobody wait any more, from any thread."""
        self._closed = True

    def ask(self, client: Any, request: Any) -> Any:
        """Return the response of a service that has `success` and `message`.

        Raises:
            ServiceError: it refuses, does not answer in time, or nobody waits for it any more.
        """
        asked, began_s, told = _Asked(client, request), time.monotonic(), False
        self._waiting.append(asked)
        self._wake()
        while not asked.answered.wait(_LOOK_S):
            waited_s = time.monotonic() - began_s
            name = client.srv_name
            why = "the node ends" if self._closed else self.stopped() if waited_s > _GRACE_S else ""
            if why:
                raise ServiceError(f"{name} was not waited for: {why}")
            if waited_s > self._patience_s:
                raise ServiceError(f"{name} has not answered for {self._patience_s:g} s: is its node alive?")
            if waited_s > _AGAIN_S and not told:
                self._node.get_logger().warning(f"{name} does not answer: waiting for its node")
                told = True
            self._waiting.append(asked)
            self._wake()
        if told:
            self._node.get_logger().info(f"{client.srv_name} answers again")
        if not asked.response.success:
            raise ServiceError(asked.response.message or f"{client.srv_name} refuses, and does not say why")
        return asked.response

    def _send(self) -> None:
        """Send what waits to be sent, on the node's thread."""
        while self._waiting:
            asked = self._waiting.popleft()
            now_s = time.monotonic()
            if asked.answered.is_set() or now_s - asked.sent_s < _AGAIN_S or not asked.client.service_is_ready():
                continue  # whoever waits for it has it looked at again
            if asked.future is not None:
                asked.client.remove_pending_request(asked.future)
            asked.sent_s = now_s
            asked.future = asked.client.call_async(asked.request)
            asked.future.add_done_callback(lambda done, asked=asked: _take(asked, done))


def _take(asked: _Asked, done: Any) -> None:
    if not done.cancelled() and done.exception() is None:
        asked.response = done.result()
        asked.answered.set()
