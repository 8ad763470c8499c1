"""The parameters of `arm_controller`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.arm.kinds import ARMS, ChosenArm, Timing, choose_arm
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.stop_latch import usual_folder
from kc_vla.core.options import parse_options
from kc_vla.core.robot import Robot, load_robot
from kc_vla.core.robot_model import PIPER, SIMULATED
from kc_vla.ros.parameters import NodeParameters, parameter

_OF_PIPER = ("channel", "bus")
_USUAL_TIMING = Timing()


def _check_arm(name: str) -> None:
    """Refuse a driver that cannot be loaded. Raises: TableError: why, and which package has to change."""
    if name != SIMULATED:
        ARMS.get(name)


def _bound(description: str) -> Any:
    """A bound of the workspace, which the robot file has where the parameter is not given."""
    return parameter(math.nan, f"{description}, m; nan: the bound of the robot file", low=-2.0, high=2.0)


@dataclass(frozen=True)
class StopParameters(NodeParameters):
    """Which arm an emergency stop is about, and where it is on record."""

    arm: str = parameter(
        SIMULATED, f"what executes the commands: {SIMULATED}, or a driver: {', '.join(ARMS.names())}", check=_check_arm
    )
    robot: str = parameter("piper", "the robot: a name of robots/, or its YAML file", former="rig")
    driver: str = parameter(
        "", "options of the driver that replace those of the robot file, e.g. '{address: 192.168.1.5}'"
    )
    channel: str = parameter("can0", "CAN interface (arm: piper)")
    bus: str = parameter("socketcan", "python-can's name of the kind of bus (arm: piper)")
    state_folder: str = parameter(
        "",
        "folder for the record of an emergency stop; empty: $ROS_HOME/kc_vla or ~/.ros/kc_vla; "
        f"with arm {SIMULATED} there is no record",
    )

    def chosen_arm(self) -> ChosenArm:
        """The driver with its options. Those of a parameter replace those of the robot file.

        Raises:
            RobotError: The robot is not known.
            TableError: The driver cannot be loaded.
            OptionError: It cannot have these options.
        """
        given = parse_options(self.driver)
        if self.arm == PIPER:  # whose options have parameters of their own, which are older
            usual = {name: value for name in _OF_PIPER if (value := getattr(self, name)) != getattr(type(self), name)}
            given = {**usual, **given}
        return choose_arm(self.arm, load_robot(self.robot), given)

    def stop_folder(self) -> Path | None:
        """Return where an emergency stop is on record; None: nowhere, it ends with this process.

        Raises:
            RobotError, TableError, OptionError: see `chosen_arm`.
            LatchError: there is no such place.
        """
        if self.state_folder:
            return Path(self.state_folder).expanduser()
        return None if self.arm == SIMULATED else usual_folder(self.chosen_arm().identity)


@dataclass(frozen=True)
class ControllerParameters(StopParameters):
    """The parameters of `arm_controller`."""

    mode: str = parameter(
        "lockstep",
        "lockstep: a control step waits for the simulator; realtime: for the wall clock",
        choices=("lockstep", "realtime"),
    )
    bus_timeout: float = parameter(5.0, "s to wait for an arm that does not answer yet", low=0.0, high=600.0)
    control_rate: float = parameter(200.0, "Hz of the control loop (realtime)", low=10.0, high=1000.0)
    command_rate: float = parameter(
        200.0, "Hz of the set-points, for a driver without a rate of its own", low=50.0, high=200.0
    )
    state_rate: float = parameter(100.0, "Hz of the arm's state", low=10.0, high=200.0)
    max_speed: float = parameter(
        ServoSettings.speed, "velocity limit of every joint of a real arm, rad/s", low=0.05, high=3.0
    )
    max_acceleration: float = parameter(
        ServoSettings.acceleration, "acceleration limit of every joint of a real arm, rad/s2", low=0.1, high=500.0
    )
    max_jerk: float = parameter(
        ServoSettings.jerk, "jerk limit of every joint of a real arm, rad/s3", low=1.0, high=50_000.0
    )
    workspace_x_low: float = _bound("lower x of the flange in the base frame")
    workspace_x_high: float = _bound("upper x of the flange in the base frame")
    workspace_y_low: float = _bound("lower y of the flange in the base frame")
    workspace_y_high: float = _bound("upper y of the flange in the base frame")
    workspace_z_low: float = _bound("lower z of the flange and of every joint in the base frame")
    workspace_z_high: float = _bound("upper z of the flange in the base frame")
    priority: int = parameter(50, "real-time priority of the control loop (realtime); 0: none", low=0, high=99)
    execute_steps: int = parameter(5, "control steps of a chunk before the next chunk is requested", low=1, high=500)
    blend_steps: int = parameter(3, "control steps of the blend from chunk to chunk", low=0, high=100)
    latency_steps: int = parameter(2, "control steps from request to use of a chunk (lockstep)", low=0, high=100)
    request_timeout: float = parameter(4.0, "s after which an unanswered request is made again", low=0.1, high=60.0)
    stale_after: float = parameter(0.5, "s without a joint state after which the arm holds", low=0.05, high=10.0)
    compliance: str = parameter(
        "guide",
        "arm/compliance: guide: the arm goes where a hand leads it; contact: it follows its targets, softly",
        choices=("guide", "contact"),
        fixed=False,
    )
    joint_offsets: str = parameter("", "file of `kc-vla calibrate joints`; empty: none")
    max_translation: float = parameter(0.1, "longest move that one action may request, m", low=0.001, high=0.5)
    max_rotation: float = parameter(0.1, "largest turn that one action may request, rad", low=0.001, high=1.0)

    def servo_settings(self, robot: Robot, timing: Timing = _USUAL_TIMING) -> ServoSettings:
        """Return what the servo is to keep to.

        Args:
            robot: of the arm. Its workspace counts where no parameter gives another bound.
            timing: how fast the arm takes set-points and reports.

        Raises:
            ValueError: the workspace is empty.
        """
        rate = timing.command_rate or self.command_rate
        usual = robot.workspace or (ServoSettings.lowest, ServoSettings.highest)
        low = (self.workspace_x_low, self.workspace_y_low, self.workspace_z_low)
        high = (self.workspace_x_high, self.workspace_y_high, self.workspace_z_high)
        settings = ServoSettings(
            period=1.0 / self.control_rate,
            command_every=max(1, round(self.control_rate / rate)),
            speed=self.max_speed,
            stale_after=timing.stale_after,
            acceleration=self.max_acceleration,
            jerk=self.max_jerk,
            lowest=_given_or(low, usual[0]),
            highest=_given_or(high, usual[1]),
        )
        if not all(low < high for low, high in zip(settings.lowest, settings.highest, strict=True)):
            raise ValueError(f"the workspace from {settings.lowest} to {settings.highest} m is empty")
        return settings


def _given_or(bounds: tuple[float, float, float], usual: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = (other if math.isnan(bound) else bound for bound, other in zip(bounds, usual, strict=True))
    return x, y, z
