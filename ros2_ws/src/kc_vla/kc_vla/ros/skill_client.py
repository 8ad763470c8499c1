"""A body beyond an action: asked by the thread of a worker, which waits; the node's own thread does the talking."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from rclpy.action import ActionClient

from kc_vla.core import topics
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.interface import CallResult, PlanningError
from kc_vla.planning.skills import Call
from kc_vla.ros.base import StackNode
from kc_vla.ros.skills import happened_from, seen_from
from kc_vla_msgs.action import DoSkill
from kc_vla_msgs.srv import LookAround

_CANCEL_S = 5.0
"""How long a skill that was stopped may take to end."""
_LOOK_S, _ASK_AGAIN_S = 120.0, 4.0
"""How long an answer of a look is waited for, and after how long it is asked for anew: the node may have been started
again, and did not hear it."""
_TICK_S, _MOST_SILENT = 1.0, 10
"""The robot's node says several times a second that a skill is being done; after so many s without, it is gone."""


class SkillClient:
    """A `SkillRobot` beyond an action, for the thread of one worker; only `cancel` is for any thread."""

    def __init__(self, node: StackNode, timeout_s: float) -> None:
        """Make the clients of the robot's node.

        Args:
            node: that is starting and closes this in its `stop`.
            timeout_s: of one skill, or look.
        """
        self._node, self._timeout_s = node, timeout_s
        self._client = ActionClient(node, DoSkill, topics.DO_SKILL)
        self._look = node.call(LookAround, topics.LOOK_AROUND)
        self._wake = node.from_any_thread(self._work)
        self._silent = 0
        node.every(_TICK_S, self._watch)
        self._lock = threading.Lock()
        self._asked: Any = None
        self._number = 0
        """Number of the current request; an answer to an earlier one is dropped."""
        self._goal: Any = None
        self._answer: Any = None
        self._answered = threading.Event()
        self._cancelled = False
        self._closed = False

    @property
    def ready(self) -> bool:
        """Return whether the robot's node is there."""
        return bool(self._client.server_is_ready() and self._look.service_is_ready())

    def close(self) -> None:
        """Stop the skill that is being done, and let nobody wait any more; on the node's thread."""
        with self._lock:
            self._closed = True
        if self._goal is not None:
            self._goal.cancel_goal_async()
        self._answered.set()
        self._client.destroy()

    def do(self, call: Call) -> CallResult:
        """Have the robot's node do a skill, wait for its result, and cancel it if it takes too long."""
        began = time.monotonic()
        goal = DoSkill.Goal(skill=call.skill, arguments=list(call.arguments))
        answer = self._ask(goal, self._timeout_s)
        if answer is None and not self._closed:
            self.cancel()
            late = self._answer if self._answered.wait(_CANCEL_S) else None
            if not (isinstance(late, DoSkill.Result) and late.done):  # it came to its end all the same
                reason = f"{call.skill} took more than {self._timeout_s:g} s: it was stopped"
                return CallResult(False, reason, time.monotonic() - began, 0.0)
            answer = late
        if not isinstance(answer, DoSkill.Result):
            return CallResult(False, answer or "the robot's node is ending", time.monotonic() - began, 0.0)
        return happened_from(answer)

    def look(self) -> Sequence[ObservedThing]:
        """Ask the robot's node what it sees now.

        Raises:
            PlanningError: nobody answers.
        """
        until = time.monotonic() + min(self._timeout_s, _LOOK_S)
        while (left := until - time.monotonic()) > 0.0 and not self._closed:
            answer = self._ask(LookAround.Request(), min(left, _ASK_AGAIN_S))
            if isinstance(answer, LookAround.Response):
                return [seen_from(each) for each in answer.seen]
        raise PlanningError("the robot does not say what it sees: is its node alive?")

    def cancel(self) -> None:
        """Have the skill stopped that is being done, from any thread."""
        with self._lock:
            self._cancelled = True
        self._wake()

    def _ask(self, what: Any, timeout_s: float) -> Any:
        """Wait for the answer of the node's thread; None where it did not come in time."""
        with self._lock:
            if self._closed:
                return None
            self._number += 1
            self._asked, self._answer, self._cancelled = what, None, False
            self._answered.clear()
        self._wake()
        return self._answer if self._answered.wait(timeout_s) else None

    # -- on the node's thread -----------------------------------------------------------------------------------

    def _work(self) -> None:
        with self._lock:
            asked, self._asked, cancelled, number = self._asked, None, self._cancelled, self._number
        if isinstance(asked, LookAround.Request):
            self._look.call_async(asked).add_done_callback(lambda future: self._tell(number, future.result()))
        elif asked is not None:
            sent = self._client.send_goal_async(asked, lambda feedback: self._on_feedback())
            sent.add_done_callback(lambda future: self._on_goal(number, future))
        if cancelled and self._goal is not None:
            self._goal.cancel_goal_async()

    def _on_goal(self, number: int, future: Any) -> None:
        goal = future.result()
        if not goal.accepted:
            self._tell(number, "the robot refuses the skill: it is busy with another one")
            return
        self._goal, self._silent = goal, 0
        if self._cancelled or number != self._number:
            goal.cancel_goal_async()
        goal.get_result_async().add_done_callback(lambda done: self._on_result(number, goal, done))

    def _on_feedback(self) -> None:
        self._silent = 0

    def _watch(self) -> None:
        """End the waiting for a node that was killed, or that hangs: nobody else says that its skill is over."""
        self._silent += 1
        if self._goal is not None and self._silent > _MOST_SILENT:
            self._goal.cancel_goal_async()  # where it only hangs, it is not to go on by itself
            self._goal = None
            why = f"the robot's node is gone: it has said nothing of the skill for {_MOST_SILENT * _TICK_S:g} s"
            self._tell(self._number, why)

    def _on_result(self, number: int, goal: Any, future: Any) -> None:
        if self._goal is goal:
            self._goal = None
        self._tell(number, future.result().result)

    def _tell(self, number: int, answer: Any) -> None:
        with self._lock:
            if number != self._number:
                return
            self._answer = answer
            self._answered.set()
