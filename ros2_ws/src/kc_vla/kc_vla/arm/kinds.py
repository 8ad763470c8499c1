"""The table of arm drivers: `arm:=` of the launch files, `driver: {type: ...}` of a robot file.

Another package adds a driver with an entry point of the group `kc_vla.arms` that names an `ArmKind`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kc_vla.arm.interface import ArmDriver
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.wiring import Wiring
from kc_vla.core.robot import Robot
from kc_vla.core.robot_model import PIPER, ROS
from kc_vla.core.tables import OpenTable

T = TypeVar("T")


@dataclass(frozen=True)
class Timing:
    """The rates of set-points and reports of an arm.

    Attributes:
        command_rate: set-points per second; None: the parameter `command_rate` of the controller.
        stale_after: time without a new joint state after which the arm counts as lost, s.
    """

    command_rate: float | None = None
    stale_after: float = ServoSettings.stale_after


def _usual_timing(robot: Robot, options: Any) -> Timing:
    return Timing()


@dataclass(frozen=True)
class ArmKind(Generic[T]):
    """A row of the table of arm drivers.

    Attributes:
        meaning: what the driver moves, in half a line, for `--help` and the documentation.
        options: frozen dataclass of the driver's options, its fields made by `kc_vla.core.options.option`.
        make: makes the driver in the control process. It imports the vendor's library; the row must not import it.
        identity: name of the arm on this machine, such as its CAN interface or address. The record of an emergency stop
            has this name.
        timing: returns the rates of the arm.
        claim: returns the name that only one controller at a time may have; None: the identity.
    """

    meaning: str
    options: type[T]
    make: Callable[[Wiring, T], ArmDriver]
    identity: Callable[[Robot, T], str]
    timing: Callable[[Robot, T], Timing] = _usual_timing
    claim: Callable[[Robot, T], str] | None = None


ARMS: OpenTable[ArmKind[Any]] = OpenTable(
    "kc_vla.arms",
    "arm driver",
    ArmKind,
    {PIPER: "kc_vla.arm.piper_kind:PIPER", ROS: "kc_vla.ros.arm_kind:ROS"},
)


@dataclass(frozen=True)
class ChosenArm:
    """A driver with its options, for one robot.

    Attributes:
        name: name of the driver.
        kind: row of the driver.
        robot: the robot.
        options: an instance of the row's options.
    """

    name: str
    kind: ArmKind[Any]
    robot: Robot
    options: Any

    @property
    def identity(self) -> str:
        """Name of the arm on this machine."""
        return self.kind.identity(self.robot, self.options)

    @property
    def claim(self) -> str:
        """What one controller at a time may have."""
        return (self.kind.claim or self.kind.identity)(self.robot, self.options)

    @property
    def timing(self) -> Timing:
        """How fast the arm takes set-points and reports."""
        return self.kind.timing(self.robot, self.options)


def choose_arm(name: str, robot: Robot, given: Mapping[str, Any] | None = None) -> ChosenArm:
    """Return the driver of that name for a robot.

    Args:
        name: name of the driver.
        robot: the robot. The options of its file count if the file names this driver.
        given: options that replace those of the file.

    Raises:
        TableError: There is no such driver, or its package cannot be loaded.
        OptionError: It cannot have these options.
    """
    where, of_file = f"driver '{name}' of robot '{robot.name}'", robot.driver.options
    if robot.driver.type != name:
        where, of_file = f"{where}, whose file has the driver '{robot.driver.type}'", {}
    return ChosenArm(name, ARMS.get(name), robot, ARMS.options_of(name, {**of_file, **(given or {})}, where=where))
