"""A robot as data: its joints and their limits, gripper, cameras, kinematics and driver."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core import robot_numbers
from kc_vla.core.chain import Chain
from kc_vla.core.compliance import ComplianceGains
from kc_vla.core.errors import StackError
from kc_vla.core.options import read_options
from kc_vla.core.robot_interface import RobotInterface, RosOptions

Vector = robot_numbers.Vector
FIRMWARE = re.compile(r"S-V(\d+)\.(\d+)-(\d+)")
ACCELERATION, JERK = 8.0, 80.0
"""Limits of a joint of which neither a robot file nor a parameter says more, rad/s2 and rad/s3."""
DOWN = (0.0, 0.0, -1.0)
"""Direction of gravity in the base frame of an arm that stands upright."""
PIPER, ROS, SIMULATED = "piper", "ros", "simulated"
"""Types of drivers that are part of this stack."""


class RobotError(StackError):
    """A robot file that is not there or cannot be; the text names the file and what is wrong in it."""


def _unlimited() -> Vector:
    return np.array(np.inf)


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of N joints.

    Attributes:
        lowest, highest: angles (N,), rad.
        speed: top velocity (N,), rad/s.
        acceleration, jerk: (N,), rad/s2 and rad/s3; infinite, (), where nothing is said of them.
    """

    lowest: Vector
    highest: Vector
    speed: Vector
    acceleration: Vector = field(default_factory=_unlimited)
    jerk: Vector = field(default_factory=_unlimited)

    def narrowed(self, other: JointLimits) -> JointLimits:
        """Return what both allow."""
        return JointLimits(
            np.maximum(self.lowest, other.lowest),
            np.minimum(self.highest, other.highest),
            np.minimum(self.speed, other.speed),
            np.minimum(self.acceleration, other.acceleration),
            np.minimum(self.jerk, other.jerk),
        )


@dataclass(frozen=True)
class DriverChoice:
    """Which driver moves the robot.

    Attributes:
        type: name of the driver, such as "piper" or "ros".
        options: what the robot file says to this driver.
    """

    type: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Robot:
    """An arm of N joints with a gripper of G joints.

    Attributes:
        name: name of the robot.
        joints: their names.
        limits: of the joints.
        rest: how the arm lies by itself without power (N,), rad.
        gripper: names of its joints, G of them: one that is its opening, or two fingers.
        opening: of the gripper when it is wide open, m: its joints add up to it.
        links: the chain of its joints from the base frame to the tool frame; None for a robot whose way the stack does
            not plan.
        older: links of arms whose firmware is older, and the first firmware that is not; None where all are alike.
        robot_type: what data sets call the robot.
        columns: what they call its joints and those of the gripper, N + G.
        cameras: the views, one or more, and the name of each one's optical frame.
        base_frame: that poses are in.
        tool_frame: of the tool center point.
        control_rate: control steps per second.
        driver: which driver moves it.
        urdf: file with its description; None where that is made from its links.
        workspace: corners of the box that its flange stays in, lower and upper x, y, z, m; None for the usual one.
        skills: way of each skill of the planner that the file names, "motion" or "policy".
        down: direction of gravity in the base frame, a unit vector x, y, z along one of its axes.
        compliance: how soft its joints may be; None: it is not led softly.
    """

    name: str
    joints: tuple[str, ...]
    limits: JointLimits
    rest: Vector
    gripper: tuple[str, ...]
    opening: float
    links: Chain | None
    older: tuple[tuple[int, ...], Chain] | None
    robot_type: str
    columns: tuple[str, ...]
    cameras: Mapping[str, str]
    base_frame: str
    tool_frame: str
    control_rate: float
    driver: DriverChoice = DriverChoice(PIPER)
    urdf: Path | None = None
    workspace: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    skills: Mapping[str, str] = field(default_factory=dict)
    down: tuple[float, float, float] = DOWN
    compliance: ComplianceGains | None = None

    @cached_property
    def interface(self) -> RobotInterface | None:
        """Return how a third-party ROS driver moves it, by the options of the driver `ros`; None for another driver.

        Raises:
            OptionError: The driver cannot have these options.
        """
        if self.driver.type != ROS:
            return None
        return read_options(RosOptions, self.driver.options, "driver").interface(self.joints)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of joint positions: those of the joints, rad, then those of the gripper, m."""
        return (*self.joints, *self.gripper)

    @property
    def views(self) -> tuple[str, ...]:
        """Return names of its cameras, in order; the images of the first count the frames."""
        return tuple(self.cameras)

    def is_called(self, names: Sequence[str]) -> bool:
        """Return whether these are its joints and those of its gripper, as it or a data set calls them, in order.

        What all of `names` begin with, up to an underscore, is no part of a name: "left_joint1" of two arms.
        """
        return _bare(names) in (_bare(self.names), _bare(self.columns))

    def gripper_opening(self, positions: Vector) -> Vector:
        """Return the gripper width, m (...), for joint positions (..., N + G)."""
        return np.asarray(positions[..., len(self.joints) :].sum(axis=-1))

    def gripper_share(self, positions: Vector) -> Vector:
        """Return the gripper width as a share, 0 closed .. 1 open (...), for joint positions (..., N + G)."""
        return np.asarray(np.clip(self.gripper_opening(positions) / self.opening, 0.0, 1.0))

    @property
    def down_axis(self) -> str:
        """Return the axis of the base frame that points to the ground, such as "-z"."""
        axis = next(number for number, value in enumerate(self.down) if value)
        return f"{'+' if self.down[axis] > 0 else '-'}{'xyz'[axis]}"

    def require_upright(self) -> None:
        """Check that the base stands upright, as planned motions and skills assume.

        Raises:
            RobotError: it is mounted otherwise.
        """
        if self.down != DOWN:
            raise RobotError(
                f"the robot '{self.name}' does not stand upright ('down' in its file): planned motions and skills need "
                "an upright base; move it with a policy or by hand"
            )

    def links_of(self, firmware: str) -> Chain:
        """Return the links of an arm with that firmware, e.g. "S-V1.8-5".

        Raises:
            RobotError: it has none, or the firmware, which they depend on, is not understood.
        """
        if self.links is None:
            raise RobotError(f"the robot '{self.name}' has no links: it cannot be driven as an arm of joints")
        if self.older is None or not firmware:
            return self.links
        return self.links if firmware_version(firmware) >= self.older[0] else self.older[1]


def _bare(names: Sequence[str]) -> tuple[str, ...]:
    first, last = min(names, default=""), max(names, default="")
    common = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return tuple(name[first.rfind("_", 0, common) + 1 :] for name in names)


def firmware_version(text: str) -> tuple[int, ...]:
    """Return the numbers of a firmware's name, to be compared one after the other: S-V1.6-12 is newer than S-V1.6-3.

    Raises:
        RobotError: it is none.
    """
    found = FIRMWARE.fullmatch(text)
    if found is None:
        raise RobotError(f"'{text}' is no firmware such as S-V1.6-3")
    return tuple(map(int, found.groups()))
