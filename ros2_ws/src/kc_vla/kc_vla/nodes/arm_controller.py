"""Node `arm_controller`: executes action chunks, one command per control step, in a process of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from kc_vla.arm.scheduling import PriorityError, lock_memory, take_priority
from kc_vla.arm.stop_latch import LatchError
from kc_vla.core import topics
from kc_vla.core.chunk import ChunkLimits
from kc_vla.core.episode import Episode
from kc_vla.core.errors import StackError
from kc_vla.core.robot import load_robot
from kc_vla.core.robot_model import SIMULATED
from kc_vla.execution.control_steps import ControlSteps, Lockstep, RealTime
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import ChunkRequest, ChunkScheduler, Hold, ScheduledAction, SchedulerSettings
from kc_vla.ros import qos
from kc_vla.ros.arm_command import chunk_of, command_message
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.chunk_client import ChunkClient
from kc_vla.ros.controller_parameters import ControllerParameters
from kc_vla.ros.convert import BadMessageError, check_stamp, nanoseconds
from kc_vla.ros.emergency_stop import EmergencyStop
from kc_vla.ros.process import run_node
from kc_vla_msgs.msg import ArmCommand, Driver
from kc_vla_msgs.srv import PredictChunk

if TYPE_CHECKING:
    from kc_vla.ros.arm_link import ArmLink

CLOCK = "use_sim_time"
"""ROS's own parameter: whether the node goes by the clock of a simulator."""


