"""The emergency stop of the arm controller: the topic and the services that set and release it, and its record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from kc_vla.arm.stop_latch import LatchError, StopLatch
from kc_vla.core import topics
from kc_vla.execution.controller import ArmController
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode


class EmergencyStop:
    """Sets `ArmController.stopped`, which is latched, and tells of it; one that is on record is set at once."""

    def __init__(self, node: StackNode, controller: ArmController, folder: Path | None) -> None:
        """Args: `folder` of the record, see `StopLatch`."""
        self._node, self._controller = node, controller
        self._halts: list[Callable[[], None]] = []
        self._still_wrong: list[Callable[[], str]] = []
        self._latch = StopLatch(folder)
        self._stopped = node.advertise(Bool, topics.STOPPED, qos.EVENT_LOG)
        node.subscribe(Bool, topics.E_STOP, self._on_topic, qos.E_STOP)
        node.serve(Trigger, topics.STOP, self._on_stop)
        node.serve(Trigger, topics.RELEASE_E_STOP, self._on_release)
        if self._latch.is_set:
            self._set()
        else:
            self._stopped.publish(Bool(data=False))

    @property
    def is_set(self) -> bool:
        """Whether the arm must stand still."""
        return self._controller.stopped

    def on_set(self, halt: Callable[[], None]) -> None:
        """Have `halt()` called whenever it is set; it brings an arm to rest, and waits for nothing."""
        self._halts.append(halt)

    def on_release(self, still_wrong: Callable[[], str]) -> None:
        """Have `still_wrong()` asked once it is released: what the arm waits for nevertheless; empty if for nothing."""
        self._still_wrong.append(still_wrong)

    def _set(self) -> str:
        """Set it; return what is wrong with its record, empty if nothing is."""
        self._controller.emergency_stop()
        for halt in self._halts:
            halt()
        advice, wrong = f"emergency stop: the arm holds until the service {topics.RELEASE_E_STOP} is called", ""
        try:
            self._latch.set()
        except LatchError as error:
            wrong = str(error)
            advice += f". {wrong}"
        self._stopped.publish(Bool(data=True))
        self._node.problem(advice, ERROR)
        return wrong

    def _on_topic(self, message: Bool) -> None:
        if message.data:
            self._set()

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        wrong = self._set()
        response.success, response.message = True, f"stopped, but not on record: {wrong}" if wrong else "stopped"
        return response

    def _on_release(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._controller.stopped:
            response.message = "there is no emergency stop to release"
            return response
        try:
            self._latch.clear()
        except LatchError as error:
            response.message = str(error)
            return response
        self._controller.release()
        self._stopped.publish(Bool(data=False))
        wrong = next(filter(None, (tell() for tell in self._still_wrong)), "")
        self._node.problem(wrong, *([ERROR] if wrong else []))
        response.success, response.message = True, f"released, but: {wrong}" if wrong else "released"
        return response
