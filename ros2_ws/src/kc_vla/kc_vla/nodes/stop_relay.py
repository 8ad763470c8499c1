"""Node `stop_relay`: receives emergency stops beside the arm's controller, and records them for it.

A stop that is pressed while the controller is started again reaches nobody by itself. This node lives through that: it
writes the press down, where the controller finds it, and tells the one who pressed whether the controller stands still.
"""

from __future__ import annotations

import time

from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from kc_vla.arm.stop_latch import PRESSED, LatchError, StopLatch
from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.controller_parameters import StopParameters
from kc_vla.ros.process import run_node

_CONFIRM_S, _LOOK_S = 1.0, 0.02
"""How long the controller may take to tell that it stands still, and between two looks."""
UNHEARD = (
    "the stop is on record, but the arm's controller does not answer: the next one will hold the arm. "
    "Where the arm moves, take its power"
)


class StopRelayNode(StackNode):
    """The node `stop_relay`, which puts emergency stops on record for the arm's controller."""

    Parameters = StopParameters
    parameters: StopParameters

    def __init__(self) -> None:
        super().__init__("stop_relay")

    def start(self) -> None:
        """Begin to listen."""
        try:
            folder = self.parameters.stop_folder()
        except (StackError, ValueError, LatchError) as error:
            raise StartError(str(error)) from error
        self._latch = StopLatch(folder)
        self._is_stopped = False
        self._presses = 0
        self.subscribe(Bool, topics.STOPPED, self._on_stopped, qos.EVENT_LOG)
        self.subscribe(Bool, topics.E_STOP, self._on_topic, qos.E_STOP)
        self.serve(Trigger, topics.STOP, self._on_stop)

    def details(self) -> dict[str, object]:
        """Return what was heard."""
        return {"presses": self._presses, "emergency_stop": self._is_stopped} if self.works else {}

    def _on_stopped(self, message: Bool) -> None:
        self._is_stopped = bool(message.data)

    def _on_topic(self, message: Bool) -> None:
        if message.data:
            self._record(topics.E_STOP)

    async def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        wrong = self._record(topics.STOP)
        until = time.monotonic() + _CONFIRM_S
        while not self._is_stopped and time.monotonic() < until:
            await self.sleep(_LOOK_S)
        response.success = self._is_stopped
        if self._is_stopped:
            response.message = f"stopped, but not on record: {wrong}" if wrong else "stopped"
        else:
            response.message = f"not stopped: {wrong}" if wrong else f"not stopped yet: {UNHEARD}"
            self.problem(response.message)
        return response

    def _record(self, where: str) -> str:
        """Put a press on record; return what is wrong with that, empty if nothing is."""
        self._presses += 1
        try:
            self._latch.set(f"{PRESSED} ({where})")
        except LatchError as error:
            self.problem(str(error))
            return str(error)
        return ""


def main() -> None:
    """Run the node."""
    run_node(StopRelayNode)
