"""Node `piper_emulator`: a Piper that is not there, on a bus of its own, with a picture of it and faults on demand."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from sensor_msgs.msg import Image

from kc_vla.arm.emulator.faults import FaultError
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.emulator.view import draw_arm
from kc_vla.arm.scheduling import PriorityError, take_priority
from kc_vla.nodes import qos, topics
from kc_vla.nodes.base import ERROR, StackNode, StartError, run_node
from kc_vla.nodes.convert import image_message
from kc_vla.nodes.parameters import NodeParameters, parameter

_POLL_S = 0.05
_FAREWELL_S = 1.0
"""So long it still tells that it has no power any more: who took it wants to know."""
_PRIORITY = 40
"""Below the controller's."""


@dataclass(frozen=True)
class EmulatorParameters(NodeParameters):
    """Parameters of the node."""

    path: str = parameter("/tmp/kc_vla_piper", "of the bus: channel of the controller, its bus is kc_vla_socket")
    fault: str = parameter(
        "none", "what goes wrong now, e.g. 'loss 0.2' or 'collision 2'; none: all is well", fixed=False
    )
    view_rate: float = parameter(10.0, "pictures of the arm per second", low=0.1, high=60.0)
    stay: float = parameter(40.0, "s that it stays for a controller that still has to park it", low=0.0, high=600.0)


class PiperEmulatorNode(StackNode):
    """See the module."""

    Parameters = EmulatorParameters
    parameters: EmulatorParameters

    def __init__(self) -> None:
        super().__init__("piper_emulator")

    def start(self) -> None:
        """Put the arm on its bus."""
        try:
            self._process = EmulatorProcess(Path(self.parameters.path))
        except OSError as error:
            raise StartError(str(error)) from error
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._process.run, args=(self._ended,), name="emulator")
        self._thread.start()
        self._priority = _take_priority()
        self._view = self.advertise(Image, topics.EMULATOR_VIEW, qos.IMAGE)
        self.every(1.0 / self.parameters.view_rate, self._show)
        self.on_parameters()

    def stop(self) -> None:
        """Take the arm away, as soon as it is parked: a real one does not vanish when a person presses Ctrl-C."""
        until = time.monotonic() + self.parameters.stay
        had_power = False
        while self._process.arm.body.powered.any() and time.monotonic() < until:
            had_power = True
            time.sleep(_POLL_S)
        if had_power:
            time.sleep(_FAREWELL_S)
        powered = " It still had power." if self._process.arm.body.powered.any() else ""
        self._ended.set()
        self._thread.join()
        if self._priority:
            take_priority(0)
        self.get_logger().info(f"the emulated arm saw: {self._process.watch}.{powered}")

    def on_parameters(self) -> None:
        """Begin a fault, or end all."""
        try:
            self._process.faults.ask(self.parameters.fault)
        except FaultError as error:
            self.problem(str(error), ERROR)
        else:
            self.problem("" if self.parameters.fault == "none" else f"fault on demand: {self.parameters.fault}")

    def details(self) -> dict[str, object]:
        """Return what came so far."""
        process = getattr(self, "_process", None)
        return {"watch": str(process.watch)} if process is not None else {}

    def _show(self) -> None:
        arm = self._process.arm
        pixels = draw_arm(arm.body.angles, arm.body.powered, arm.opening, arm.status.name.lower().replace("_", " "))
        self._view.publish(image_message(pixels, self.get_clock().now().to_msg(), "robot_base"))


def _take_priority() -> bool:
    """A real arm has no other work: let this one run first, if the user may."""
    try:
        take_priority(_PRIORITY)
    except PriorityError:
        return False
    return True


def main() -> None:
    """Run the node."""
    run_node(PiperEmulatorNode)
