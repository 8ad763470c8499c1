"""Connects the arm controller to the arm that its parameters name."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from kc_vla.arm.wiring import Wiring
from kc_vla.calibration.reading import load_offsets
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.errors import StackError
from kc_vla.ros.arm_link import ArmLink
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.controller_parameters import ControllerParameters
from kc_vla.ros.emergency_stop import EmergencyStop


def connect(node: StackNode, values: ControllerParameters, stop: EmergencyStop) -> ArmLink:
    """Begin to connect the node to a real or an emulated arm.

    Raises:
        StartError: the parameters do not fit one another, or a file that they name is not as it must be.
    """
    if values.mode == "lockstep":
        raise StartError(f"the arm '{values.arm}' does not wait: set 'mode' to realtime")
    try:
        chosen, file = values.chosen_arm(), values.joint_offsets
        robot = chosen.robot
        offsets = load_offsets(Path(file).expanduser(), robot.limits, (robot.name, robot.robot_type)) if file else None
        settings = values.servo_settings(chosen.robot, chosen.timing)
    except (StackError, CalibrationError, ValueError) as error:
        raise StartError(str(error)) from error
    simulated_time = bool(node.get_parameter("use_sim_time").value)
    wiring = Wiring(chosen.name, robot, asdict(chosen.options), offsets, values.bus_timeout, simulated_time)
    return ArmLink(node, wiring, settings, values.state_rate, values.priority, stop, chosen.identity)
