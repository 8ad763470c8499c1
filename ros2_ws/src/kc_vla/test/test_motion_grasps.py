"""Grasps: which, how wide, and where the fingers are; picking up and putting down as a whole."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.core.robot import load_robot
from kc_vla.motion.arm_model import ArmModel
from kc_vla.motion.grasps import HANDLE, RIM, ROUND, SIDE, TOP, BarHandle, grasps_of, handle_grasps
from kc_vla.motion.hand import ParallelHand
from kc_vla.motion.pick import plan_pick, plan_place, reachable
from kc_vla.motion.planner import MotionPlanner
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import MotionScene, SceneBox

Vector = NDArray[np.float64]


@cache
def planner(name: str = "panda_sim") -> MotionPlanner:
    return MotionPlanner(load_robot(name))


def home(robot: MotionPlanner) -> Vector:
    return np.clip(robot.robot.rest, robot.arm.lower, robot.arm.upper)


def standing(
    name: str, x: float, y: float, size: tuple[float, float, float], yaw: float = 0.0, z: float = 0.0
) -> SceneBox:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("z", yaw).as_matrix()
    pose[:3, 3] = x, y, z + size[2] / 2
    return SceneBox(name, pose, np.array(size))


@pytest.mark.parametrize("name", ["panda_sim", "piper", "ur5e_ros"])
@tried(15, 200)
@given(st.tuples(*[st.floats(0.01, 0.2)] * 3), st.floats(-3, 3), st.sampled_from(["mug", "milk", "bowl", "knife"]))
def test_fingers_fit_around_the_thing_and_stay_above_the_surface(
    name: str, size: tuple[float, float, float], yaw: float, object_type: str
) -> None:
    hand, box = planner(name).hand, standing("thing", 0.4, 0.1, size, yaw)
    try:
        found = grasps_of(box, object_type, hand, 0.0)
    except MotionError:
        return  # test_what_cannot_be_grasped_says_why
    poses = np.array([grasp.pose for grasp in found])
    assert ((poses[:, :3, 3] + hand.tip * poses[:, :3, 2])[:, 2] > 0.0).all()
    assert all(grasp.closed < grasp.width <= hand.width for grasp in found)
    assert [grasp.cost for grasp in found] == sorted(grasp.cost for grasp in found)
    for grasp in found[::7]:  # the thing is in the middle between the fingers, and as wide as the grasp says
        if grasp.kind != RIM and object_type not in ROUND:
            across = (box.corners - grasp.pose[:3, 3]) @ grasp.pose[:3, :3] @ hand.closing
            assert across.max() == pytest.approx(grasp.closed / 2)
            assert across.min() == pytest.approx(-grasp.closed / 2)


def test_fingers_close_on_the_narrow_side() -> None:
    hand = planner().hand
    best = grasps_of(standing("milk", 0.5, 0, (0.1, 0.06, 0.15), 0.3), "milk", hand, 0.0)[0]
    assert best.kind == TOP
    assert best.closed == pytest.approx(0.06)
    assert abs((best.pose[:3, :3] @ hand.closing) @ [-np.sin(0.3), np.cos(0.3), 0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("box", "text"),
    [
        (standing("crate", 0.5, 0, (0.2, 0.2, 0.2)), "does not fit between the fingers, which open 80 mm"),
        (standing("coin", 0.5, 0, (0.02, 0.02, 0.002)), "too flat"),
        (standing("ghost", 0.5, 0, (0.05, 0.05, 0.05), z=-0.2), "below the surface"),
    ],
)
def test_what_cannot_be_grasped_says_why(box: SceneBox, text: str) -> None:
    with pytest.raises(MotionError, match=text):
        grasps_of(box, "thing", planner().hand, 0.0)


def test_a_wide_bowl_is_grasped_at_its_rim() -> None:
    found = grasps_of(standing("bowl", 0.5, 0, (0.14, 0.14, 0.06)), "bowl", planner().hand, 0.0)
    assert {grasp.kind for grasp in found} == {RIM}


def test_a_thing_below_a_board_is_grasped_from_aside() -> None:
    mug = standing("mug", 0.5, 0.25, (0.07, 0.07, 0.09), z=0.2)
    around = [standing("shelf", 0.5, 0.25, (0.1, 0.1, 0.2)), standing("shelf", 0.5, 0.25, (0.16, 0.3, 0.02), z=0.37)]
    robot = planner().in_scene(MotionScene(boxes=(mug, *around)))
    motion = plan_pick(robot, home(robot), "mug", "mug", lift=0.02)
    assert motion.grasp.kind == SIDE
    assert abs(motion.grasp.approach[2]) < 1e-6


def test_a_bar_is_grasped_across_from_the_front_or_from_above() -> None:
    hand = planner().hand
    handle = BarHandle(np.array([0.5, 0, 0.2]), np.array([0, 1.0, 0]), np.array([-1.0, 0, 0]))
    found = handle_grasps(handle, hand)
    assert {grasp.kind for grasp in found} == {HANDLE}
    np.testing.assert_allclose(found[0].approach, [1, 0, 0], atol=1e-9)
    assert any(grasp.approach[2] < -0.99 for grasp in found)
    for grasp in found:
        assert abs((grasp.pose[:3, :3] @ hand.closing) @ handle.bar) < 1e-9


@pytest.mark.parametrize(
    ("bar", "outwards", "thickness"),
    [([0, 1, 0], [0, 1, 0], 0.01), ([0, 0, 0], [1, 0, 0], 0.01), ([0, 1, 0], [1, 0, 0], 0.3)],
)
def test_a_handle_that_cannot_be_is_refused(bar: list[float], outwards: list[float], thickness: float) -> None:
    with pytest.raises(MotionError):
        BarHandle(np.zeros(3), np.array(bar), np.array(outwards), thickness=thickness)


@pytest.mark.parametrize("name", ["panda_sim", "piper", "ur5e_ros"])
def test_a_thing_is_picked_up_and_put_down_elsewhere(name: str) -> None:
    robot = planner(name)
    things = (standing("apple", 0.35, 0.1, (0.06, 0.06, 0.06)), standing("milk", 0.35, -0.1, (0.06, 0.06, 0.12)))
    picking = robot.in_scene(MotionScene(boxes=things))
    pick = plan_pick(picking, home(robot), "apple", "apple")
    assert pick.scene.held is not None
    assert pick.scene.held.name == "apple"
    np.testing.assert_allclose(pick.reach.end, pick.approach.start)
    np.testing.assert_allclose(pick.approach.end, pick.lift.start)
    rise = robot.tool_pose(pick.lift.end)[:3, 3] - robot.tool_pose(pick.lift.start)[:3, 3]
    np.testing.assert_allclose(rise, [0, 0, 0.08], atol=2e-3)
    place = plan_place(picking.in_scene(pick.scene), pick.lift.end, standing("", 0.3, 0.2, (0.06, 0.06, 0.06)).pose)
    np.testing.assert_allclose(place.scene.box("apple").pose[:3, 3], [0.3, 0.2, 0.03], atol=3e-3)
    assert place.scene.held is None


def test_a_thing_that_cannot_be_reached_counts_why_in_one_line() -> None:
    walls = [
        standing("wall", 0.5 + x, y, (0.02 if x else 0.2, 0.02 if y else 0.2, 0.12))
        for x, y in ((0.07, 0), (-0.07, 0), (0, 0.07), (0, -0.07))
    ]
    robot = planner().in_scene(MotionScene(boxes=(standing("mug", 0.5, 0, (0.06, 0.06, 0.06)), *walls)))
    with pytest.raises(MotionError, match=r"no grasp of 'mug' works \(\d+ collision.*such as: ") as caught:
        plan_pick(robot, home(robot), "mug", "mug", kinds=(TOP,))
    assert caught.value.problem is MotionProblem.COLLISION
    assert "\n" not in str(caught.value)


def test_a_thing_outside_of_the_workspace_is_not_reached_for() -> None:
    robot = planner().in_scene(MotionScene(boxes=(standing("mug", 1.2, 0, (0.06, 0.06, 0.06)),)))
    with pytest.raises(MotionError, match="outside of the workspace") as caught:
        plan_pick(robot, home(robot), "mug", "mug")
    assert caught.value.problem is MotionProblem.WORKSPACE


def test_an_empty_hand_puts_nothing_down() -> None:
    with pytest.raises(MotionError, match="nothing is in the hand"):
        plan_place(planner().in_scene(MotionScene()), home(planner()), np.eye(4))


def test_a_drawer_is_pulled_by_its_handle() -> None:
    robot = planner().in_scene(MotionScene(boxes=(standing("drawer_1", 0.62, 0.0, (0.1, 0.2, 0.14)),)))
    handle = BarHandle(np.array([0.53, 0, 0.09]), np.array([0, 1.0, 0]), np.array([-1.0, 0, 0]))
    grasp, before = next(reachable(robot, handle_grasps(handle, robot.hand), home(robot), {"drawer_1"}))
    approach = robot.line(before, grasp.pose, touch={"drawer_1"})
    pulled = robot.tool_pose(approach.end)
    pulled[0, 3] -= 0.12
    pull = robot.line(approach.end, pulled, touch={"drawer_1"})
    np.testing.assert_allclose(robot.tool_pose(pull.end), pulled, atol=2e-3)


@pytest.mark.parametrize("name", ["piper", "piper_h", "piper_l", "piper_x"])
def test_the_fingers_of_a_piper_end_where_the_vendors_do(name: str) -> None:
    """The vendor's meshes end 0.140 m before the flange; the gripper's body is 0.145 m wide and ends at 0.067 m."""
    hand = ParallelHand.of(ArmModel(load_robot(name)))
    assert hand.tip == pytest.approx(0.14, abs=0.002)
    assert hand.tip - hand.length == pytest.approx(0.067, abs=0.002)
    np.testing.assert_allclose(np.abs(hand.closing), [0.0, 1.0, 0.0], atol=1e-9)
