"""Where a robot stands at the table, and how it begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sapien

from kc_vla.core.robot import Robot, load_robot
from kc_vla_sim.robot import ROBOT

ROBOT_BASE = sapien.Pose(p=[-0.615, 0, 0])
"""Pose of the Panda's base in the world."""
START_POSTURE = (0.0, np.pi / 8, 0.0, -np.pi * 5 / 8, 0.0, np.pi * 3 / 4, np.pi / 4, 0.0, 0.0)
"""The Panda's seven arm joints (rad) and two fingers (m), gripper closed."""
PIPER = "piper"
"""The uid of the Piper, and the name of its robot file."""


@dataclass(frozen=True)
class Station:
    """A robot at the table.

    Attributes:
        robot: the robot file's content.
        base: pose of its base in the world.
        posture: joints of the arm (rad) and two fingers (m) at the beginning of an episode, gripper closed.
        is_panda: whether the postures of `panda_posture`, and those that tasks have by number, are this arm's.
    """

    robot: Robot
    base: sapien.Pose
    posture: tuple[float, ...]
    is_panda: bool


PANDA_STATION = Station(ROBOT, ROBOT_BASE, START_POSTURE, is_panda=True)
_PIPER_BASE = sapien.Pose(p=[-0.42, 0, 0])
"""Nearer to the middle of the table than the Panda: pointing down, the Piper reaches 0.46 m."""


def station_of(uid: str) -> Station:
    """Return where the robot with this uid of ManiSkill stands; one that is unknown stands where the Panda does."""
    if uid != PIPER:
        return PANDA_STATION
    robot = load_robot(PIPER)
    return Station(robot, _PIPER_BASE, (*robot.rest, 0.0, 0.0), is_panda=False)
