"""An arm that is mounted on its side: workspace, home pose, heights and fall follow the direction of gravity."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from piper import KINEMATICS, LIMITS, PIPER, REST

from kc_vla.arm.emulator.body import Body
from kc_vla.arm.home_pose import HomePose
from kc_vla.arm.interface import UnfitArmError
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import Robot, RobotError, load_robot
from kc_vla.core.share import share

RIGHT_BELOW = (0.0, -1.0, 0.0)
BOX = (-0.7, -0.2, 0.0), (0.7, 0.7, 0.9)
TO_THE_RIGHT = np.radians([-90.0, 90.0, -60.0, 0.0, 20.0, 0.0])
"""The flange is 0.4 m to the right, at -y."""


def written(folder: Path, **changes: object) -> Path:
    content = yaml.safe_load((share("robots") / "piper.yaml").read_text())
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump({**content, **changes}))
    return file


def test_the_floor_of_an_arm_on_its_side_is_where_the_ground_is() -> None:
    upright, on_side = Workspace(KINEMATICS, *BOX), Workspace(KINEMATICS, *BOX, RIGHT_BELOW)
    assert upright.outside(TO_THE_RIGHT) == "y of the workspace"
    assert on_side.outside(TO_THE_RIGHT) == "floor of the workspace"
    assert on_side.outside(REST) == upright.outside(REST) == ""
    assert on_side.height(TO_THE_RIGHT) < -0.2
    assert upright.height(TO_THE_RIGHT) > 0.0


def test_a_home_pose_is_doubted_by_the_heights_along_gravity() -> None:
    turned = REST + np.radians([90.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert HomePose(REST, LIMITS, KINEMATICS).found(turned) == ""  # an upright arm lies alike
    assert "joint 1 at 90 degrees" in HomePose(REST, LIMITS, KINEMATICS, RIGHT_BELOW).found(turned)


def test_an_emulated_arm_on_its_side_falls_about_its_base() -> None:
    body = Body(replace(PIPER, down=RIGHT_BELOW))
    body.angles = np.radians([0.0, 90.0, -60.0, 0.0, 20.0, 0.0])
    for _ in range(100):
        body.step(0.005, 1.0)
    assert KINEMATICS.flange(body.angles)[1, 3] < -0.1


def test_a_robot_file_says_which_axis_points_to_the_ground(tmp_path: Path) -> None:
    assert PIPER.down_axis == "-z"
    robot = load_robot(str(written(tmp_path, down="+y", driver={"type": "piper", "mount": "right"})))
    assert (robot.down, robot.down_axis) == ((0.0, 1.0, 0.0), "+y")
    PiperArm(robot, mount="right")
    with pytest.raises(RobotError, match=r"does not stand upright .* planned motions and skills need an upright base"):
        robot.require_upright()
    with pytest.raises(RobotError, match="down is 'left': it must be an axis of the base frame"):
        load_robot(str(written(tmp_path, down="left")))


@pytest.mark.parametrize(
    ("robot", "mount"),
    [(PIPER, "left"), (replace(PIPER, down=RIGHT_BELOW), "upright"), (replace(PIPER, down=RIGHT_BELOW), "")],
)
def test_a_mount_that_contradicts_the_direction_of_gravity_is_refused(robot: Robot, mount: str) -> None:
    with pytest.raises(UnfitArmError, match="an upright arm has -z down, one on its left or right side"):
        PiperArm(robot, mount=mount)
