"""The limits that `arm_controller` keeps, asked for: nobody has to set them in two places."""

from __future__ import annotations

import numpy as np
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters

from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import Robot
from kc_vla.policy.trajectory.request import ArmBounds, TrajectoryError
from kc_vla.ros.base import StackNode
from kc_vla.ros.controller_parameters import ControllerParameters

_CONTROLLER = "arm_controller"
_LIMITS = ("max_speed", "max_acceleration")
_BOX = tuple(f"workspace_{axis}_{side}" for side in ("low", "high") for axis in "xyz")
_TIMEOUT_S = 2.0
_AGAIN_S = 0.5


class ArmBoundsClient:
    """Asks the arm's controller for its limits, and combines them with those of the robot file."""

    def __init__(self, node: StackNode, robot: Robot) -> None:
        """Make the client of a node that is starting."""
        self._node, self._robot = node, robot
        self._client = node.call(GetParameters, f"{_CONTROLLER}/get_parameters")

    async def ask(self) -> ArmBounds:
        """Return the limits; the narrower of both count.

        Raises:
            TrajectoryError: the controller does not answer.
        """
        request = GetParameters.Request(names=[*_LIMITS, *_BOX])
        answered = await self._node.ask(self._client, request, _TIMEOUT_S, _AGAIN_S)
        values = [] if answered is None else answered.values
        if len(values) != len(request.names) or any(each.type != ParameterType.PARAMETER_DOUBLE for each in values):
            raise TrajectoryError(f"{_CONTROLLER} does not say which limits it keeps: is it alive?")
        given = {name: each.double_value for name, each in zip(request.names, values, strict=True)}
        limits, ones = self._robot.limits, np.ones(len(self._robot.joints))
        return ArmBounds(
            np.minimum(limits.speed, given["max_speed"] * ones),
            np.minimum(limits.acceleration, given["max_acceleration"] * ones),
            self._workspace(ControllerParameters(**given)),
        )

    def _workspace(self, parameters: ControllerParameters) -> Workspace | None:
        if self._robot.links is None:
            return None
        settings = parameters.servo_settings(self._robot)
        return Workspace(Kinematics(self._robot.links), settings.lowest, settings.highest, self._robot.down)
