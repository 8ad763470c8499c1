"""The options of the driver `ros` in a robot file, for an arm that a third-party ROS driver moves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kc_vla.core.options import OptionError, option
from kc_vla.core.robot_numbers import ANGLES, text_of

_TOPIC = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")


class CommandKind(StrEnum):
    """The message that carries positions to a driver."""

    TRAJECTORY = "joint_trajectory"
    """trajectory_msgs/JointTrajectory of one point, as ros2_control's JointTrajectoryController takes it."""
    ARRAY = "forward_command"
    """std_msgs/Float64MultiArray in the order of the joints, as its forward_command_controller takes it."""
    JOINT_STATE = "joint_state"
    """sensor_msgs/JointState by names, as the vendor's drivers of the Piper take it."""


@dataclass(frozen=True)
class GripperInterface:
    """The gripper at the driver.

    Attributes:
        joint: name of its joint there.
        closed, open: position of that joint when the gripper is closed, and wide open, in the driver's unit.
        kind: message of its commands.
        command: topic of its commands; empty: they are in one message with those of the joints.
    """

    joint: str
    closed: float
    open: float
    kind: CommandKind
    command: str

    def position(self, share: float) -> float:
        """Return where the joint is at a share of the opening, 0 closed .. 1 open."""
        return self.closed + share * (self.open - self.closed)

    def share(self, position: float) -> float:
        """Return how far the gripper is open, 0 closed .. 1 open, at a position of the joint."""
        return (position - self.closed) / (self.open - self.closed)


@dataclass(frozen=True)
class RobotInterface:
    """An arm of N joints at the driver.

    Attributes:
        kind: message of the commands.
        command: topic of the commands.
        state: topic of the driver's joint states.
        joints: N names of the joints there, in the order of the robot file.
        radians: size of one unit of the driver's angles, rad.
        rate: commands per second, Hz.
        stale_after: time without a joint state after which the arm is lost, s.
        gripper: the gripper there.
        power_topic, power_service: std_msgs/Bool or std_srvs/SetBool that enables and disables the motors; both empty
            where the driver does so by itself.
        velocities: sent along with a JointState, for drivers that read something else there; empty for none.
    """

    kind: CommandKind
    command: str
    state: str
    joints: tuple[str, ...]
    radians: float
    rate: float
    stale_after: float
    gripper: GripperInterface
    power_topic: str = ""
    power_service: str = ""
    velocities: tuple[float, ...] = ()

    @property
    def has_switch(self) -> bool:
        """Return whether this stack enables and disables the arm."""
        return bool(self.power_topic or self.power_service)


_KINDS = tuple(kind.value for kind in CommandKind)


@dataclass(frozen=True)
class GripperOptions:
    """The gripper, as a robot file describes it to the driver `ros`."""

    joint: str = option("the driver's name of its joint")
    closed: float = option("position of that joint when the gripper is closed, in the driver's unit")
    open: float = option("position of that joint when the gripper is wide open, in the driver's unit")
    command: str = option("topic of its commands; empty: they are beside those of the joints, last", "")
    kind: str = option("message type of its commands; empty: that of the joints", "", choices=("", *_KINDS))

    def __post_init__(self) -> None:
        """Check the options together. Raises: OptionError."""
        _check_joint(self.joint)
        if self.closed == self.open:
            raise OptionError("closed and open are the same")
        if self.kind and not self.command:
            raise OptionError("a kind of its own needs a command of its own")
        if self.command:
            _check_topic("command", self.command)


@dataclass(frozen=True)
class PowerOptions:
    """The switch of the motors, as a robot file describes it to the driver `ros`."""

    topic: str = option("topic, std_msgs/Bool; empty: none", "")
    service: str = option("service, std_srvs/SetBool; empty: none", "")

    def __post_init__(self) -> None:
        """Check the options together. Raises: OptionError."""
        if self.topic and self.service:
            raise OptionError("it is {topic: /...} of std_msgs/Bool, or {service: /...} of std_srvs/SetBool")
        if named := self.topic or self.service:
            _check_topic("topic" if self.topic else "service", named)


@dataclass(frozen=True)
class RosOptions:
    """The options of the driver `ros`."""

    kind: str = option("message type of the commands", choices=_KINDS)
    command: str = option("topic of the commands")
    state: str = option("topic of the driver's joint states")
    gripper: GripperOptions = option("the gripper at the driver")
    joints: tuple[str, ...] = option(
        "the driver's names of the joints, in the order of the robot file; empty: the names of the robot file", ()
    )
    angles: str = option("unit of the driver's angles", "rad", choices=tuple(ANGLES))
    rate: float = option("commands per second, Hz", 50.0, low=10.0, high=200.0)
    stale_after: float = option("s without a joint state after which the arm is lost", 0.2, low=0.05, high=1.5)
    power: PowerOptions = option(
        "topic or service that enables and disables the motors; without this option the driver does that by itself",
        PowerOptions(),
    )
    velocities: tuple[float, ...] = option("velocities to send in each JointState, for drivers that read them", ())

    def __post_init__(self) -> None:
        """Check the options together. Raises: OptionError."""
        for name in self.joints:
            _check_joint(name)
        _check_topic("command", self.command)
        _check_topic("state", self.state)

    def interface(self, joints: Sequence[str]) -> RobotInterface:
        """Return how a robot with these joints is reached.

        Args:
            joints: N names of the joints in the robot file, in its order.

        Raises:
            OptionError: The driver has another number of joints, or two of its names are the same.
        """
        names = self.joints or tuple(joints)
        if len(names) != len(joints):
            raise OptionError(f"driver: joints must be {len(joints)} names, one for each joint of the robot")
        if len({*names, self.gripper.joint}) <= len(names):
            raise OptionError("driver: every joint, and that of the gripper, must have a name of its own")
        gripper = self.gripper
        return RobotInterface(
            kind=CommandKind(self.kind),
            command=self.command,
            state=self.state,
            joints=names,
            radians=ANGLES[self.angles],
            rate=self.rate,
            stale_after=self.stale_after,
            gripper=GripperInterface(
                gripper.joint, gripper.closed, gripper.open, CommandKind(gripper.kind or self.kind), gripper.command
            ),
            power_topic=self.power.topic,
            power_service=self.power.service,
            velocities=self.velocities,
        )


def _check_joint(name: str) -> None:
    """Refuse a joint's name that is empty or has control characters. Raises: OptionError."""
    try:
        text_of(name, "the name of a joint")
    except ValueError as error:
        raise OptionError(str(error)) from error


def _check_topic(name: str, topic: str) -> None:
    """Refuse a name of a topic or service that is not whole. Raises: OptionError."""
    if not _TOPIC.fullmatch(topic):
        raise OptionError(f"{name} is {topic!r}: give the whole name, with its /, such as /arm/command")
