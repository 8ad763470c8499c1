"""Robot files are read whole or refused with the file and what is wrong in it."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from robot_files import VALUES, read_or_refused_in_one_line

from kc_vla.core import robot
from kc_vla.core.robot import Robot, RobotError, load_robot, robot_of
from kc_vla.core.share import share


def written(folder: Path, **changed: object) -> str:
    content = yaml.safe_load((Path(__file__).parent / "former_robot_files" / "piper.yaml").read_text())
    content |= changed
    file = folder / "mine.yaml"
    kept = {key: value for key, value in content.items() if value is not None}
    file.write_text(yaml.safe_dump(kept, sort_keys=False))
    return str(file)


def test_the_piper_is_as_its_vendor_has_it() -> None:
    robot = load_robot("piper")
    assert robot.names == ("joint1", "joint2", "joint3", "joint4", "joint5", "joint6", "gripper")
    np.testing.assert_allclose(np.degrees(robot.limits.lowest), [-150, 0, -170, -100, -70, -120])
    assert ((robot.limits.lowest <= robot.rest) & (robot.rest <= robot.limits.highest)).all()


@pytest.mark.parametrize("name", sorted(file.stem for file in share("robots").glob("*.yaml")))
def test_every_robot_that_comes_with_the_stack_can_lie_in_its_rest_pose(name: str) -> None:
    robot = load_robot(name)
    assert robot.name == name
    assert ((robot.limits.lowest <= robot.rest) & (robot.rest <= robot.limits.highest)).all()


@pytest.mark.parametrize(
    ("firmware", "is_older"), [("S-V1.6-2", True), ("S-V1.6-3", False), ("S-V2.0-1", False), ("", False)]
)
def test_links_go_with_the_firmware(firmware: str, is_older: bool) -> None:
    robot = load_robot("piper")
    assert robot.older is not None
    assert robot.links_of(firmware) is (robot.older[1] if is_older else robot.links)


def test_a_robot_has_the_views_that_it_names(tmp_path: Path) -> None:
    mine = load_robot(written(tmp_path, cameras={"wrist": "hand", "side": "left", "front": "middle"}))
    assert mine.views == ("wrist", "side", "front")
    assert mine.cameras["side"] == "left"
    assert (
        load_robot(written(tmp_path, cameras=None)).cameras == load_robot("piper").cameras
    )  # of before robot files named them


def test_a_robot_of_ones_own_is_named_by_its_file(tmp_path: Path) -> None:
    assert load_robot(written(tmp_path, robot="mine")).name == "mine"


def test_a_robot_is_known_by_its_joints_whatever_they_are_all_prefixed_with() -> None:
    panda, piper = load_robot("panda_sim"), load_robot("piper")
    assert robot_of(panda.names) is robot_of(panda.columns) is robot_of([f"fr3_{name[6:]}" for name in panda.names])
    assert robot_of(panda.names) is not None
    assert robot_of([f"left_{name}" for name in piper.names]) is robot_of(piper.names)
    for unknown in ((), ("joint1",), piper.names[::-1], piper.names[:-1], (*piper.names, "joint7")):
        assert robot_of(unknown) is None


def test_a_gripper_is_as_wide_as_its_joints_are_apart() -> None:
    panda, piper = load_robot("panda_sim"), load_robot("piper")
    np.testing.assert_allclose(panda.gripper_opening(np.array([*[1.0] * 7, 0.01, 0.03])), 0.04)
    np.testing.assert_allclose(panda.gripper_share(np.array([[*[1.0] * 7, 0.01, 0.03], [0.0] * 9])), [0.5, 0.0])
    np.testing.assert_allclose(piper.gripper_share(np.array([*[1.0] * 6, 0.14])), 1.0)


INTERFACE = {
    "kind": "joint_trajectory",
    "command": "/arm/joint_trajectory",
    "state": "/joint_states",
    "gripper": {"joint": "finger_joint", "closed": 0.8, "open": 0.0},
}


def test_a_robot_says_how_drivers_of_others_move_it(tmp_path: Path) -> None:
    theirs = [f"axis_{number}" for number in range(6)]
    told = {**INTERFACE, "joints": theirs, "angles": "degrees", "rate": 20, "power": {"service": "/enable"}}
    interface = load_robot(written(tmp_path, interface=told)).interface
    assert interface is not None
    assert (interface.kind, interface.command, interface.joints) == ("joint_trajectory", told["command"], tuple(theirs))
    np.testing.assert_allclose(interface.radians, np.pi / 180)
    assert (interface.rate, interface.power_service, interface.has_switch) == (20.0, "/enable", True)
    assert (interface.gripper.position(0.25), interface.gripper.share(0.6)) == pytest.approx((0.6, 0.25))
    assert load_robot(written(tmp_path)).interface is None
    plain = load_robot(written(tmp_path, interface=INTERFACE)).interface
    assert plain is not None
    assert (plain.joints, plain.has_switch) == (load_robot("piper").joints, False)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"kind": "twist"},
            "option 'kind' is 'twist': allowed is one of joint_trajectory, forward_command, joint_state",
        ),
        ({"command": "joint_trajectory"}, "command is 'joint_trajectory': give the whole name, with its /"),
        ({"state": None}, "option 'state' is None: it must be a text - topic of the driver's joint states"),
        ({"joints": ["a", "b"]}, "joints must be 6 names"),
        ({"joints": ["a"] * 6}, "must have a name of its own"),
        ({"angles": "turns"}, "option 'angles' is 'turns': allowed is one of rad, degrees"),
        ({"rate": 1000}, "option 'rate' is 1000.0: allowed is 10..200 - commands per second, Hz"),
        ({"stale_after": 2}, "option 'stale_after' is 2.0: allowed is 0.05..1.5 - s without a joint state"),
        ({"rate": "fast"}, "option 'rate' is 'fast': it must be a number"),
        ({"power": "/enable"}, "option 'power' is '/enable': it must be a mapping with topic, service"),
        ({"power": {"topic": "/a", "service": "/b"}}, "it is {topic: /...} of std_msgs/Bool, or {service: /...}"),
        ({"topic": "/a"}, "driver: there is no option 'topic': it may have kind, command, state, gripper"),
        (
            {"gripper": {"joint": "finger", "closed": 0.0}},
            "driver: option 'gripper': option 'open' is missing - position of that joint",
        ),
        ({"gripper": {"joint": "finger", "closed": 0.1, "open": 0.1}}, "closed and open are the same"),
        ({"velocities": [float("inf")]}, "option 'velocities' is inf: it must be finite"),
    ],
)
def test_an_interface_that_cannot_be_is_refused_in_a_line(tmp_path: Path, changed: dict, told: str) -> None:
    with pytest.raises(RobotError, match=r"the robot file .*mine\.yaml is not understood") as refused:
        load_robot(written(tmp_path, interface={**INTERFACE, **changed}))
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_robot_with_an_interface_has_links(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="a robot with an interface has links, and a gripper of one joint"):
        load_robot(written(tmp_path, interface=INTERFACE, links=None, older=None))


def test_a_robot_without_links_plans_no_way(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path, links=None, older=None))
    with pytest.raises(RobotError, match="no links"):
        robot.links_of("S-V1.8-5")


def test_an_unknown_robot_is_told_with_those_there_are() -> None:
    with pytest.raises(RobotError, match=r"no robot 'piper_q': there are .*piper, .*piper_x"):
        load_robot("piper_q")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rest": None}, "rest is missing"),
        ({"links": [[0, 0, 0, 0]]}, "links must be 6 rows"),
        ({"lowest": [0, 0, 0]}, "lowest must be 6 finite numbers"),
        ({"highest": [float("nan")] * 6}, "highest of joint 1 is nan: a finite number"),
        ({"highest": [-180] * 6}, "lowest angle is not below"),
        ({"speed": 0}, "speed must be a number above 0"),
        ({"speed": "fast"}, "speed is the text 'fast': write a number"),
        ({"gripper": {"joint": "gripper"}}, "opening"),
        ({"older": {"before": "old", "links": []}}, "'old' is no firmware"),
        ({"lenght": 3}, "lenght is not known"),
        ({"gripper": {"joints": "left", "opening": 0.1}}, "joints of the gripper must be a list"),
        ({"columns": ["a", "b"]}, "columns must be 7 different names"),
        ({"columns": ["a"] * 7}, "columns must be 7 different names"),
        ({"control_rate": 0}, "control_rate must be a number above 0"),
        ({"rest": [0, 0, 0, 1.15, 28.65, 0]}, "did you mean 28.65 degrees, which are 0.5000 rad"),
        (
            {"rest": [0, 0, 0, 0, 5, 0]},
            "rest of joint 5 is 286 degrees, out of its limits -70 to 70: it is in",
        ),
        ({"rest": [0, 90, -90, 0, 0, 0]}, "did you mean 90 degrees, which are 1.5708 rad"),
        ({"rest": [0, 0, 0, 0, -2.5, 0]}, "rest of joint 5 is -143 degrees, out of its limits"),
        ({"rest": [True, 0, 0, 0, 0, 0]}, "rest of joint 1 is True: a finite number"),
        ({"rest": [0, 0, 0, 0, "0.5", 0]}, "rest of joint 5 is the text '0.5': write a number"),
        ({"rest": "home"}, "rest must be 6 finite numbers"),
        ({"rest": [[0, k] for k in range(6)]}, "a finite number is wanted"),
        ({"rest": [0, 0, 0, 0, float("inf"), 0]}, "rest of joint 5 is inf: a finite number"),
        ({"lowest": [-2.6, 0, -2.9, -1.7, -1.2, -2], "highest": [2.6, 3.1, 0, 1.7, 1.2, 2]}, "did you give rad"),
        ({"lowest": [False] * 6}, "lowest of joint 1 is False"),
        ({"angles": "turns"}, "angles is 'turns': it must be rad or degrees"),
        ({"angles": "rad"}, "lowest or highest is more than ten turns: did you give degrees"),
        (
            {"gripper": {"joint": "gripper", "opening": 70}},
            "opening of the gripper is 70, which is too much",
        ),
        ({"gripper": {"joint": "gripper", "opening": True}}, "opening of the gripper is True"),
        ({"gripper": 3}, "gripper must be a mapping"),
        ({"speed": 172}, "speed is 172, which is too much: it is in rad/s: did you give degrees per second"),
        ({"speed": True}, "speed is True"),
        (
            {"links": [[0, -1.5708, 0.1, k] for k in range(6)]},
            "an angle of -1.5708 degrees, which can only be rad",
        ),
        ({"links": [[285.03, -90, 123, k] for k in range(6)]}, "a length of 285.03 m: did you give mm"),
        ({"links": [["a", 0, 0, k] for k in range(6)]}, "links of joint 1 is the text 'a'"),
        ({"links": "none"}, "links must be 6 rows"),
        ({"older": 3}, "older must be a mapping of before, a firmware, and links"),
        ({"joints": 6}, "joints must be a list of names"),
        ({"joints": ["a"] * 6}, "joints must be different names"),
        ({"cameras": 3}, "cameras must name each view"),
        ({"cameras": {}}, "a robot has one view or more"),
        ({"cameras": {"front left": "a"}}, "no view can be called 'front left'"),
        ({"cameras": {"joints": "a"}}, "no view can be called 'joints'"),
    ],
)
def test_what_cannot_be_is_told_with_the_file(tmp_path: Path, changed: dict, words: str) -> None:
    with pytest.raises(RobotError, match=rf"mine\.yaml is not understood: .*{words}"):
        load_robot(written(tmp_path, **changed))


@pytest.mark.parametrize("text", ["just a text", "- 1", "a: [", "\0"])
def test_a_file_that_is_no_robot_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(RobotError) as told:
        load_robot(str(file))
    assert "\n" not in str(told.value)


def test_packages_that_import_the_former_names_get_the_new_ones_and_are_warned(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    from kc_vla.core.rig import Rig, RigError, Vector, load_rig, rig_of, shipped_rigs

    now = (Robot, RobotError, robot.Vector, load_robot, robot_of, robot.shipped_robots)
    assert (Rig, RigError, Vector, load_rig, rig_of, shipped_rigs) == now
    said = capfd.readouterr().err.splitlines()
    assert "deprecated: kc_vla.core.rig.load_rig is called kc_vla.core.robot.load_robot" in said
    with pytest.raises(ImportError, match="cannot import name 'no_such_name'"):
        from kc_vla.core.rig import no_such_name  # noqa: F401


@pytest.mark.parametrize("unit", ["rad", "degrees"])
def test_a_file_may_name_the_unit_of_all_its_angles(tmp_path: Path, unit: str) -> None:
    piper, scale = load_robot("piper"), 1.0 if unit == "rad" else 180.0 / np.pi
    rows = {"lowest": piper.limits.lowest, "highest": piper.limits.highest, "rest": piper.rest}
    mine = load_robot(written(tmp_path, angles=unit, **{name: (row * scale).tolist() for name, row in rows.items()}))
    np.testing.assert_allclose(mine.limits.lowest, piper.limits.lowest)
    np.testing.assert_allclose(mine.limits.highest, piper.limits.highest)
    np.testing.assert_allclose(mine.rest, piper.rest)


def test_a_home_pose_a_little_out_of_limits_that_a_person_narrowed_is_taken(tmp_path: Path) -> None:
    mine = load_robot(written(tmp_path, robot="mine", highest=[150, 180, 0, 100, 10, 120]))
    np.testing.assert_allclose(np.degrees([mine.limits.highest[4], mine.rest[4]]), [10.0, 28.65], atol=0.01)


ROWS = st.one_of(VALUES, st.lists(VALUES, min_size=6, max_size=6), st.dictionaries(st.text(max_size=3), VALUES))


@given(st.sampled_from(["joints", "lowest", "highest", "speed", "rest", "gripper", "links", "older", "angles"]), ROWS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_a_file_it_is_read_or_refused_in_one_line_of_ours(
    tmp_path: Path, name: str, value: object
) -> None:
    read_or_refused_in_one_line(written(tmp_path, **{name: value}))
