"""The emergency stop of the arm controller: the topic and the services that set and release it, and its record.

A press may reach the stop relay and not this process, which was just started: what the relay puts on record stops the
arm, too. Where the controller before was killed, a press may have reached nobody: then the stop is set at the start,
and an operator has to say that the arm may move.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from kc_vla.arm.stop_latch import PRESSED, LatchError, RunMark, StopLatch
from kc_vla.core import topics
from kc_vla.execution.controller import ArmController
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode

LEFT = "the controller before did not end in order, and a stop that was pressed meanwhile may be lost"
"""What is on record where that was so."""
_WATCH_S = 0.02
"""Between two looks at the record."""
_ANSWER_S = 0.1
"""The stop relay puts the same press on record within this time: a release that follows the answer must come later."""


class EmergencyStop:
    """Sets `ArmController.stopped`, which is latched, and publishes it; one that is on record is set at once."""

    def __init__(self, node: StackNode, controller: ArmController, folder: Path | None) -> None:
        """Serve the emergency stop, and read its record.

        Args:
            node: of the arm controller.
            controller: that is stopped.
            folder: of the record, see `StopLatch`.
        """
        self._node, self._controller = node, controller
        self._halts: list[Callable[[], None]] = []
        self._still_wrong: list[Callable[[], str]] = []
        self._latch, self._mark = StopLatch(folder), RunMark(folder)
        self._why = ""
        self._wants_mark = False
        self._stopped = node.advertise(Bool, topics.STOPPED, qos.EVENT_LOG)
        node.subscribe(Bool, topics.E_STOP, self._on_topic, qos.E_STOP)
        node.serve(Trigger, topics.STOP, self._on_stop)
        node.serve(Trigger, topics.RELEASE_E_STOP, self._on_release)
        if self._latch.is_set:
            self._set()
        else:
            self._stopped.publish(Bool(data=False))
        if folder is not None:
            node.every(_WATCH_S, self._watch)

    @property
    def is_set(self) -> bool:
        """Return whether the arm must stand still."""
        return self._controller.stopped

    @property
    def advice(self) -> str:
        """Return why the arm stands still and what to do; empty while no emergency stop is set."""
        if not self.is_set:
            return ""
        if LEFT in self._why:
            return (
                f"{LEFT}: ask whether anybody pressed it; where the arm may move, call {topics.RELEASE_E_STOP}, "
                f"then {topics.RESUME}"
            )
        return f"the emergency stop is set: call {topics.RELEASE_E_STOP} first"

    def on_set(self, halt: Callable[[], None]) -> None:
        """Have `halt()` called whenever it is set; it brings an arm to rest, and waits for nothing."""
        self._halts.append(halt)

    def on_release(self, still_wrong: Callable[[], str]) -> None:
        """Have `still_wrong()` asked once it is released: what the arm waits for nevertheless; empty if for nothing."""
        self._still_wrong.append(still_wrong)

    def begin(self) -> None:
        """Mark that a controller of this arm runs; set the stop where the one before did not end in order."""
        try:
            left = self._mark.take()
        except LatchError as error:
            self._node.problem(str(error), ERROR)
            left = False
        self._wants_mark = left is None  # another controller is about to end, or this one will be refused
        if left and not self.is_set:
            self._set(LEFT)

    def end(self) -> None:
        """Say on the disk that the controller ends in order: the next one starts without a question."""
        self._mark.release()

    def _watch(self) -> None:
        if self._wants_mark:
            self.begin()
        if not self.is_set and self._latch.is_set:
            self._set()

    def _set(self, reason: str = "") -> str:
        """Set it, and put `reason` on record, if any; return what is wrong with its record, empty if nothing is."""
        self._controller.emergency_stop()
        for halt in self._halts:
            halt()
        wrong = ""
        try:
            if reason:
                self._latch.set(reason)
        except LatchError as error:
            wrong = str(error)
        self._why = self._latch.reason or reason
        self._stopped.publish(Bool(data=True))
        on_record = "" if reason == PRESSED or not self._why else f" (on record: {self._why})"
        advice = f"emergency stop: the arm holds until the service {topics.RELEASE_E_STOP} is called{on_record}"
        self._node.problem(f"{advice}. {wrong}" if wrong else advice, ERROR)
        return wrong

    def _on_topic(self, message: Bool) -> None:
        if message.data:
            self._set(PRESSED)

    async def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        wrong = self._set(PRESSED)
        await self._node.sleep(_ANSWER_S)
        response.success, response.message = True, f"stopped, but not on record: {wrong}" if wrong else "stopped"
        return response

    def _on_release(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            self._latch.clear()
        except LatchError as error:
            response.message = str(error)
            return response
        was_set = self.is_set
        self._controller.release()
        if was_set:
            self._stopped.publish(Bool(data=False))
        wrong = next(filter(None, (tell() for tell in self._still_wrong)), "")
        if was_set:
            self._node.problem(wrong, *([ERROR] if wrong else []))
        told = "released" if was_set else "released: no emergency stop is set"
        response.success, response.message = True, f"{told}, but: {wrong}" if wrong else told
        return response
