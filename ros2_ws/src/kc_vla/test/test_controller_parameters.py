"""What the controller's parameters and a robot file come to together."""

from dataclasses import replace

import pytest
from piper import PIPER

from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.ros.controller_parameters import ControllerParameters

BOX = ((-0.5, -0.4, 0.1), (0.3, 0.2, 0.8))


def test_the_workspace_is_the_files_and_a_parameter_replaces_one_side() -> None:
    mine = replace(PIPER, workspace=BOX)
    usual = ControllerParameters().servo_settings(mine)
    assert (usual.lowest, usual.highest) == BOX
    one = ControllerParameters(workspace_y_low=-0.1).servo_settings(mine)
    assert (one.lowest, one.highest) == ((-0.5, -0.1, 0.1), BOX[1])
    none = ControllerParameters().servo_settings(replace(PIPER, workspace=None))
    assert (none.lowest, none.highest) == (ServoSettings.lowest, ServoSettings.highest)
    with pytest.raises(ValueError, match="is empty"):
        ControllerParameters(workspace_z_high=0.05).servo_settings(mine)


def test_the_parameters_bound_velocity_acceleration_and_jerk() -> None:
    usual = ControllerParameters().servo_settings(PIPER)
    assert (usual.speed, usual.acceleration, usual.jerk) == (1.0, 8.0, 80.0)
    slow = ControllerParameters(max_speed=0.3, max_acceleration=2.0, max_jerk=20.0).servo_settings(PIPER)
    assert (slow.speed, slow.acceleration, slow.jerk) == (0.3, 2.0, 20.0)
