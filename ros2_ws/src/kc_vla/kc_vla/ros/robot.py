"""The robot that a node works with, as the parameter `rig` names it."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.rig import Rig, RigError, load_rig
from kc_vla.ros.base import StartError
from kc_vla.ros.parameters import NodeParameters, parameter


@dataclass(frozen=True)
class RobotParameters(NodeParameters):
    """The parameters of a node that has to know the robot, if only which views it has."""

    rig: str = parameter("panda_sim", "the robot: a name of robots/, or its YAML file")

    def robot(self) -> Rig:
        """Return the rig.

        Raises:
            StartError: there is none, or it is not understood.
        """
        try:
            return load_rig(self.rig)
        except RigError as error:
            raise StartError(str(error)) from error
