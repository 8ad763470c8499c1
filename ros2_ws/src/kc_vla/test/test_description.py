"""The description of each robot has the kinematics that the stack moves it with, and says only what is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.chain import Chain
from kc_vla.core.mounted_camera import MountedCamera, pose_matrix
from kc_vla.core.robot import Robot, load_robot
from kc_vla.core.share import share
from kc_vla.core.urdf import DescriptionError, Placed, RobotTree, read_urdf
from kc_vla.description.live import (
    WORLD,
    MovingTransforms,
    StandingTransforms,
    camera_places,
    robot_places,
)
from kc_vla.description.robot import description_of

ROBOTS = [load_robot(file.stem) for file in sorted(share("robots").glob("*.yaml"))]
WITH_LINKS = [robot for robot in ROBOTS if robot.links is not None]
TREES = {robot.name: description_of(robot)[1] for robot in ROBOTS}
PIPER, PANDA = load_robot("piper"), load_robot("panda_sim")
FRANKA = np.array(
    [
        [0.0, 0.0, 0.333, 0.0],
        [0.0, -np.pi / 2, 0.0, 0.0],
        [0.0, np.pi / 2, 0.316, 0.0],
        [0.0825, np.pi / 2, 0.0, 0.0],
        [-0.0825, -np.pi / 2, 0.384, 0.0],
        [0.0, np.pi / 2, 0.0, 0.0],
        [0.088, np.pi / 2, 0.0, 0.0],
    ]
)
"""The Panda's table of links, as its maker's documents have it."""


def chained(places: list[Placed], frame: str, root: str) -> np.ndarray:
    """The pose of a frame out of single transforms, as a listener puts them together."""
    above = {each.child: each for each in places}
    pose = np.eye(4)
    while frame != root:
        pose, frame = above[frame].pose @ pose, above[frame].parent
    return pose


def angles(robot: Robot) -> st.SearchStrategy[list[float]]:
    return st.tuples(*(st.floats(-3.1, 3.1) for _ in robot.joints)).map(list)


@pytest.mark.parametrize("robot", WITH_LINKS, ids=lambda robot: robot.name)
@given(data=st.data())
def test_the_tool_is_where_the_arm_has_it(robot: Robot, data: st.DataObject) -> None:
    joints, tree = data.draw(angles(robot)), TREES[robot.name]
    frames = Kinematics(robot.links_of("")).frames(np.array(joints))
    names = [next(joint.child for joint in tree.joints if joint.name == name) for name in robot.joints]
    places = [*tree.fixed, *tree.moved(dict(zip(robot.joints, joints, strict=True)))]
    np.testing.assert_allclose(chained(places, robot.tool_frame, robot.base_frame), frames[-1], atol=1e-6)
    for name, frame in zip(names, frames[:-1], strict=True):
        np.testing.assert_allclose(chained(places, name, robot.base_frame), frame, atol=1e-6)


@given(angles(PIPER))
def test_an_arm_with_an_older_firmware_has_its_own_zero_pose(joints: list[float]) -> None:
    tree = description_of(PIPER, firmware="S-V1.5-2")[1]
    pose = tree.pose(PIPER.tool_frame, dict(zip(PIPER.joints, joints, strict=True)))
    np.testing.assert_allclose(pose, Kinematics(PIPER.links_of("S-V1.5-2")).flange(np.array(joints)), atol=1e-6)


@given(angles(PANDA))
def test_the_panda_is_as_its_maker_has_it(joints: list[float]) -> None:
    pose = TREES["panda_sim"].pose("panda_link8", dict(zip(PANDA.joints, joints, strict=True)))
    flange = np.eye(4)
    flange[2, 3] = 0.107
    np.testing.assert_allclose(pose, Kinematics(Chain.of_table(FRANKA)).flange(np.array(joints)) @ flange, atol=1e-6)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_fingers_are_as_far_apart_as_the_gripper_is_open(robot: Robot) -> None:
    tree = TREES[robot.name]
    share_each = robot.opening * 0.6 / len(robot.gripper)
    positions = dict.fromkeys(robot.joints, 0.3) | dict.fromkeys(robot.gripper, share_each)
    fingers = [link for link in tree.links if "finger" in link]
    assert len(fingers) == 2
    left, right = (tree.pose(finger, positions) for finger in fingers)
    tool = tree.pose(robot.tool_frame, positions)
    assert left is not None
    assert right is not None
    assert tool is not None
    assert np.linalg.norm(left[:3, 3] - right[:3, 3]) == pytest.approx(robot.opening * 0.6)
    middle = np.linalg.inv(tool) @ np.append((left + right)[:3, 3] / 2, 1.0)
    np.testing.assert_allclose(middle[:2], 0.0, atol=1e-9)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_every_robot_is_described_with_the_joints_that_it_tells_of(robot: Robot) -> None:
    tree = TREES[robot.name]
    assert tree.root == robot.base_frame
    assert set(robot.names) <= {joint.name for joint in tree.joints}
    moved = tree.moved(dict.fromkeys(robot.names, 0.01))
    assert {each.child for each in moved} | {each.child for each in tree.fixed} == set(tree.links) - {tree.root}


def test_what_is_not_known_is_not_told() -> None:
    positions = dict.fromkeys(PIPER.names, 0.2)
    del positions["joint3"]
    positions["joint5"] = float("nan")
    told = {each.child for each in TREES["piper"].moved(positions)}
    assert told == {"link1", "link2", "link4", "link6", "gripper_left_finger", "gripper_right_finger"}
    assert TREES["piper"].pose(PIPER.tool_frame, positions) is None
    assert TREES["piper"].moved({}) == []


PERIOD_NS = 1_000_000_000 // 30


def test_each_stamp_is_told_once_and_not_too_often() -> None:
    moving = MovingTransforms(TREES["piper"], 30.0)
    told = [
        stamp
        for stamp in range(10**9, 3 * 10**9, 5_000_000)  # 200 Hz, each twice
        for _ in range(2)
        if moving.take(stamp, PIPER.names, [0.1] * 7)
    ]
    assert len(told) == len(set(told))
    assert min(np.diff(told)) >= PERIOD_NS
    assert 50 <= len(told) <= 60


def test_a_late_state_is_passed_over_and_a_time_that_begins_anew_is_not() -> None:
    moving = MovingTransforms(TREES["piper"], 30.0)
    values = [0.1] * 7
    assert moving.take(10 * 10**9, PIPER.names, values)
    assert not moving.take(10 * 10**9 - 300_000_000, PIPER.names, values)
    assert not moving.take(10 * 10**9, PIPER.names, values)
    assert moving.take(10**9, PIPER.names, values)
    assert moving.take(10**9 + 50_000_000, PIPER.names, values)


def test_a_state_of_another_robot_tells_nothing_and_delays_nothing() -> None:
    moving = MovingTransforms(TREES["piper"], 30.0)
    assert not moving.take(10**9, ["toy_joint1"], [1.0])
    assert moving.take(10**9, PIPER.names, [0.1] * 7)


def camera(frame: str, in_hand: bool) -> MountedCamera:
    return MountedCamera(frame, pose_matrix([0.01, -0.05, 0.03], [0.5, -0.5, 0.5, -0.5]), in_hand)


def test_cameras_are_where_their_calibration_has_them() -> None:
    tree = TREES["piper"]
    wrist, beside = camera("wrist_optical_frame", True), camera("third_person_optical_frame", False)
    places = [
        *robot_places(PIPER, tree, "1 2 3 0 0 0 1"),
        *camera_places(PIPER, {"a": wrist, "b": beside}),
        *tree.moved(dict.fromkeys(PIPER.names, 0.4)),
    ]
    flange = Kinematics(PIPER.links_of("")).flange(np.full(6, 0.4))
    np.testing.assert_allclose(chained(places, "wrist_optical_frame", "robot_base"), wrist.placed(flange), atol=1e-6)
    np.testing.assert_allclose(chained(places, "third_person_optical_frame", "robot_base"), beside.pose, atol=1e-9)
    np.testing.assert_allclose(chained(places, "robot_base", WORLD)[:3, 3], [1, 2, 3])
    assert WORLD not in {each.parent for each in robot_places(PIPER, tree, " ")}


@pytest.mark.parametrize(
    ("cameras", "told"),
    [
        ({"a.yaml": camera("left", True)}, "a.yaml places the frame 'left'.*third_person_optical_frame, wrist_optical"),
        (
            {"a.yaml": camera("wrist_optical_frame", True), "b.yaml": camera("wrist_optical_frame", False)},
            "b.yaml places the frame 'wrist_optical_frame', and another file does so too",
        ),
    ],
)
def test_a_camera_that_the_robot_has_not_is_refused(cameras: dict[str, MountedCamera], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        camera_places(PIPER, cameras)


@pytest.mark.parametrize("base", ["1 2 3", "0 0 0 0 0 0 2", "a b c d e f g", "nan 0 0 0 0 0 1"])
def test_a_place_of_the_base_that_is_none_is_refused(base: str) -> None:
    with pytest.raises(DescriptionError, match="x y z qx qy qz qw are wanted"):
        robot_places(PIPER, TREES["piper"], base)


def test_what_a_simulator_tells_replaces_what_it_told_and_never_the_robot() -> None:
    base = Placed(WORLD, "robot_base", np.eye(4))
    standing = StandingTransforms([base], TREES["piper"].links)
    first, moved = np.eye(4), pose_matrix([1, 0, 0], [0, 0, 0, 1])
    assert standing.hear([Placed("robot_base", "eye", first), Placed("somewhere", "link2", first)])
    assert [(each.parent, each.child) for each in standing.all] == [(WORLD, "robot_base"), ("robot_base", "eye")]
    assert not standing.hear([Placed("robot_base", "eye", first)])
    assert standing.hear([Placed("robot_base", "eye", moved)])
    assert standing.all[1].pose[0, 3] == 1.0
    assert standing.hear([])
    assert len(standing.all) == 1


def test_a_file_takes_the_place_of_the_robots_own_and_its_meshes_are_found_from_anywhere(tmp_path: Path) -> None:
    text = description_of(PIPER)[0].replace(
        '<link name="flange" />',
        '<link name="flange"><visual><geometry><mesh filename="parts/hand 1.stl"/></geometry></visual>'
        '<collision><geometry><mesh filename="package://other/hand.stl"/></geometry></collision></link>',
    )
    file = tmp_path / "mine.urdf"
    file.write_text(text)
    found, tree = description_of(PIPER, file)
    assert tree.links == TREES["piper"].links
    assert (tmp_path / "parts" / "hand 1.stl").as_uri() in found
    assert "package://other/hand.stl" in found


LINKS = '<link name="robot_base"/><link name="tool"/>'
JOINT = '<joint name="j" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        ("<link", "is no URDF"),
        ("<link/>", "a link has no name"),
        (LINKS, "one link must hang on no other, there are 2"),
        (LINKS + JOINT.format("floating", "robot_base", "tool", ""), "of type 'floating'"),
        (LINKS + JOINT.format("fixed", "robot_base", "hand", ""), "names the link hand, which is not there"),
        (LINKS + JOINT.format("revolute", "robot_base", "tool", '<axis xyz="0 0 0"/>'), "axis of no length"),
        (LINKS + JOINT.format("revolute", "robot_base", "tool", '<origin xyz="a"/>'), "could not convert"),
        (LINKS + JOINT.format("fixed", "robot_base", "tool", '<origin xyz="1 nan 0"/>'), "not three finite numbers"),
        (LINKS + JOINT.format("revolute", "robot_base", "tool", '<mimic joint="k"/>'), "mimics a joint that is not"),
        (LINKS + JOINT.format("fixed", "robot_base", "tool", "") * 2, "link tool hangs on two joints"),
        ('<link name="robot_base"/>', "has no link 'tool', which the robot 'piper' has poses in"),
        (
            LINKS
            + '<link name="a"/>'
            + JOINT.format("fixed", "tool", "a", "")
            + JOINT.format("fixed", "a", "tool", ""),
            "link .* hangs on itself",
        ),
    ],
)
def test_a_description_that_cannot_be_is_told_in_a_line(tmp_path: Path, inner: str, told: str) -> None:
    file = tmp_path / "mine.urdf"
    file.write_text(f'<robot name="r">{inner}</robot>')
    with pytest.raises(DescriptionError, match=told) as refused:
        description_of(PIPER, file)
    assert "mine.urdf" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_description_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="cannot be read: No such file"):
        read_urdf(tmp_path / "none.urdf")
    with pytest.raises(DescriptionError, match=r"has no links.*nor does it name a description"):
        description_of(replace(PIPER, links=None, urdf=None))


def test_a_robot_of_ones_own_names_a_description_beside_it(tmp_path: Path) -> None:
    text = (share("robots") / "panda_sim.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text)
    assert load_robot(str(tmp_path / "mine.yaml")).urdf == PANDA.urdf  # the stack's own
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "panda.urdf").write_text((share("robots") / "urdf" / "panda.urdf").read_text())
    assert load_robot(str(tmp_path / "mine.yaml")).urdf == tmp_path / "urdf" / "panda.urdf"


def test_a_tree_names_its_links() -> None:
    with pytest.raises(DescriptionError, match="no link 'hand'"):
        RobotTree(description_of(PIPER)[0]).pose("hand", {})
