"""What a planner tells: each step as a line, on a topic and as feedback of a goal, and what it believes on another."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.planning.execution.results import END, MEMORY, RESULT, ExecutionStep, InstructionResult
from kc_vla.planning.instruction import clean
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla_msgs.action import ExecuteInstruction

_BELIEF_S = 0.2
"""Time between two beliefs that are published, s: that of a home with many things is long."""


class PlannerPublisher:
    """The output of a planner on topics and as feedback of its goal.

    `step` is for the thread that carries out, the rest for the node's.
    """

    def __init__(self, node: StackNode) -> None:
        """Advertise the planner's topics.

        Args:
            node: that is starting.
        """
        self.goal: Any = None
        self._told: deque[ExecutionStep] = deque(maxlen=1000)
        self._lock = threading.Lock()
        self._belief = ""
        self._believed_at = self._last_s = 0.0
        self._steps = node.advertise(String, topics.PLANNER_STEPS, qos.EVENT_LOG)
        self._beliefs = node.advertise(String, topics.PLANNER_BELIEF, qos.STATUS)
        self._hear = node.from_any_thread(self.publish)

    def step(self, step: ExecutionStep, belief: Callable[[], dict[str, Any]]) -> None:
        """Queue a step; the belief is asked for now and then, and at the end."""
        self._told.append(step)
        if step.kind in (MEMORY, END) or time.monotonic() - self._believed_at > _BELIEF_S:
            told = json.dumps(belief())
            with self._lock:
                self._belief = told
            self._believed_at = time.monotonic()
        self._hear()

    def publish(self) -> None:
        """Publish what has happened by now."""
        while self._told:
            step = self._told.popleft()
            self.say(str(step))
            self._last_s = step.now_s
            self._steps.publish(String(data=json.dumps(asdict(step))))
            if self.goal is not None and step.kind != MEMORY:
                feedback = ExecuteInstruction.Feedback(kind=step.kind, text=step.text, elapsed=step.now_s)
                self.goal.publish_feedback(feedback)
        with self._lock:
            belief, self._belief = self._belief, ""
        if belief:
            self._beliefs.publish(String(data=belief))

    def end(self, result: InstructionResult, goal: Any) -> None:
        """Publish what came of an instruction, after its last step; the `goal` of the next one may be here by now."""
        self.publish()
        if self.goal is goal:
            self.goal = None
        told = {"kind": RESULT, "text": result.reason, "now_s": self._last_s, "success": result.success}
        self._steps.publish(String(data=json.dumps(told)))
        outcome = "done" if result.success else f"not done: {result.reason}"
        counts = (
            f"{result.seconds:.1f} s, {result.walked_m:.1f} m, {result.explorations} explored, {result.calls} skills"
        )
        self.say(f"'{clean(result.instruction)}': {outcome} (planned by {result.by or 'nobody'}; {counts})")
        for note in result.notes:
            self.say(f"  note: {note}")

    def say(self, text: str) -> None:
        """Print lines at once."""
        for line in text.splitlines():
            print(line, flush=True)


def result_message(result: InstructionResult) -> ExecuteInstruction.Result:
    """Return what came of an instruction, as the action's result."""
    return ExecuteInstruction.Result(
        success=result.success,
        reason=result.reason,
        answer=result.answer,
        planner=result.by,
        duration=result.seconds,
        walked=result.walked_m,
        explorations=result.explorations,
        skills=result.calls,
        replans=result.replans,
        tokens=result.tokens,
        in_hand=result.in_hand,
        notes=list(result.notes),
    )
