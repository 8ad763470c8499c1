"""Services asked by the thread of a worker, which waits for the answer while the node's own thread takes it in."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.exceptions import InvalidHandle

from kc_vla.core.errors import StackError
from kc_vla.ros.base import StackNode

_AGAIN_S = 2.0
"""After so long without an answer a request is sent again: a node that was started anew knows nothing of it."""
_LOOK_S = 0.1
_GRACE_S = 1.0
"""A node that works answers sooner: what is asked at the end of an instruction that was stopped still gets through."""


class ServiceError(StackError):
    """A service did not answer, or refused; the text says in one line which, and why."""


class PendingCall:
    """One request and its response, which the node's thread takes in."""

    def __init__(self, client: Any, request: Any) -> None:
        """Send nothing yet.

        Args:
            client: of the service.
            request: to be sent to it.
        """
        self.client, self.request = client, request
        self.answered = threading.Event()
        self.response: Any = None
        self._future: Any = None
        self._sent_s = -math.inf

    def send(self) -> None:
        """Send the request if its service is there: once, and again after 2 s without an answer."""
        now_s = time.monotonic()
        if now_s - self._sent_s < _AGAIN_S or not self.client.service_is_ready():
            return
        if self._future is not None:
            self.client.remove_pending_request(self._future)
        self._sent_s = now_s
        self._future = self.client.call_async(self.request)
        self._future.add_done_callback(self._take)

    def _take(self, done: Any) -> None:
        if not done.cancelled() and done.exception() is None:
            self.response = done.result()
            self.answered.set()


class ServiceCaller:
    """Asks services of other nodes, for the thread of one worker; every request must bear being sent twice.

    A node that is being started again is waited for: the request is sent again when its service is there.
    """

    def __init__(self, node: StackNode, patience_s: float, stopped: Callable[[], str] = str) -> None:
        """Prepare to ask.

        Args:
            node: that is starting, and closes this in its `stop`; its thread must not be the one that asks.
            patience_s: how long an answer is waited for in all, s.
            stopped: says from any thread why nobody waits for an answer any more; empty while it is waited for.
        """
        self._node, self._patience_s, self.stopped = node, patience_s, stopped
        self._closed = False

    def close(self) -> None:
        """Let nobody wait any more, from any thread."""
        self._closed = True

    def ask(self, client: Any, request: Any) -> Any:
        """Return the response of a service that has `success` and `message`.

        Raises:
            ServiceError: it refuses, does not answer in time, or nobody waits for it any more.
        """
        return self.response(self.send(client, request))

    def send(self, client: Any, request: Any) -> PendingCall:
        """Send a request and return at once; `response` waits for the answer, and others can be sent meanwhile.

        Raises:
            ServiceError: the node has ended.
        """
        call = PendingCall(client, request)
        self._send(call)
        return call

    def response(self, call: PendingCall) -> Any:
        """Wait for the response to a request that was sent, and return it.

        Raises:
            ServiceError: as from `ask`.
        """
        began_s, told, name = time.monotonic(), False, call.client.srv_name
        while not call.answered.wait(_LOOK_S):
            waited_s = time.monotonic() - began_s
            why = "the node ends" if self._closed else self.stopped() if waited_s > _GRACE_S else ""
            if why:
                raise ServiceError(f"{name} was not waited for: {why}")
            if waited_s > self._patience_s:
                raise ServiceError(f"{name} has not answered for {self._patience_s:g} s: is its node alive?")
            if waited_s > _AGAIN_S and not told:
                self._node.get_logger().warning(f"{name} does not answer: waiting for its node")
                told = True
            self._send(call)
        if told:
            self._node.get_logger().info(f"{name} answers again")
        self._node.statistics.add("memory answer", time.monotonic() - began_s)
        if not call.response.success:
            raise ServiceError(call.response.message or f"{name} refuses, and does not say why")
        return call.response

    def _send(self, call: PendingCall) -> None:
        try:
            call.send()
        except InvalidHandle as error:  # its client is gone
            raise ServiceError(f"{call.client.srv_name} was not waited for: the node ends") from error
