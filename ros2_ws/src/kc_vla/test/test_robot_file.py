"""Robot files are read whole or refused with the file and what is wrong in it."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from robot_files import VALUES, read_or_refused_in_one_line

from kc_vla.arm.kinematics import Kinematics
from kc_vla.cli.robot import main
from kc_vla.core.robot import RobotError, load_robot
from kc_vla.core.robot_file import JOINT_KEYS, KEYS
from kc_vla.core.share import share
from kc_vla.description.robot import description_of

ROS_DRIVER = {
    "type": "ros",
    "kind": "joint_state",
    "command": "/command",
    "state": "/state",
    "gripper": {"joint": "g", "closed": 0, "open": 1},
}
PIPER = yaml.safe_load((share("robots") / "piper.yaml").read_text())


def written(folder: Path, of_joints: dict[str, object] | None = None, **changed: object) -> str:
    """The Piper's file with other keys, and other keys of its joints; None leaves one out."""
    content = yaml.safe_load(yaml.safe_dump(PIPER)) | changed
    for name, keys in (of_joints or {}).items():
        content["joints"][name] = {**content["joints"].get(name, {}), **keys} if isinstance(keys, dict) else keys
    file = folder / "mine.yaml"
    kept = {key: value for key, value in content.items() if value is not None}
    file.write_text(yaml.safe_dump(kept, sort_keys=False))
    return str(file)


def test_limits_are_those_of_the_urdf_unless_the_file_says_others(tmp_path: Path) -> None:
    usual = load_robot("piper")
    slow, soft = {"upper": 3.0, "velocity": 0.5}, {"acceleration": 2.0, "jerk": 20, "lower": -1.0}
    mine = load_robot(written(tmp_path, {"joint2": slow, "joint3": soft}))
    np.testing.assert_array_equal(mine.limits.lowest, np.where(np.arange(6) == 2, -1.0, usual.limits.lowest))
    np.testing.assert_array_equal(mine.limits.highest, np.where(np.arange(6) == 1, 3.0, usual.limits.highest))
    np.testing.assert_array_equal(mine.limits.speed, [3.0, 0.5, 3.0, 3.0, 3.0, 3.0])
    np.testing.assert_array_equal(mine.limits.acceleration, [8.0, 8.0, 2.0, 8.0, 8.0, 8.0])
    np.testing.assert_array_equal(mine.limits.jerk, [80.0, 80.0, 20.0, 80.0, 80.0, 80.0])
    np.testing.assert_allclose(np.degrees(usual.limits.highest), [150, 180, 0, 100, 70, 120])


def test_joints_are_a_mapping_or_a_list_in_their_order(tmp_path: Path) -> None:
    mine = load_robot(written(tmp_path, joints=[{name: keys} for name, keys in PIPER["joints"].items()]))
    assert mine.joints == load_robot("piper").joints


def test_a_workspace_and_a_driver_are_in_the_file(tmp_path: Path) -> None:
    box = {"x": [-0.5, 0.4], "y": [-0.3, 0.2], "z": [0.1, 1]}
    mine = load_robot(written(tmp_path, workspace=box, driver={"type": "other", "port": 4}))
    assert mine.workspace == ((-0.5, -0.3, 0.1), (0.4, 0.2, 1.0))
    assert (mine.driver.type, mine.driver.options, mine.interface) == ("other", {"port": 4}, None)
    assert load_robot(written(tmp_path, workspace=None)).workspace is None
    theirs = load_robot("ur5e_ros")
    assert theirs.driver.type == "ros"
    assert theirs.interface is not None
    assert (load_robot("piper").driver.type, load_robot("panda_sim").driver.type) == ("piper", "simulated")


