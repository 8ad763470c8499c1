"""A robot of others as a node: ros2_control's controllers and a vendor's driver, as far as a client of theirs sees.

    python tests/support/foreign_robot.py KIND    # joint_trajectory, forward_command or joint_state

It takes what the real ones take and refuses what they refuse, moves its joints no faster than they can, and counts. Its
parameter `fault` lets something go wrong. When it is told to end it says what it saw.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from spinning import init, spin_until_interrupted
from std_msgs.msg import Bool, Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

RATE = 100.0
_LATEST_S = 0.1
"""A step that is later than this moves the arm no further."""
TOP_SPEED = 3.0
"""rad/s of its joints."""
LEAP = 1.0
"""rad: more than its arm may have gone by while a busy machine lets a message wait."""
FAULTS = ("none", "silent", "nan", "renamed", "repeated", "old", "deaf", "stuck", "far", "leapt")
UR = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint")
PIPER = tuple(f"joint{number}" for number in range(1, 7))
AXES = tuple(f"joint_{number}" for number in range(1, 7))
KINDS: dict[str, tuple[tuple[str, ...], str, tuple[float, ...], str]] = {
    "joint_trajectory": (UR, "finger_joint", (0.3, -1.5, 1.4, -1.4, -1.5, 0.2), "/joint_states"),
    "forward_command": (AXES, "gripper_joint", (0.2, 0.1, 0.3, 0.0, 0.5, 0.0), "/joint_states"),
    "joint_state": (PIPER, "gripper", (0.0, 0.0, 0.0, 0.02, 0.5, 0.0), "/joint_states_single"),
}
"""Of each kind: joints, that of the gripper, where they stand at first, and the topic of their states."""


class ForeignRobot(Node):
    """See the module."""

    def __init__(self, kind: str) -> None:
        super().__init__("foreign_robot")
        joints, finger, angles, states = KINDS[kind]
        self.names = (*joints, finger)
        self.at = [*angles, 0.0]
        self.goal, self.until = list(self.at), [0.0] * len(self.at)
        self.commands = self.refused = 0
        self.largest, self.powered = 0.0, kind != "joint_state"
        self.fault = "none"
        self._stale: Any = None
        self._stepped_at: float | None = None
        self._listeners: list[Any] = []
        self._kind = kind
        self._states = self.create_publisher(JointState, states, QoSProfile(depth=10))
        self._listen()
        self.declare_parameter("fault", "none")
        self.add_on_set_parameters_callback(self._on_parameters)
        self.create_timer(1.0 / RATE, self._step)

    def _listen(self) -> None:
        """As the controllers do: reliable, as the system's default is."""
        arm, finger = self.names[:-1], self.names[-1:]
        taken: list[tuple[type, str, Callable[[Any], None]]] = {
            "joint_trajectory": [
                (
                    JointTrajectory,
                    "/scaled_joint_trajectory_controller/joint_trajectory",
                    lambda message: self._trajectory(message, arm),
                ),
                (JointTrajectory, "/gripper_controller/joint_trajectory", lambda m: self._trajectory(m, finger)),
            ],
            "forward_command": [(Float64MultiArray, "/forward_position_controller/commands", self._array)],
            "joint_state": [
                (JointState, "/joint_ctrl_single", self._joint_state),
                (Bool, "/enable_flag", self._enable),
            ],
        }[self._kind]
        self._listeners = [self.create_subscription(k, topic, take, QoSProfile(depth=10)) for k, topic, take in taken]

    # -- what it is told ----------------------------------------------------------------------------------------

    def _trajectory(self, message: JointTrajectory, joints: Sequence[str]) -> None:
        """A JointTrajectoryController without partial goals; a last point may not have a speed."""
        point = message.points[-1] if message.points else None
        good = point is not None and set(message.joint_names) == set(joints) and not any(point.velocities)
        if not good or len(point.positions) != len(joints) or (message.header.stamp.sec, len(message.points)) != (0, 1):
            self.refused += 1
            return
        seconds = point.time_from_start.sec + point.time_from_start.nanosec * 1e-9
        self._go(dict(zip(message.joint_names, point.positions, strict=True)), seconds)

    def _array(self, message: Float64MultiArray) -> None:
        if len(message.data) != len(self.names):
            self.refused += 1
            return
        self._go(dict(zip(self.names, message.data, strict=True)), 1.0 / RATE)

    def _joint_state(self, message: JointState) -> None:
        """The vendor's: joints by name, the gripper seventh, the speed of its controller as the seventh speed."""
        if len(message.position) < len(self.names) or len(message.velocity) != len(self.names):
            self.refused += 1
        elif self.powered:
            arm = dict(zip(message.name, message.position, strict=True))
            self._go({**{name: arm.get(name, 0.0) for name in self.names}, "gripper": message.position[6]}, 1.0 / RATE)

    def _enable(self, message: Bool) -> None:
        if self.powered and not message.data and max(abs(angle) for angle in self.at[:3]) > 0.1:
            self.get_logger().error("the foreign arm fell")
        self.powered = message.data

    def _go(self, wanted: dict[str, float], seconds: float) -> None:
        if not all(map(math.isfinite, wanted.values())):
            self.refused += 1
            self.get_logger().error("the foreign arm was told a number that is none")
            return
        self.commands += 1
        now = self.get_clock().now().nanoseconds * 1e-9
        for place, name in enumerate(self.names):
            if name in wanted:
                if name in self.names[:-1]:
                    self.largest = max(self.largest, abs(wanted[name] - self.goal[place]))
                self.goal[place], self.until[place] = wanted[name], now + seconds

    # -- what it does and tells ---------------------------------------------------------------------------------

    def _step(self) -> None:
        now = self.get_clock().now().nanoseconds * 1e-9
        since = now - 1.0 / RATE if self._stepped_at is None else self._stepped_at
        self._stepped_at, passed = now, min(max(now - since, 1.0 / RATE), _LATEST_S)
        for place, goal in enumerate(self.goal):
            left = max(self.until[place] - now, passed)
            step = min(max((goal - self.at[place]) / left, -TOP_SPEED), TOP_SPEED) * passed
            if self.fault != "stuck" and self.powered:
                self.at[place] += step
        message = self._told()
        if message is not None:
            self._states.publish(message)

    def _told(self) -> JointState | None:
        names, positions = list(self.names), list(self.at)
        message = JointState(name=names[::-1], position=positions[::-1], velocity=[math.nan] * len(names))
        message.header.stamp = self.get_clock().now().to_msg()
        if self.fault == "silent":
            return None
        if self.fault == "nan":
            message.position[2] = math.nan
        elif self.fault == "renamed":
            message.name = [f"other_{name}" for name in message.name]
        elif self.fault == "far":
            message.position = [angle + 100.0 for angle in message.position]
        elif self.fault == "leapt":
            message.position[-1] += LEAP  # of the first joint
        elif self.fault == "old":
            message.header.stamp.sec -= 5
        elif self.fault == "repeated":
            message = self._stale or message
        self._stale = message
        return message

    def _on_parameters(self, parameters: list[Any]) -> SetParametersResult:
        (given,) = parameters
        if given.value not in FAULTS:
            return SetParametersResult(successful=False, reason=f"one of {', '.join(FAULTS)}")
        if self.fault == "deaf":
            self._listen()
        self.fault = given.value
        if self.fault == "deaf":
            for listener in self._listeners:
                self.destroy_subscription(listener)
        return SetParametersResult(successful=True)


def main() -> None:
    """Run it until it is told to end."""
    init()
    node = ForeignRobot(sys.argv[1])
    spin_until_interrupted(node)
    print(
        f"the foreign arm saw: {node.commands} commands, {node.refused} refused, largest step "
        f"{math.degrees(node.largest):.3f} degrees, power {'on' if node.powered else 'off'}",
        flush=True,
    )
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
