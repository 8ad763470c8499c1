"""An arm behind a third-party ROS driver, without the middleware: its joint states come, its commands go there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from kc_vla.arm.foreign import ForeignArm, Take
from kc_vla.core.robot import Robot, Vector
from kc_vla.core.robot_interface import CommandKind, RobotInterface
from kc_vla.core.robot_model import ROS, DriverChoice
from kc_vla.core.robot_numbers import ANGLES

_TOP = 3.0


def driven(robot: Robot, angles: str = "rad") -> Robot:
    """Return the same robot, moved by a third-party driver with that unit of an angle, a name in `ANGLES`."""
    options = {
        "kind": CommandKind.ARRAY.value,
        "command": "/go",
        "state": "/at",
        "joints": [f"axis_{k}" for k in range(len(robot.joints))],
        "angles": angles,
        "gripper": {"joint": "finger", "closed": 0.0, "open": 1.0},
    }
    return replace(robot, driver=DriverChoice(ROS, options))


class AnyRobot:
    """A `Line` to a robot that goes wherever it is sent, at most at 3 rad/s, and reports in the units of its driver.

    Attributes:
        angles: where its joints are, rad.
        sent: all angles that it was sent, rad.
        follows: it goes where it is sent.
    """

    def __init__(self, interface: RobotInterface, angles: Vector) -> None:
        self._interface, self.angles = interface, angles.copy()
        self.sent: list[Vector] = []
        self.follows = True

    def open(self, take: Take) -> None:
        self._take = take
        self.report()

    def send(self, names: Sequence[str], positions: Sequence[float], gripper: bool) -> None:
        assert tuple(names) == (*self._interface.joints, "finger")
        self.sent.append(np.array(positions[:-1]) * self._interface.radians)

    def switch(self, on: bool) -> None: ...

    def deaf(self) -> tuple[str, ...]:
        return ()

    def rivals(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None: ...

    def report(self) -> None:
        """Report where it is now."""
        positions = [*(self.angles / self._interface.radians), 0.5]
        self._take((*self._interface.joints, "finger"), positions, (), 0, 0, time.monotonic())


class DrivenArm(ForeignArm):
    """The driver of a robot of that kind, connected, whose time a test lets pass."""

    def __init__(self, robot: Robot, angles: Vector) -> None:
        assert robot.interface is not None
        self.robot = AnyRobot(robot.interface, angles)
        super().__init__(robot, robot.interface, self.robot, patience=0.0)
        self.connect()

    @property
    def angles(self) -> Vector:
        return self.robot.angles

    @property
    def sent(self) -> list[Vector]:
        return self.robot.sent

    def push(self, way: Vector) -> None:
        """Have the joints moved from outside by so many rad (N,), as its pendant would."""
        steps = 1 + int(np.abs(way).max() / 0.05)
        for _ in range(steps):
            self.robot.angles = self.robot.angles + way / steps
            self.robot.report()

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        robot = self.robot
        if robot.sent and robot.follows:
            robot.angles = robot.angles + np.clip(robot.sent[-1] - robot.angles, -_TOP * seconds, _TOP * seconds)
        robot.report()


UNITS = st.sampled_from(tuple(ANGLES))
