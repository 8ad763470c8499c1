"""Node `piper_simulator`: an emulated Piper with a body at a table, which cameras show.

The emulated arm has the bus, the rules of the firmware and the dynamics of the joints. The body follows its joints, and
grips with its motor's torque. What is between the fingers holds them, and the gripper reports so.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from kc_vla.arm.emulator.process import View
from kc_vla.arm.remote import RemoteError
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot, RobotError, load_robot
from kc_vla.nodes.piper_emulator import EmulatorParameters, PiperEmulatorNode
from kc_vla.ros.base import StartError
from kc_vla.ros.convert import time_message
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla_sim.choices import LOOKS, PIPER_TASKS, STANDARD, STANDARD_LOOKS, VARIANTS
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.nodes.camera_publisher import CameraPublisher
from kc_vla_sim.piper.body import FollowingBody
from kc_vla_sim.piper.table import STEP_S, PiperTable
from kc_vla_sim.protocol import LARGEST_SEED
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.robots.stations import PIPER

_RATE_OVER = 20
"""Images over which the reached rate is measured."""


@dataclass(frozen=True)
class SimulatorParameters(EmulatorParameters):
    """Parameters of the node `piper_simulator`, beside those of `piper_emulator`."""

    task: str = parameter("counting", "task on the table", choices=PIPER_TASKS)
    seed: int = parameter(0, "seed of the episode", low=0, high=LARGEST_SEED)
    variant: str = parameter(STANDARD, "variant of the task", choices=tuple(VARIANTS))
    visual_randomization: str = parameter(STANDARD_LOOKS, "visual randomization of the room", choices=tuple(LOOKS))
    image_size: int = parameter(256, "pixels, width and height of every camera", low=16, high=2048)
    image_rate: float = parameter(10.0, "images of each camera per second, at most", low=0.1, high=20.0)
    renderer: str = parameter("auto", "renderer", choices=("auto", "gpu", "cpu"))


class PiperSimulatorNode(PiperEmulatorNode):
    """The node `piper_simulator`, which gives the emulated Piper a body in ManiSkill."""

    Parameters = SimulatorParameters
    parameters: SimulatorParameters

    def __init__(self) -> None:
        super().__init__("piper_simulator")

    def start(self) -> None:
        """Build the table, put the arm on its bus, and let its body follow."""
        values, robot = self.parameters, self._checked_robot()
        try:
            choose_renderer(values.renderer)  # first: what is missing is reported without a wait
            self._table = PiperTable(
                values.task,
                robot,
                values.image_size,
                values.renderer,
                values.variant,
                values.visual_randomization,
            )
        except SimulationError as error:
            raise StartError(str(error)) from error
        self._body = FollowingBody(self._table, lambda body: self.arm.tell("touch", body))
        self._rest = robot.rest
        self._body.begin(values.seed, self._rest)
        self._show_at = 0.0
        self._shown: deque[float] = deque(maxlen=_RATE_OVER)
        self._said = ""
        super().start()
        self._cameras = CameraPublisher(self, robot.views, depth=True)
        self._cameras.place(self._table.cameras.values(), self.get_clock().now().to_msg())
        self.watch_episodes()
        self.every(STEP_S, self._step)

    def stop(self) -> None:
        """Take the arm and its body away."""
        super().stop()
        self._table.close()

    def on_episode(self, episode: Episode) -> None:
        """Put everything on the table in its place as an episode begins; log how the task stands as it ends."""
        if not episode.running:
            self.get_logger().info(f"the task {self.parameters.task} ended with: {self._table.verdict}")
            return
        self._body.begin(self.parameters.seed, self._rest)
        self._cameras.place(self._table.cameras.values(), self.get_clock().now().to_msg())

    def on_views(self, views: list[View]) -> None:
        """Take in where the arm was since the last look."""
        self._body.see(views)

    def details(self) -> dict[str, object]:
        """Return what came so far, how the task stands, and how fast the images are drawn."""
        told = super().details()
        if self.works:
            told |= {"task": self._table.verdict, "image_rate": round(self._reached_rate(), 1)}
            told |= {"left_out_s": round(self._body.skipped, 2)}
        return told

    def _checked_robot(self) -> Robot:
        """Return the robot if the body can be its.

        Raises:
            StartError: it cannot.
        """
        try:
            robot, piper = load_robot(self.parameters.robot), load_robot(PIPER)
        except RobotError as error:
            raise StartError(str(error)) from error
        if robot.urdf is None or piper.urdf is None or robot.urdf.read_bytes() != piper.urdf.read_bytes():
            raise StartError(
                f"a simulated Piper has the body of robots/piper.yaml: robot '{robot.name}' is another one"
            )
        if others := ", ".join(view for view in robot.views if view not in piper.views):
            raise StartError(
                f"robot '{robot.name}' has the views {others}: a simulated Piper has {', '.join(piper.views)}"
            )
        return robot

    def _step(self) -> None:
        """Let the body catch up with the arm, and show it where an image is due."""
        try:
            self.look()
            began = time.monotonic()
            moved = self._body.catch_up()
        except RemoteError as error:
            self.fail(f"the emulated arm is gone: {error}")
            return
        if moved is None:
            return
        now = time.monotonic()
        self.statistics.add("simulator_step", now - began)
        if now < self._show_at:
            return
        self._show_at = max(self._show_at + 1.0 / self.parameters.image_rate, now)
        self._show_cameras(moved.time)
        if (verdict := self._table.verdict) != self._said:
            self._said = verdict
            self.get_logger().info(f"the task {self.parameters.task}: {verdict}")

    def _show_cameras(self, moved_at: float) -> None:
        """Publish what the cameras see of the state at a steady time, drawn only for subscribers."""
        began = time.monotonic()
        stamp = time_message(self.get_clock().now().nanoseconds - round((began - moved_at) * 1e9))
        drawn = self._table.draw() if self._cameras.watched else {}
        images = {view: each.image for view, each in drawn.items()}
        depths = {view: each.depth for view, each in drawn.items()}
        self._cameras.show(images, depths, self._table.cameras, stamp)
        if drawn:
            self.statistics.add("draw", time.monotonic() - began)
            self._shown.append(time.monotonic())

    def _reached_rate(self) -> float:
        """Return how many images of each camera were drawn per second of late, Hz."""
        span = time.monotonic() - self._shown[0] if self._shown else 0.0
        return len(self._shown) / span if span > 0 else 0.0


def main() -> None:
    """Run the node."""
    run_node(PiperSimulatorNode)
