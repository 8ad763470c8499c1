"""The robot that a node works with, as the parameter `robot` names it."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.robot import Robot, RobotError, load_robot
from kc_vla.ros.base import StartError
from kc_vla.ros.parameters import NodeParameters, parameter


@dataclass(frozen=True)
class RobotParameters(NodeParameters):
    """The parameters of a node that has to know the robot, if only which views it has."""

    robot: str = parameter("panda_sim", "the robot: a name of robots/, or its YAML file", former="rig")

    def loaded_robot(self) -> Robot:
        """Return the robot.

        Raises:
            StartError: There is none of that name, or its file is not understood.
        """
        try:
            return load_robot(self.robot)
        except RobotError as error:
            raise StartError(str(error)) from error