class ArmControllerNode(StackNode):
    """The node `arm_controller`, which executes action chunks."""

    Parameters = ControllerParameters
    parameters: ControllerParameters

    def __init__(self) -> None:
        super().__init__("arm_controller")

    def start(self) -> None:
        """Begin to hold."""
        values = self.parameters
        self._lockstep = values.mode == "lockstep"
        scheduler = ChunkScheduler(
            SchedulerSettings(values.execute_steps, values.blend_steps),
            ChunkLimits(values.max_translation, values.max_rotation),
        )
        self._controller = ArmController(scheduler, values.latency_steps if self._lockstep else None)
        around = (self._controller, self, self.statistics)
        self._realtime = None if self._lockstep else RealTime(*around, values.stale_after)
        self._steps: ControlSteps = self._realtime or Lockstep(*around)
        self._commanded: ArmCommand | None = None
        self._ticked_at = 0.0
        self._link: ArmLink | None = None
        self._commands = self.advertise(ArmCommand, topics.ARM_COMMAND, qos.command(0.05))
        self._policy = ChunkClient(self, values.request_timeout, self._on_answer, self._on_timeout)
        self.watch_episodes()
        self.subscribe(JointState, topics.JOINT_STATES, self._on_joints, qos.STATE)
        self.subscribe(Driver, topics.DRIVER, self._on_driver, qos.EVENT_LOG)
        try:
            folder = values.stop_folder()
            robot = load_robot(values.robot)
        except (StackError, ValueError, LatchError) as error:
            raise StartError(str(error)) from error
        self._base_frame = robot.base_frame
        stop = self._stop = EmergencyStop(self, self._controller, folder)
        if values.arm != SIMULATED:
            from kc_vla.ros.arm_link import connect  # takes half a second, and a simulated arm needs none of it

            self._steps.arm = self._link = connect(self, values, stop)
            stop.begin()
        if not self._lockstep:
            if self._link is None:
                self._take_priority()
            # an arm has a loop of its own: here only the control steps are counted off
            rate = values.control_rate if self._link is None else max(values.state_rate, 2 * robot.control_rate)
            self.every(1.0 / rate, self._tick)

    def stop(self) -> None:
        """Become an ordinary process again."""
        if self._link is not None:
            self._link.close()
            if not self._link.lost:
                self._stop.end()
            self._link = None
        elif not self._lockstep and self.parameters.priority:
            take_priority(0)

    def lingers(self) -> bool:
        """Return whether the arm is still being parked.

        An emergency stop is heard meanwhile, and the policy is asked for nothing any more.
        """
        self._policy.forget()
        return self._link is not None and self._link.leaves()

    def on_episode(self, episode: Episode) -> None:
        """Void what belongs to another episode."""
        if self._steps.watch(episode):
            self._policy.forget()

    def refuses(self, parameter: Parameter) -> str:
        """Refuse another clock while an arm is connected: its commands count in the old one."""
        changes = parameter.name == CLOCK and parameter.value != self.get_parameter(CLOCK).value
        if changes and getattr(self, "_link", None) is not None:
            return f"parameter '{CLOCK}' cannot change while an arm is connected: set it when the controller starts"
        return ""

    def hardware(self) -> str:
        """Return which robot is moved, and what its arm is called on this machine."""
        robot, link = super().hardware(), getattr(self, "_link", None)
        return robot if link is None else f"{robot} {link.identity}"

    def details(self) -> dict[str, object]:
        """Return what the arm does."""
        controller = getattr(self, "_controller", None)
        if controller is None:
            return {}
        return {
            "mode": self.parameters.mode,
            "emergency_stop": controller.stopped,
            "holds": self._steps.holds,
            "bad_chunks": self._steps.bad_chunks,
            **(self._link.details() if self._link is not None else {}),
        }

    def _take_priority(self) -> None:
        if self.parameters.priority:
            try:
                take_priority(self.parameters.priority)
                lock_memory()
            except PriorityError as error:
                self.get_logger().warning(str(error))

    # -- what comes in ------------------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        stamp_ns = nanoseconds(message.header.stamp)
        now_ns = self.get_clock().now().nanoseconds
        try:
            check_stamp(stamp_ns, now_ns)
        except BadMessageError as error:
            self.statistics.drop("joint_states")
            self.problem(f"a joint state was passed over: {error}")
            return
        self._steps.see(stamp_ns, now_ns)

    def _on_driver(self, message: Driver) -> None:
        self._steps.driven(message.episode_id, message.sequence, message.driver == Driver.PERSON)

    def _tick(self) -> None:
        assert self._realtime is not None
        now = time.monotonic()
        if self._ticked_at and self._link is None:
            self.statistics.add("control_period_error", abs(now - self._ticked_at - 1.0 / self.parameters.control_rate))
        self._ticked_at = now
        if not self.done:
            self._realtime.tick(self.get_clock().now().nanoseconds)

    def _on_answer(self, episode_id: str, sequence: int, answer: PredictChunk.Response) -> None:
        if answer.success:
            self._steps.answered(episode_id, sequence, lambda: chunk_of(answer.chunk, episode_id, sequence))
        else:
            self._steps.refused(episode_id, sequence, answer.message)

    def _on_timeout(self, sequence: int) -> None:
        self.problem(f"the policy has not answered for {self.parameters.request_timeout:g} s: asking again")
        self._steps.expired(sequence)

    # -- what goes out ------------------------------------------------------------------------------------------

    def ask_policy(self, episode_id: str, request: ChunkRequest) -> None:
        """Ask the policy server for a chunk."""
        self._policy.ask(episode_id, request)

    def hand_over(self) -> None:
        """Drop the request to the policy server that still waits, and bring the arm to rest."""
        self._policy.forget()
        if self._link is not None:
            self._link.hand_over()

    def follow(self, action: ScheduledAction, seconds: float) -> None:
        """Send an action to the arm, if there is a real one."""
        if self._link is not None:
            self._link.follow(action, seconds)

    def command(self, episode_id: str, step: int, command: ScheduledAction | Hold) -> None:
        """Publish the command of a control step."""
        self._commanded = command_message(episode_id, step, command, self.get_clock().now().to_msg(), self._base_frame)
        self._commands.publish(self._commanded)

    def command_again(self) -> None:
        """Publish the last command again."""
        self._commands.publish(self._commanded)

    def report(self, text: str, is_fault: bool = False) -> None:
        """Report a problem in the diagnostics until `report("")`."""
        self.problem(text, *([ERROR] if is_fault else []))


def main() -> None:
    """Run the node."""
    run_node(ArmControllerNode)
