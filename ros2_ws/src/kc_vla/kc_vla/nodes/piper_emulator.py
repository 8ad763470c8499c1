"""Node `piper_emulator`: emulates a Piper on a bus of its own, with an image of the arm and faults on demand."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sensor_msgs.msg import Image

from kc_vla.arm.emulator.faults import read_fault
from kc_vla.arm.emulator.process import View
from kc_vla.arm.emulator.process import main as emulate
from kc_vla.arm.emulator.view import draw_arm
from kc_vla.arm.interface import UnfitArmError
from kc_vla.arm.piper_models import require_piper
from kc_vla.arm.remote import Remote, RemoteError
from kc_vla.core import topics
from kc_vla.core.robot import RobotError, load_robot
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.convert import image_message
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node

_FAREWELL_S = 1.0
"""So long it still tells that it has no power any more: who took it wants to know."""


@dataclass(frozen=True)
class EmulatorParameters(NodeParameters):
    """Parameters of the node `piper_emulator`."""

    path: str = parameter(
        "/tmp/kc_vla_piper", "path of the bus; the controller needs this path as `channel`, and kc_vla_socket as `bus`"
    )
    robot: str = parameter("piper", "which Piper: a name of robots/, or its YAML file", former="rig")
    fault: str = parameter(
        "none",
        "injected fault, e.g. 'loss 0.2' or 'collision 2'; none: no fault",
        fixed=False,
        check=read_fault,
    )
    view_rate: float = parameter(10.0, "images of the arm per second", low=0.1, high=60.0)
    stay: float = parameter(
        40.0,
        "s for which the emulator goes on after an interrupt, so that a controller can park the arm",
        low=0.0,
        high=600.0,
    )


class PiperEmulatorNode(StackNode):
    """The node `piper_emulator`, which runs an emulated Piper on a bus of its own.

    Attributes:
        arm: the process of the emulated arm.
    """

    Parameters = EmulatorParameters
    parameters: EmulatorParameters

    def __init__(self, name: str = "piper_emulator") -> None:
        super().__init__(name)

    def start(self) -> None:
        """Put the arm on its bus."""
        self._view: View | None = None
        self._stays_until: float | None = None
        try:
            robot = load_robot(self.parameters.robot)
            require_piper(robot)
        except (RobotError, UnfitArmError) as error:
            raise StartError(str(error)) from error
        self.arm = Remote(emulate)
        try:
            self.arm.start("the emulated arm", self.get_logger().info, "begin", self.parameters.path, robot)
        except (OSError, RemoteError) as error:
            self.arm.close()
            raise StartError(str(error)) from error
        self._pictures = self.advertise(Image, topics.EMULATOR_VIEW, qos.IMAGE)
        self.every(1.0 / self.parameters.view_rate, self._show)
        self.on_parameters()

    def hardware(self) -> str:
        """Return which arm is not there, and its bus."""
        return f"emulated {super().hardware()} {self.parameters.path}"

    def lingers(self) -> bool:
        """Return whether the arm may still be parked: a real one does not vanish when a person presses Ctrl-C."""
        now = time.monotonic()
        if self._stays_until is None:
            self._stays_until = now
            if self._has_power():
                self.get_logger().info(f"the arm has power: it stays up to {self.parameters.stay:g} s to be parked")
                self._stays_until = now + self.parameters.stay
        if not self._has_power() or self.hurried:  # who took its power, or wants it to stand, hears that it is so
            self._stays_until = min(self._stays_until, now + _FAREWELL_S)
        return now < self._stays_until

    def stop(self) -> None:
        """Take the arm away."""
        powered = " It still had power." if self._has_power() else ""
        self.arm.close()
        seen = "nothing" if self._view is None else self._view.watch
        self.get_logger().info(f"the emulated arm saw: {seen}.{powered}")

    def on_parameters(self) -> None:
        """Start the fault that the parameter names, or end all faults."""
        fault = self.parameters.fault
        try:
            self.arm.call("ask", fault)
        except RemoteError as error:
            self.problem(str(error), ERROR)
        else:
            self.problem("" if fault == "none" else f"fault on demand: {fault}")

    def details(self) -> dict[str, object]:
        """Return what came so far."""
        view = getattr(self, "_view", None)
        return {"watch": view.watch} if view is not None else {}

    def look(self) -> View | None:
        """Return the newest view.

        Raises:
            RemoteError: the process of the arm has gone.
        """
        if views := self.arm.look():
            self._view = views[-1]
            self.on_views(views)
        return self._view

    def on_views(self, views: list[View]) -> None:
        """Take in what the arm showed since the last look, the oldest first."""

    def _has_power(self) -> bool:
        try:
            view = self.look()
        except RemoteError:
            return False
        return view is not None and bool(view.powered.any())

    def _show(self) -> None:
        try:
            view = self.look()
        except RemoteError as error:
            self.fail(f"the emulated arm is gone: {error}")
            return
        if view is not None:
            pixels = draw_arm(view.angles, view.origins, view.powered, view.opening, view.status)
            self._pictures.publish(image_message(pixels, self.get_clock().now().to_msg(), "robot_base"))


def main() -> None:
    """Run the node."""
    run_node(PiperEmulatorNode)
