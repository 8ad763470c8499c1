"""Motions of arms: they end where they were meant to, keep clear of what they must, and say why where they cannot."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from nightly import at_night
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import load_robot
from kc_vla.motion.planner import MotionPlanner
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import HeldBox, MotionScene, SceneBox

Vector = NDArray[np.float64]
ROBOTS = ("panda_sim", "piper", "ur5e_ros")
OTHERS = ("piper_h", "piper_l", "piper_x", "six_axis_ros")
WALL = SceneBox(
    "wall", np.array([[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0, 1.0]]), np.array([0.4, 0.02, 0.4])
)


@cache
def planner(name: str = "panda_sim") -> MotionPlanner:
    return MotionPlanner(load_robot(name))


def facing_down(x: float, y: float, z: float) -> Vector:
    pose = np.diag([1.0, -1.0, -1.0, 1.0])
    pose[:3, 3] = x, y, z
    return pose


def home(robot: MotionPlanner) -> Vector:
    return np.clip(robot.robot.rest, robot.arm.lower, robot.arm.upper)


def places(joints: Vector) -> Vector:
    robot = planner().robot
    assert robot.links is not None
    return Kinematics(robot.links).flange(joints)[..., :3, 3]


@pytest.mark.parametrize("name", [*ROBOTS, *at_night(*OTHERS)])
def test_the_arm_is_that_of_the_controller(name: str) -> None:
    robot = planner(name)
    links = robot.robot.links
    assert links is not None
    for joints in np.random.default_rng(0).uniform(robot.arm.lower, robot.arm.upper, (5, robot.arm.count)):
        np.testing.assert_allclose(robot.tool_pose(joints), Kinematics(links).flange(joints), atol=1e-12)


def test_an_older_firmware_has_its_own_zero() -> None:
    robot, older = load_robot("piper"), MotionPlanner(load_robot("piper"), "S-V1.5-2")
    joints = home(older)
    np.testing.assert_allclose(
        older.tool_pose(joints), Kinematics(robot.links_of("S-V1.5-2")).flange(joints), atol=1e-12
    )


@pytest.mark.parametrize("name", [*ROBOTS, *at_night(*OTHERS)])
def test_joints_are_found_for_poses_that_the_arm_takes(name: str) -> None:
    robot = planner(name)
    chance, solved, free = np.random.default_rng(1), 0, 0
    while free < 15:
        joints = chance.uniform(robot.arm.lower, robot.arm.upper)
        if robot._checker(()).is_free(joints, on_path=True):
            free += 1
            found = robot.joints_for(robot.tool_pose(joints), home(robot))
            np.testing.assert_allclose(robot.tool_pose(found), robot.tool_pose(joints), atol=2e-3)
            assert robot.why_blocked(found) is None
            solved += 1
    assert solved == 15


@pytest.mark.parametrize(
    ("pose", "problem", "text"),
    [
        (facing_down(0.68, 0.68, 0.3), MotionProblem.REACH, "out of the arm's reach"),
        (facing_down(0.5, 0.0, 0.012), MotionProblem.COLLISION, "'surface'"),
        (facing_down(0.5, 0.0, -0.1), MotionProblem.WORKSPACE, "the workspace has z 0 to 0.9 m"),
        (facing_down(2.0, 0.0, 0.3), MotionProblem.WORKSPACE, "the workspace has x -0.7 to 0.7 m"),
        (facing_down(500.0, 0.0, 0.3), MotionProblem.INPUT, "are these mm"),
        (facing_down(np.nan, 0.0, 0.3), MotionProblem.INPUT, "not finite"),
        (np.zeros((4, 4)), MotionProblem.INPUT, "no rotation matrix"),
        ("here", MotionProblem.INPUT, "no matrix of numbers"),
        (np.eye(3), MotionProblem.INPUT, "(4, 4)"),
    ],
)
def test_a_pose_that_cannot_be_says_why_in_one_line(pose: Vector, problem: MotionProblem, text: str) -> None:
    with pytest.raises(MotionError) as caught:
        planner().to_pose(home(planner()), pose)
    assert caught.value.problem is problem
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pose_behind_the_limit_of_a_joint_is_no_matter_of_reach() -> None:
    robot = planner("piper")
    with pytest.raises(MotionError, match="a joint has its limit before") as caught:
        robot.joints_for(facing_down(-0.3, 0.0, 0.3), home(robot))
    assert caught.value.problem is MotionProblem.LIMITS


def test_a_line_is_straight() -> None:
    robot = planner()
    start = robot.joints_for(facing_down(0.45, 0.2, 0.3), home(robot))
    path = robot.line(start, facing_down(0.5, -0.2, 0.1))
    points = places(robot.trajectory(path).joints)
    way = points[-1] - points[0]
    off = np.cross(points - points[0], way / np.linalg.norm(way))
    assert np.linalg.norm(off, axis=1).max() < 0.002
    np.testing.assert_allclose(points[-1], [0.5, -0.2, 0.1], atol=1e-3)


def test_a_line_goes_through_several_poses() -> None:
    robot = planner()
    start = robot.joints_for(facing_down(0.45, 0.2, 0.3), home(robot))
    points = places(robot.line(start, facing_down(0.45, 0.2, 0.1), facing_down(0.55, 0.0, 0.1)).joints)
    assert np.linalg.norm(points - [0.45, 0.2, 0.1], axis=1).min() < 1e-3
    np.testing.assert_allclose(points[-1], [0.55, 0.0, 0.1], atol=1e-3)


def test_a_line_out_of_reach_says_how_far_it_goes() -> None:
    robot = planner()
    start = robot.joints_for(facing_down(0.5, 0.2, 0.3), home(robot))
    with pytest.raises(MotionError, match=r"after [1-9]\d? % of the way"):
        robot.line(start, facing_down(0.69, 0.69, 0.3))


def test_an_arc_turns_the_hand_about_the_hinge() -> None:
    robot = planner()
    hinge = np.array([0.5, -0.25, 0.0])
    start = robot.joints_for(facing_down(0.5, 0.05, 0.3), home(robot))
    path = robot.arc(start, hinge, [0, 0, 1], 1.0)
    points = places(robot.trajectory(path).joints)
    assert np.abs(np.linalg.norm((points - hinge)[:, :2], axis=1) - 0.3).max() < 0.002
    assert np.abs(points[:, 2] - 0.3).max() < 0.002
    turned = robot.tool_pose(path.end)[:3, :3] @ robot.tool_pose(start)[:3, :3].T
    np.testing.assert_allclose(Rotation.from_matrix(turned).as_rotvec(), [0, 0, 1.0], atol=5e-3)


@pytest.mark.parametrize(
    ("point", "axis", "angle"),
    [([0.5, 0, np.inf], [0, 0, 1], 1), ([0.5, 0, 0], [0, 0, 0], 1), ([0.5, 0, 0], [0, 0, 1], 99)],
)
def test_an_arc_about_nothing_is_refused(point: list[float], axis: list[float], angle: float) -> None:
    with pytest.raises(MotionError) as caught:
        planner().arc(home(planner()), point, axis, angle)
    assert caught.value.problem is MotionProblem.INPUT


def test_a_free_motion_goes_around_what_stands_in_the_way() -> None:
    robot = planner()
    start = robot.joints_for(facing_down(0.5, 0.25, 0.15), home(robot))
    end = facing_down(0.5, -0.25, 0.15)
    assert len(robot.to_pose(start, end).joints) == 2
    walled = robot.in_scene(MotionScene(boxes=(WALL,)))
    points = places(walled.trajectory(walled.to_pose(start, end)).joints)
    inside = (np.abs(points - WALL.pose[:3, 3]) < WALL.size / 2 + 0.008).all(axis=1)
    assert not inside.any()
    with pytest.raises(MotionError, match="'wall'"):
        walled.line(start, end)


def test_what_is_held_keeps_clear_as_well() -> None:
    robot = planner()
    start = robot.joints_for(facing_down(0.5, 0.25, 0.3), home(robot))
    low = facing_down(0.5, 0.25, 0.12)
    robot.line(start, low)
    held = HeldBox("bottle", facing_down(0, 0, 0.08), np.array([0.05, 0.05, 0.2]))
    with pytest.raises(MotionError, match="'bottle' would come nearer to 'surface'"):
        robot.in_scene(MotionScene(held=held)).line(start, low)


def test_a_hand_may_touch_what_it_is_to_grasp_and_nothing_else() -> None:
    robot = planner()
    box = SceneBox("apple", facing_down(0.5, 0.0, 0.03), np.array([0.05, 0.05, 0.06]))
    other = SceneBox("mug", facing_down(0.5, 0.06, 0.05), np.array([0.05, 0.05, 0.1]))
    above, at = facing_down(0.5, 0.0, 0.2), facing_down(0.5, 0.0, 0.03)
    alone = robot.in_scene(MotionScene(boxes=(box,)))
    start = alone.joints_for(above, home(robot))
    alone.line(start, at, touch={"apple"})
    with pytest.raises(MotionError, match="'apple'"):
        alone.line(start, at)
    with pytest.raises(MotionError, match="'mug'"):
        robot.in_scene(MotionScene(boxes=(box, other))).line(start, at, touch={"apple"})


def test_an_arm_too_near_to_something_may_leave_and_one_deep_inside_may_not() -> None:
    robot = planner()
    start = robot.joints_for(facing_down(0.5, 0.0, 0.1), home(robot))
    gap = robot.hand.tip

    def below(height: float) -> MotionScene:
        return MotionScene(boxes=(SceneBox("box", facing_down(0.5, 0, height - 0.02), np.array([0.1, 0.1, 0.04])),))

    near = robot.in_scene(below(0.1 - gap - 0.002))
    points = places(near.line(start, facing_down(0.5, 0.0, 0.3)).joints)
    assert points[-1, 2] > 0.29
    with pytest.raises(MotionError):
        near.line(start, facing_down(0.5, 0.0, 0.08))
    with pytest.raises(MotionError, match="mm inside of 'box'"):
        robot.in_scene(below(0.13)).line(start, facing_down(0.5, 0.0, 0.3))


def test_the_same_question_has_the_same_answer() -> None:
    paths = [MotionPlanner(load_robot("panda_sim"), scene=MotionScene(boxes=(WALL,))) for _ in range(2)]
    found = [
        each.to_pose(each.joints_for(facing_down(0.5, 0.25, 0.15), home(each)), facing_down(0.5, -0.25, 0.15)).joints
        for each in paths
    ]
    np.testing.assert_array_equal(*found)


def test_a_way_back_is_the_same_way() -> None:
    robot = planner()
    path = robot.to_pose(home(robot), facing_down(0.5, 0.2, 0.2)).reversed()
    np.testing.assert_array_equal(path.end, home(robot))
    assert robot.trajectory(path).seconds == pytest.approx(robot.trajectory(path.reversed()).seconds)


@pytest.mark.parametrize("joints", [[0.0] * 6, [np.nan] * 7, "home", [9.0] * 7])
def test_joints_that_are_none_are_refused(joints: list[float]) -> None:
    with pytest.raises(MotionError):
        planner().to_pose(joints, facing_down(0.5, 0.0, 0.3))


def test_the_workspace_is_that_of_the_controller() -> None:
    robot = planner("piper")
    links = robot.robot.links
    assert links is not None
    low, high = robot.arm.workspace_low, robot.arm.workspace_high
    workspace = Workspace(Kinematics(links), tuple(low), tuple(high))
    checker = robot._checker(())
    for joints in np.random.default_rng(3).uniform(robot.arm.lower, robot.arm.upper, (200, 6)):
        if checker.is_free(joints):
            assert workspace.slack(joints).min() > 0.005
