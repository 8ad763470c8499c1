"""The line to an arm that a third-party driver moves: joint states in, positions out, in the arm's own process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kc_vla.arm.foreign import Take
from kc_vla.core.robot_interface import CommandKind, RobotInterface
from kc_vla.ros import qos
from kc_vla.ros.convert import nanoseconds

_LOOK_S = 0.5
"""Between two looks at who else tells the arm something."""
_PERIODS = 2.0
"""Command periods within which a trajectory's point is to be reached; the next one comes before that."""
_COMMANDS = QoSProfile(depth=1, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.RELIABLE)
"""The newest counts. Without a lifespan, which is measured by two clocks where the driver is on another machine: all
commands would be thrown away in silence if they disagree."""
_STATES = QoSProfile(depth=20, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Hears a reliable and a best effort publisher, and several that share the topic."""


class RosLine:
    """A `kc_vla.arm.foreign.Line` over ROS topics, with a node and a thread of its own."""

    def __init__(self, interface: RobotInterface, simulated_time: bool) -> None:
        """Prepare; `open` makes the node.

        Args:
            interface: the driver's topics.
            simulated_time: whether the driver stamps by the clock of a simulator.
        """
        self._interface, self._simulated_time = interface, simulated_time
        self._node: Node | None = None

    def open(self, take: Take) -> None:
        """Create a node for the driver's topics, and start the thread that receives joint states."""
        told = self._interface
        self._context = rclpy.Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        clock = Parameter("use_sim_time", value=self._simulated_time)
        node = self._node = Node(
            "arm_line", context=self._context, use_global_arguments=False, parameter_overrides=[clock]
        )
        self._publishers = {told.command: node.create_publisher(_MESSAGES[told.kind], told.command, _COMMANDS)}
        if gripper := told.gripper.command:
            self._publishers[gripper] = node.create_publisher(_MESSAGES[told.gripper.kind], gripper, _COMMANDS)
        if told.power_topic:
            self._switch = node.create_publisher(Bool, told.power_topic, qos.E_STOP)
        elif told.power_service:
            self._asked = node.create_client(SetBool, told.power_service)
        self._others: tuple[str, ...] = ()

        def hear(message: JointState) -> None:
            now_ns = node.get_clock().now().nanoseconds
            stamp_ns, at = nanoseconds(message.header.stamp), time.monotonic()
            take(message.name, message.position, message.velocity, stamp_ns, now_ns, at)

        node.create_subscription(JointState, told.state, hear, _STATES)
        node.create_timer(_LOOK_S, self._look)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="arm line", daemon=True)
        self._thread.start()

    def send(self, names: Sequence[str], positions: Sequence[float], gripper: bool) -> None:
        """Publish a command to the joints or to the gripper, as the type of message that the driver expects."""
        told = self._interface
        kind, topic = (told.gripper.kind, told.gripper.command) if gripper else (told.kind, told.command)
        self._publishers[topic].publish(_WRITERS[kind](self, list(names), list(positions)))

    def switch(self, on: bool) -> None:
        """Publish the wanted state of the motors on the driver's topic, or call its service if that is there."""
        if self._interface.power_topic:
            self._switch.publish(Bool(data=on))
        elif self._asked.service_is_ready():
            self._asked.call_async(SetBool.Request(data=on))

    def deaf(self) -> tuple[str, ...]:
        """Return the topics of commands that have no subscriber."""
        return tuple(topic for topic, publisher in self._publishers.items() if not publisher.get_subscription_count())

    def rivals(self) -> tuple[str, ...]:
        """Return the topics of commands on which other nodes publish, too, as of the last look."""
        return self._others

    def close(self) -> None:
        """Stop the thread and destroy the node; a second call does nothing."""
        if self._node is None:
            return
        self._executor.shutdown()
        self._thread.join()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)
        self._node = None

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            return

    def _look(self) -> None:
        assert self._node is not None
        node = self._node
        self._others = tuple(topic for topic in self._publishers if node.count_publishers(topic) > 1)

    def _trajectory(self, names: list[str], positions: list[float]) -> JointTrajectory:
        """Return a trajectory of one point, from now on, which replaces the one before.

        It has no speeds, which a last point must not have.
        """
        within = Duration(seconds=_PERIODS / self._interface.rate).to_msg()
        return JointTrajectory(
            joint_names=names, points=[JointTrajectoryPoint(positions=positions, time_from_start=within)]
        )

    def _array(self, names: list[str], positions: list[float]) -> Float64MultiArray:
        return Float64MultiArray(data=positions)

    def _joint_state(self, names: list[str], positions: list[float]) -> JointState:
        assert self._node is not None
        message = JointState(name=names, position=positions, velocity=list(self._interface.velocities))
        message.header.stamp = self._node.get_clock().now().to_msg()
        return message


_MESSAGES: dict[CommandKind, type] = {
    CommandKind.TRAJECTORY: JointTrajectory,
    CommandKind.ARRAY: Float64MultiArray,
    CommandKind.JOINT_STATE: JointState,
}
_WRITERS: dict[CommandKind, Callable[[RosLine, list[str], list[float]], Any]] = {
    CommandKind.TRAJECTORY: RosLine._trajectory,
    CommandKind.ARRAY: RosLine._array,
    CommandKind.JOINT_STATE: RosLine._joint_state,
}