ARM = """
<robot name="r">
  <link name="map"/> <link name="base"/> <link name="plate"/> <link name="a"/> <link name="b"/> <link name="tool"/>
  <link name="f"/>
  <joint name="stand" type="fixed"><parent link="map"/><child link="base"/><origin xyz="0 0 1"/></joint>
  <joint name="foot" type="fixed">
    <parent link="map"/><child link="plate"/><origin xyz="1 0 1" rpy="0 0 1.5707"/>
  </joint>
  <joint name="one" type="{one}">
    <parent link="plate"/><child link="a"/><origin xyz="0 0 0.1"/><axis xyz="0 -2 0"/>{limit}
  </joint>
  <joint name="two" type="continuous">
    <parent link="a"/><child link="b"/><origin xyz="0.3 0 0"/><axis xyz="1 0 1"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="b"/><child link="tool"/><origin xyz="0 0 0.2" rpy="0.3 0 0"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="tool"/><child link="f"/><limit lower="0" upper="0.1" velocity="1"/>
  </joint>
</robot>
"""
LIMIT = '<limit lower="-1" upper="2" velocity="1.5" effort="3"/>'


def arm(folder: Path, one: str = "revolute", limit: str = LIMIT, **changed: object) -> str:
    """A robot of two joints about oblique axes, whose base frame stands beside its chain."""
    (folder / "arm.urdf").write_text(ARM.format(one=one, limit=limit))
    content = {
        "robot": "mine",
        "urdf": "arm.urdf",
        "joints": {"one": {"home": 0.5}, "two": {"home": 0, "lower": -3, "upper": 3, "velocity": 2}},
        "gripper": {"joint": "grip", "width": 0.1},
        "base_frame": "base",
        "driver": {"type": "other"},
        **changed,
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return str(folder / "mine.yaml")


@given(st.floats(-3, 3), st.floats(-3, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_arm_moves_as_its_urdf_has_it_whatever_its_axes_are(tmp_path: Path, one: float, two: float) -> None:
    mine = load_robot(arm(tmp_path))
    assert mine.links is not None
    tree, positions = description_of(mine)[1], {"one": one, "two": two}
    base, tool = tree.pose("base", positions), tree.pose("tool", positions)
    assert base is not None
    found = Kinematics(mine.links).flange(np.array([one, two]))
    np.testing.assert_allclose(found, np.linalg.inv(base) @ tool, atol=1e-12)


ONE, TWO = {"home": 0.0}, {"home": 0.0, "lower": -3, "upper": 3, "velocity": 2}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"one": "prismatic"}, "joint 'one' is prismatic, but only revolute and continuous joints can be joints of"),
        ({"limit": ""}, "joint 'one' has no limits in the URDF: give it lower and upper, rad"),
        ({"limit": '<limit lower="-1" upper="1"/>'}, "joint 'one' has no velocity limit in the URDF: give it velocity"),
        ({"limit": '<limit lower="-1" upper="1" velocity="0"/>'}, "joint 'one' has no velocity limit in the URDF"),
        ({"joints": {"one": ONE, "two": {"home": 0, "velocity": 1}}}, "joint 'two' is continuous: give it lower and"),
        ({"joints": {"one": ONE, "three": dict(ONE)}}, "there is no joint 'three': it has one, two, grip"),
        ({"joints": {"one": ONE, "grip": dict(ONE)}}, "joint 'grip' is prismatic"),
        ({"joints": {"one": ONE, "foot": dict(ONE)}}, "joint 'foot' is fixed"),
        ({"joints": {"two": TWO, "one": ONE}}, "are in another order: write them as one, two"),
        ({"joints": {"one": ONE}}, "the joint 'two' lies from base_frame 'base' to tool_frame 'tool': name it"),
        ({"tool_frame": "a"}, "the joint 'two' does not lie from base_frame 'base' to tool_frame 'a'"),
        ({"tool_frame": "hand"}, "there is no link 'hand', which is base_frame or tool_frame"),
        ({"base_frame": "f"}, "joint 'grip' moves base_frame 'f' itself"),
        ({"base_frame": "b"}, "the joint 'one' does not lie from base_frame 'b' to tool_frame 'tool'"),
        ({"urdf": "other.urdf"}, "urdf 'other.urdf' is not there"),
        ({"urdf": "arm.urdf.xacro"}, "is a xacro: write a URDF of it first"),
        ({"urdf": "mine.yaml"}, "urdf mine.yaml: it is no URDF"),
    ],
)
def test_an_arm_that_its_urdf_has_not_is_told_in_a_line(tmp_path: Path, changed: dict, words: str) -> None:
    with pytest.raises(RobotError, match=rf"mine\.yaml is not understood: .*{words}") as told:
        load_robot(arm(tmp_path, **changed))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("of_joints", "changed", "words"),
    [
        ({"joint5": {"home": 90}}, {}, "home of joint 'joint5' is 5157 degrees, .*did you mean 90 degrees"),
        ({"joint2": {"home": 90}}, {}, "did you mean 90 degrees, which are 1.5708 rad"),
        ({"joint5": {"home": -2.5}}, {}, "home of joint 'joint5' is -143 degrees, out of its limits -70 to 70"),
        ({"joint5": {"home": "0.5"}}, {}, "home of joint 'joint5' is the text '0.5': write a number"),
        ({"joint5": {"home": True}}, {}, "home of joint 'joint5' is True"),
        ({"joint1": {"lower": -150}}, {}, "is too wide: did you give degrees"),
        ({"joint1": {"lower": 3.0}}, {}, "joint 'joint1': lower 3 is not below upper 2.61799"),
        ({"joint1": {"velocity": 172}}, {}, "velocity of joint 'joint1' is 172, which is too much: it is in rad/s"),
        ({"joint1": {"velocity": 0}}, {}, "velocity of joint 'joint1' must be a number above 0"),
        ({"joint1": {"acceleration": float("nan")}}, {}, "acceleration of joint 'joint1' is nan"),
        ({"joint1": {"acceleration": 5000}}, {}, "acceleration of joint 'joint1' is 5000, which is too much"),
        ({"joint1": {"jerk": -1}}, {}, "jerk of joint 'joint1' must be a number above 0"),
        (
            {"joint1": {"speed": 1}},
            {},
            "joint 'joint1': speed is not known: it may have acceleration, home",
        ),
        ({"joint1": 3}, {}, "joint 'joint1' must be a mapping"),
        ({}, {"joints": ["joint1"]}, "joints must be a mapping of each joint's name to its keys"),
        ({}, {"joints": {}}, "joints must be different names, one or more"),
        ({}, {"lenght": 3}, "lenght is not known: it may have base_frame"),
        ({}, {"interface": {}}, "interface is not known: it is called driver: {type: ros, ...} here"),
        ({}, {"gripper": {"joint": "gripper", "opening": 0.07}}, "gripper: opening is not known: it is called width"),
        ({}, {"gripper": {"joint": "gripper", "width": 70}}, "width of the gripper is 70, which is too much"),
        ({}, {"gripper": {"width": 0.1}}, "gripper must be a mapping of its joint, or joints, and its width"),
        ({}, {"driver": "piper"}, "driver must be a mapping with a type"),
        ({}, {"driver": {"type": "ros"}}, "driver: option 'kind' is missing - message type of the commands"),
        ({}, {"driver": None}, "driver is missing"),
        ({}, {"urdf": None}, "urdf is missing"),
        ({}, {"urdf": 3}, "urdf must be the path of a file"),
        ({}, {"workspace": {"x": [0, 1]}}, "workspace: y, z is missing"),
        ({}, {"workspace": {axis: [1, 0] for axis in "xyz"}}, "workspace: x is empty"),
        ({}, {"workspace": {axis: [-700, 700] for axis in "xyz"}}, "workspace: x reaches 700 m: .*did you give mm"),
        ({}, {"workspace": dict.fromkeys("xyz", 3)}, r"workspace: x must be \[lower, upper\], m"),
        ({}, {"older": {"before": "old", "zero": {}}}, "'old' is no firmware"),
        ({}, {"older": {"before": "S-V1.6-3", "zero": {"joint2": -174}}}, "more than half a turn: it is in rad"),
        ({}, {"older": {"before": "S-V1.6-3", "zero": {"elbow": 1}}}, "older: zero: elbow is not known"),
        ({}, {"columns": ["a"]}, "columns must be 7 different names"),
        ({}, {"cameras": {}}, "a robot has one view or more"),
        ({"joint1": {"jerk": 10**400}}, {}, "jerk of joint 'joint1' is too large a number"),
        ({}, {"control_rate": 1e9}, r"control_rate is 1e\+09, which is too much: it is in Hz"),
        ({}, {"robot": ""}, "robot is '': a name is wanted"),
        ({}, {"robot": "a\nb"}, "robot is 'a.nb': a name is wanted"),
        ({}, {"base\n\x1b[31mframe": 1}, "base frame is not known"),
        ({}, {"cameras": {"wrist": ["f"]}}, "the frame of camera 'wrist' is .'f'.: a name is wanted"),
        ({}, {"gripper": {"joint": True, "width": 0.1}}, "joint of the gripper is True: a name is wanted"),
        ({}, {"gripper": {"joints": [], "width": 0.1}}, "joints of the gripper must be different names, one or more"),
        ({}, {"gripper": {"joints": ["g", "g"], "width": 0.1}}, "joints of the gripper must be different names"),
        ({}, {"gripper": {"joint": "g", "joints": ["f"], "width": 0.1}}, "gripper has joint and joints"),
        (
            {},
            {"gripper": {"joint": "joint1", "width": 0.1}, "columns": list("abcdefg")},
            "the joint 'joint1' is one of the arm and of the gripper",
        ),
        (
            {},
            {"driver": ROS_DRIVER | {"velocities": 3}},
            "driver: option 'velocities' is 3: it must be a list of numbers",
        ),
        ({}, {"driver": ROS_DRIVER | {"angles": []}}, r"driver: option 'angles' is \[\]: it must be a text"),
        (
            {},
            {"driver": ROS_DRIVER | {"power": {"topic": None}}},
            "driver: option 'power': option 'topic' is None: it must be a text",
        ),
        ({}, {"control_rate": 0}, "control_rate must be a number above 0"),
    ],
)
def test_what_cannot_be_is_told_with_the_file(tmp_path: Path, of_joints: dict, changed: dict, words: str) -> None:
    with pytest.raises(RobotError, match=rf"mine\.yaml is not understood: .*{words}") as told:
        load_robot(written(tmp_path, of_joints, **changed))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('<link name="a"/>', '<link name="a"/><link name="a"/>', "several links are called 'a'"),
        ('name="grip"', 'name="one"', "several joints are called 'one'"),
        ("0 -2 0", "0 1e200 0", "joint one has an axis of no length, or one without end"),
        ('xyz="0.3 0 0"', 'xyz="300 0 0"', "two of its joints are 300 m apart: it is in m, is this mm"),
        ("1.5707", "90", "joint foot has rpy 0 0 90, more than a turn: it is in rad, are these degrees"),
        ('name="two"', 'name="t&#10;&#x9b;31mo"', "there is no joint 'two': it has one, t o"),
        ("<link", "<xacro", "it has no links: is it a xacro"),
    ],
)
def test_a_urdf_in_other_units_or_with_a_name_twice_is_told(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = arm(tmp_path)
    (tmp_path / "arm.urdf").write_text((tmp_path / "arm.urdf").read_text().replace(old, new))
    with pytest.raises(RobotError, match=words) as told:
        load_robot(file)
    assert str(told.value).replace("²", "").isprintable()


def test_a_key_that_is_there_twice_is_told_with_its_line(tmp_path: Path) -> None:
    file = Path(written(tmp_path))
    file.write_text(file.read_text().replace("  joint1:\n", "  joint1:\n    velocity: 1\n    velocity: 3\n"))
    with pytest.raises(RobotError, match=r"at line \d+: the key 'velocity' is there twice"):
        load_robot(str(file))


def test_a_limit_wider_than_that_of_the_urdf_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    load_robot(written(tmp_path, {"joint1": {"lower": -2.0, "upper": 3.0}, "joint2": {"lower": -0.1, "velocity": 4}}))
    assert capfd.readouterr().err.splitlines() == [
        "robot file: upper 3 of joint 'joint1' is wider than 2.61799 of the URDF, and counts",
        "robot file: lower -0.1 of joint 'joint2' is wider than 0 of the URDF, and counts",
        "robot file: velocity 4 of joint 'joint2' is wider than 3 of the URDF, and counts",
    ]


@pytest.mark.parametrize(
    ("of_joints", "changed", "line"),
    [
        (
            {"joint5": {"upper": 0.1}},
            {},
            "home of joint 'joint5' is 0.5000 rad, outside of -1.2217 to 0.1000 rad: the arm cannot be parked there",
        ),
        (
            {},
            {"gripper": {"joint": "gripper", "width": 0.1}},
            "width 0.1 m of the gripper differs from 0.07 m, the travel of gripper in the URDF, and counts",
        ),
        ({"joint5": {"upper": 0.4999}}, {"gripper": {"joint": "gripper", "width": 0.0705}}, ""),
    ],
)
def test_what_an_arm_cannot_do_is_said_where_its_file_is_read(
    tmp_path: Path,
    of_joints: dict,
    changed: dict,
    line: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    load_robot(written(tmp_path, of_joints, **changed))
    assert capfd.readouterr().err == (f"robot file: {line}\n" if line else "")


@pytest.mark.parametrize("name", sorted(file.stem for file in share("robots").glob("*.yaml")))
def test_of_a_robot_that_comes_with_the_stack_there_is_nothing_to_say(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    load_robot(name)
    assert capfd.readouterr().err == ""


def test_a_description_that_is_too_large_is_refused_in_a_line(tmp_path: Path) -> None:
    file = arm(tmp_path)
    urdf = tmp_path / "arm.urdf"
    more = "".join(f'<joint name="more{k}"/>' for k in range(20_000))
    urdf.write_text(urdf.read_text().replace("</robot>", f"{more}</robot>"))
    with pytest.raises(RobotError, match="it has 20006 joints, but at most 2000 joints can be read"):
        load_robot(file)


@pytest.mark.parametrize("zero", [3.1416, -3.141592653590])
def test_an_older_zero_may_be_half_a_turn(tmp_path: Path, zero: float) -> None:
    older = {"before": "S-V1.6-3", "zero": {"joint2": zero}}
    assert load_robot(written(tmp_path, older=older)).older is not None


@pytest.mark.parametrize("misspelt", ["pipr", "ROS", "simulator"])
def test_a_driver_that_there_is_not_is_refused_with_those_that_there_are(
    tmp_path: Path, misspelt: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["robot", "show", written(tmp_path, driver={"type": misspelt})]) == 1
    said = capfd.readouterr().err
    assert f"robot 'piper': there is no driver '{misspelt}': the types are piper, ros" in said
    assert "simulated" in said


def test_options_that_a_driver_cannot_have_are_told_where_the_robot_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["robot", "show", written(tmp_path, driver={"type": "piper", "channel": 0})]) == 1
    assert "option 'channel' is 0: it must be a text" in capfd.readouterr().err


ROWS = st.one_of(VALUES, st.lists(VALUES, max_size=3), st.dictionaries(st.sampled_from([*JOINT_KEYS, "x"]), VALUES))


@given(st.sampled_from([*KEYS, *PIPER["joints"]]), ROWS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_a_file_it_is_read_or_refused_in_one_line_of_ours(
    tmp_path: Path, name: str, value: object
) -> None:
    changed = {name: value}
    read_or_refused_in_one_line(written(tmp_path, changed) if name in PIPER["joints"] else written(tmp_path, **changed))
