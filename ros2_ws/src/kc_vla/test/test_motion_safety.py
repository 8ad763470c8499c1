"""Whatever the scene and the target: no set-point leaves limits, workspace, or its distance from what is there.

What is checked here is computed in another way than in the planner: with the controller's kinematics, and points on the
shapes of the links.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import coal
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import load_robot
from kc_vla.motion.link_shapes import LinkShape
from kc_vla.motion.planner import MotionPlanner
from kc_vla.motion.problem import MotionError
from kc_vla.motion.scene import HeldBox, MotionScene, SceneBox

Vector = NDArray[np.float64]
ROBOTS = ("panda_sim", "piper", "ur5e_ros")
_ROUNDING = 2e-4


@cache
def planner(name: str) -> MotionPlanner:
    return MotionPlanner(load_robot(name))


@cache
def points_of(name: str) -> list[tuple[LinkShape, Vector]]:
    """Points on each shape of the links of an arm, in the frame of its joint."""
    return [(shape, surface_points(shape)) for shape in planner(name).arm.shapes() if shape.joint]


def surface_points(shape: LinkShape) -> Vector:
    geometry, grid = shape.geometry, np.linspace(-1, 1, 5)
    if isinstance(geometry, coal.Box):
        points = np.array([[x, y, z] for x in grid for y in grid for z in grid]) * np.asarray(geometry.halfSide)
    else:
        angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
        if isinstance(geometry, coal.Sphere):
            rings = [(geometry.radius * np.cos(t), geometry.radius * np.sin(t)) for t in np.linspace(-1.57, 1.57, 7)]
        else:
            rings = [(geometry.radius, geometry.halfLength * each) for each in grid]
        points = np.array([[r * np.cos(a), r * np.sin(a), z] for r, z in rings for a in angles])
    return points @ shape.place[:3, :3].T + shape.place[:3, 3]


def posed(place: Any, angles: Any) -> Vector:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_euler("xyz", angles).as_matrix(), place
    return pose


def place(far: float, low: float, high: float) -> st.SearchStrategy[tuple[float, float, float]]:
    return st.tuples(st.floats(-far, far), st.floats(-far, far), st.floats(low, high))


TURNS = st.tuples(*[st.floats(-3.2, 3.2)] * 3)
BOXES = st.lists(st.tuples(place(0.7, -0.1, 0.5), TURNS, st.tuples(*[st.floats(0.01, 0.3)] * 3)), max_size=6)
HELD = st.none() | st.tuples(*[st.floats(0.01, 0.12)] * 3)


@pytest.mark.timeout(3600)  # at night, on a busy machine
@pytest.mark.parametrize("name", ROBOTS)
@tried(17, 340)
@given(
    BOXES,
    HELD,
    place(0.8, -0.2, 1.0),
    TURNS,
    st.floats(-0.05, 0.1),
    st.integers(0, 1 << 20),
    st.sampled_from(["free", "reached", "reached", "line", "arc"]),
)
def test_no_set_point_is_where_it_must_not_be(
    name: str, boxes: Any, held: Any, target: Any, turn: Any, surface: float, seed: int, way: str
) -> None:
    robot = planner(name)
    try:
        scene = MotionScene(
            surface,
            tuple(
                SceneBox(f"box {k}", posed(at, angles), np.array(size)) for k, (at, angles, size) in enumerate(boxes)
            ),
            held=held and HeldBox("held", posed((0, 0, robot.hand.depth), (0, 0, 0)), np.array(held)),
        )
        planning = robot.in_scene(scene)
        start = free_start(planning, seed)
        if way == "free":
            path = planning.to_pose(start, posed(target, turn))
        elif way == "reached":
            path = planning.to_pose(start, planning.tool_pose(free_start(planning, seed + 1)))
        elif way == "line":
            goal = planning.tool_pose(start)
            goal[:3, 3] += np.array(target) * 0.3
            path = planning.line(start, goal)
        else:
            path = planning.arc(start, target, (0, 0, 1), turn[0] / 2)
        trajectory = planning.trajectory(path)
    except MotionError as error:
        reason = str(error)
        trajectory = None
    if trajectory is None:
        assert reason
        assert "\n" not in reason
        return
    assert_within_limits(robot, trajectory.joints, trajectory.period)
    assert_clear(name, scene, trajectory.joints)


def test_a_way_close_below_the_upper_wall_keeps_away_from_it() -> None:
    planning = planner("panda_sim").in_scene(MotionScene())
    path = planning.to_pose(free_start(planning, 7808), planning.tool_pose(free_start(planning, 7809)))
    assert_clear("panda_sim", planning.scene, planning.trajectory(path).joints)


def free_start(planning: MotionPlanner, seed: int) -> Vector:
    """Angles at which the arm is free, drawn by a seed; its home where there are none."""
    chance = np.random.default_rng(seed)
    for _ in range(30):
        joints = chance.uniform(planning.arm.lower, planning.arm.upper)
        if planning._checker(()).is_free(joints, on_path=True):
            return joints
    return np.clip(planning.robot.rest, planning.arm.lower, planning.arm.upper)


def assert_within_limits(robot: MotionPlanner, joints: Vector, period: float) -> None:
    arm = robot.arm
    assert (joints >= arm.lower - 1e-9).all()
    assert (joints <= arm.upper + 1e-9).all()
    at_rest = np.concatenate([joints[:1].repeat(3, 0), joints, joints[-1:].repeat(3, 0)])
    for order, limit in enumerate((arm.speed, arm.acceleration, arm.jerk), 1):
        assert (np.abs(np.diff(at_rest, order, axis=0)) <= limit * period**order * (1 + 1e-6)).all(), order


def assert_clear(name: str, scene: MotionScene, joints: Vector) -> None:
    arm = planner(name).arm
    links = arm.robot.links
    assert links is not None
    kinematics = Kinematics(links)
    low, high = arm.workspace_low, arm.workspace_high
    assert Workspace(kinematics, tuple(low), tuple(high)).slack(joints).min() > 0.005
    frames = kinematics.frames(joints)
    for shape, points in points_of(name):
        frame = frames[:, shape.joint - 1]
        world = points @ np.swapaxes(frame[:, :3, :3], 1, 2) + frame[:, None, :3, 3]
        assert_apart(scene, world, scene.surface_clearance, scene.clearance)
    if scene.held is not None:
        signs = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
        points = signs * scene.held.size / 2 @ scene.held.in_tool[:3, :3].T + scene.held.in_tool[:3, 3]
        tool = frames[:, -1]
        world = points @ np.swapaxes(tool[:, :3, :3], 1, 2) + tool[:, None, :3, 3]
        assert_apart(scene, world, scene.held_clearance, scene.held_clearance)


def assert_apart(scene: MotionScene, world: Vector, from_surface: float, from_boxes: float) -> None:
    """Points (T, n, 3) keep their distance; where they begin nearer than it they do not come nearer."""
    height = world[..., 2].min(axis=1) - scene.surface
    assert (height >= min(from_surface, height[0] - 1e-3) - _ROUNDING).all()
    for box in scene.boxes:
        local = (world - box.pose[:3, 3]) @ box.pose[:3, :3]
        over = np.abs(local) - box.size / 2
        gap = np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0)
        nearest = gap.min(axis=1)
        assert (nearest >= min(from_boxes, nearest[0] - 6e-3) - _ROUNDING).all(), box.name
