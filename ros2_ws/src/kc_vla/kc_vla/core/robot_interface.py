"""How a robot is reached that others' ROS drivers move: the options of the driver `ros` in its robot file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kc_vla.core.rig_numbers import ANGLES, number, text_of

_TOPIC = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")
_KEYS = {"kind", "command", "state", "gripper"}
_OPTIONAL = {"joints", "angles", "rate", "stale_after", "power", "velocities"}
_GRIPPER_KEYS = {"joint", "closed", "open"}
_GRIPPER_OPTIONAL = {"command", "kind"}
_SLOWEST, _FASTEST = 10.0, 200.0
_DEFAULT_RATE = 50.0
_SOONEST_S, _LATEST_S, _STALE_S = 0.05, 1.5, 0.2


class CommandKind(StrEnum):
    """What a driver is told its positions with."""

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
        joint: its name there.
        closed, open: position of that joint when the gripper is closed, and wide open, in the driver's unit.
        kind, command: where it is told; an empty command means in one message with the joints.
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
        kind, command: what it is told with, and on which topic.
        state: topic of its joint states.
        joints: their names there, N, in the order of the rig.
        radians: of one unit of the driver's angles.
        rate: commands per second.
        stale_after: s without a joint state after which the arm is lost.
        gripper: of it.
        power_topic, power_service: where power is given and taken, std_msgs/Bool or std_srvs/SetBool; both empty where
            the driver sees to it.
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


def read_interface(content: Any, joints: Sequence[str], section: str = "interface") -> RobotInterface:
    """Return what a section of a robot file with these `joints` says.

    Raises:
        ValueError: it is not understood; the text says what.
    """
    try:
        return _interface(content, joints)
    except ValueError as error:
        raise ValueError(str(error).replace("interface", section, 1)) from error


def _interface(content: Any, joints: Sequence[str]) -> RobotInterface:
    _check_keys(content, "interface", _KEYS, _OPTIONAL)
    names = _names(content.get("joints", joints))
    if len(names) != len(joints):
        raise ValueError(f"interface: joints must be {len(joints)} names, one for each joint of the rig")
    kind, command = _kind(content["kind"]), _topic(content["command"], "command")
    angles = content.get("angles", "rad")
    if angles not in tuple(ANGLES):
        raise ValueError(f"interface: angles is {angles!r}: {' or '.join(ANGLES)}")
    rate = _number(content.get("rate", _DEFAULT_RATE), "rate")
    if not _SLOWEST <= rate <= _FASTEST:
        raise ValueError(f"interface: rate is {rate:g}: between {_SLOWEST:g} and {_FASTEST:g} commands a second")
    stale = _number(content.get("stale_after", _STALE_S), "stale_after")
    if not _SOONEST_S <= stale <= _LATEST_S:
        raise ValueError(f"interface: stale_after is {stale:g}: between {_SOONEST_S:g} and {_LATEST_S:g} s")
    gripper = _gripper(content["gripper"], kind)
    if len({*names, gripper.joint}) <= len(names):
        raise ValueError("interface: every joint, and that of the gripper, has a name of its own")
    topic, service = _power(content.get("power", {}))
    return RobotInterface(
        kind=kind,
        command=command,
        state=_topic(content["state"], "state"),
        joints=names,
        radians=ANGLES[angles],
        rate=rate,
        stale_after=stale,
        gripper=gripper,
        power_topic=topic,
        power_service=service,
        velocities=_velocities(content.get("velocities", ())),
    )


def _velocities(row: Any) -> tuple[float, ...]:
    if not isinstance(row, list | tuple):
        raise ValueError("interface: velocities must be a list of numbers")
    return tuple(_number(value, "velocities") for value in row)


def _gripper(content: Any, kind: CommandKind) -> GripperInterface:
    _check_keys(content, "interface: gripper", _GRIPPER_KEYS, _GRIPPER_OPTIONAL)
    closed, wide = (_number(content[name], f"gripper: {name}") for name in ("closed", "open"))
    if closed == wide:
        raise ValueError("interface: gripper: closed and open are the same")
    if "kind" in content and "command" not in content:
        raise ValueError("interface: gripper: a kind of its own needs a command of its own")
    command = _topic(content["command"], "gripper: command") if "command" in content else ""
    return GripperInterface(
        text_of(content["joint"], "interface: gripper: joint"), closed, wide, _kind(content.get("kind", kind)), command
    )


def _power(content: Any) -> tuple[str, str]:
    if not isinstance(content, Mapping) or len(content) > 1 or content.keys() - {"topic", "service"}:
        raise ValueError("interface: power is {topic: /...} of std_msgs/Bool, or {service: /...} of std_srvs/SetBool")
    topic, service = (_topic(content[key], "power") if key in content else "" for key in ("topic", "service"))
    return topic, service


def _check_keys(content: Any, where: str, needed: set[str], optional: set[str]) -> None:
    if not isinstance(content, Mapping):
        raise ValueError(f"{where} must be a mapping")
    if missing := needed - content.keys():
        raise ValueError(f"{where}: {', '.join(sorted(missing))} is missing")
    if unknown := content.keys() - needed - optional:
        known = ", ".join(sorted(needed | optional))
        raise ValueError(f"{where}: {', '.join(map(str, sorted(unknown, key=str)))} is not known: it may have {known}")


def _kind(word: Any) -> CommandKind:
    if word not in tuple(CommandKind):
        raise ValueError(f"interface: kind is {word!r}: it must be one of {', '.join(CommandKind)}")
    return CommandKind(word)


def _topic(word: Any, name: str) -> str:
    if not isinstance(word, str) or not _TOPIC.fullmatch(word):
        raise ValueError(f"interface: {name} is {word!r}: give the whole name of a topic, with its /")
    return word


def _names(row: Any) -> tuple[str, ...]:
    if isinstance(row, str) or not isinstance(row, Sequence):
        raise ValueError("interface: joints must be a list of names")
    return tuple(text_of(name, "interface: a name of joints") for name in row)


def _number(value: Any, name: str) -> float:
    return number(value, f"interface: {name}")
