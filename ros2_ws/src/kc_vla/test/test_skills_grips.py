"""Where the fingers grasp, and how far a hand leans that is to point down, for each arm that comes with the stack."""

from __future__ import annotations

import numpy as np
import pytest

from kc_vla.core.robot import load_robot
from kc_vla.motion.arm_model import ArmModel
from kc_vla.motion.hand import PAD, ParallelHand
from kc_vla.motion.problem import MotionError
from kc_vla.skills.grips import best_grip
from kc_vla.skills.hands import facing_down, looking_from
from kc_vla.skills.looking import _AT, _INTO
from kc_vla.skills.motion_paths import MotionPathMaker
from kc_vla.skills.tool_path import ToolPose

ROBOTS = ["panda_sim", "piper", "piper_h", "piper_l", "piper_x", "ur5e_ros"]


@pytest.mark.parametrize("name", ROBOTS)
def test_no_corner_of_a_finger_is_lower_than_the_tips_of_a_hand_that_does_not_lean(name: str) -> None:
    robot = load_robot(name)
    lean, grip = best_grip(robot)
    hand = ParallelHand.of(ArmModel(robot))
    beneath = (hand.corners - grip[:3, 3]) @ grip[:3, 2]
    assert beneath.max() == pytest.approx(PAD, abs=1e-9)
    assert np.arccos(grip[2, 2]) == pytest.approx(lean, abs=1e-9)
    assert abs(grip[:3, 1] @ hand.closing) == pytest.approx(1.0)  # both fingers at the same height


def test_the_hand_of_a_piper_leans_and_that_of_a_panda_does_not() -> None:
    assert best_grip(load_robot("panda_sim"))[0] == 0.0
    assert np.degrees(best_grip(load_robot("piper"))[0]) == pytest.approx(30.0)


def can_be(paths: MotionPathMaker, pose: ToolPose) -> bool:
    try:
        paths._planner.joints_for(pose.matrix @ paths._ungrip, paths._planner.robot.rest)
    except MotionError:
        return False
    return True


@pytest.mark.parametrize("name", ["panda_sim", "piper"])
def test_an_arm_can_look_at_things_and_into_them(name: str) -> None:
    paths = MotionPathMaker(load_robot(name))
    for places in (_AT, *_INTO):
        poses = (looking_from(0.4, away, high, tilt - paths.lean) for away, high, tilt in places)
        assert any(can_be(paths, pose) for pose in poses)


@pytest.mark.parametrize("name", ["piper", "piper_h", "piper_l", "piper_x"])
def test_a_piper_comes_from_above_to_what_is_half_a_meter_away(name: str) -> None:
    robot = load_robot(name)
    paths = MotionPathMaker(robot)
    reached = 0
    for distance in (0.2, 0.35, 0.5):
        for height in (0.02, 0.12):
            pose = ToolPose(np.array([distance, 0.0, height]), facing_down())
            try:
                joints = paths._planner.joints_for(pose.matrix @ paths._ungrip, robot.rest)
            except MotionError:
                continue
            reached += 1
            outwards = paths._planner.tool_pose(joints)[:3, 2]
            assert outwards[2] < -np.cos(np.radians(31.0))
            assert outwards[0] > -1e-6
    assert reached >= 5
