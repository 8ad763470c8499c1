"""Mapping files: what a server calls things and in which form, there and back, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nightly import tried
from scipy.spatial.transform import Rotation

from kc_vla.core.chunk import ActionType
from kc_vla.core.robot import Robot, load_robot
from kc_vla.policy.remote.array_columns import HOWS, ArrayColumns
from kc_vla.policy.remote.image_format import TURNS, ImageFormat, resized_with_pad
from kc_vla.policy.remote.mapping import MappingError, PolicyMapping
from kc_vla.policy.remote.mapping_file import load_mapping, shipped_mappings
from kc_vla.policy.remote.path import RobotPose, state_of
from kc_vla.policy.remote.rotations import FORMS
from kc_vla.policy.remote.wire import WireError

pytestmark = pytest.mark.filterwarnings("ignore:Gimbal lock")  # it is told, and right all the same
PANDA, PIPER = load_robot("panda_sim"), load_robot("piper")
numbers = st.floats(-1.0, 1.0, width=32)
turns = (
    arrays(np.float64, 4, elements=numbers)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)


@st.composite
def bodies(draw: st.DrawFn, robot: Robot = PANDA) -> RobotPose:
    pose = np.concatenate([draw(arrays(np.float64, 3, elements=numbers)), draw(turns)])
    return RobotPose(
        pose, draw(arrays(np.float64, len(robot.joints), elements=numbers)), draw(st.floats(0, 1, width=32))
    )


def deltas(count: int = 6) -> st.SearchStrategy[np.ndarray]:
    moves = arrays(np.float64, (count, 6), elements=st.floats(-0.125, 0.125, width=32))
    grips = arrays(np.float64, (count, 1), elements=st.floats(0, 1, width=32))
    return st.tuples(moves, grips).map(lambda both: np.concatenate(both, axis=1))


def written(tmp_path: Path, robot: Robot = PANDA, **content: Any) -> PolicyMapping:
    usual = {
        "speaks": "openpi",
        "instruction": "prompt",
        "pictures": {"image": "third_person"},
        "state": {"state": [{"part": "position"}, {"part": "rotation"}, {"part": "gripper"}, {"part": "joints"}]},
        "actions": {
            "actions": [{"part": "position", "how": "step"}, {"part": "rotation", "how": "step"}, {"part": "gripper"}]
        },
    }
    path = tmp_path / "mine.yaml"
    kept = {name: value for name, value in {**usual, **content}.items() if value is not None}
    path.write_text(yaml.safe_dump(kept))
    return load_mapping(str(path), robot, str(kept.get("speaks")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mappings")


@pytest.mark.parametrize("name", shipped_mappings())
def test_those_that_come_along_go_there_and_back(name: str) -> None:
    content = yaml.safe_load(shipped_mappings()[name].read_text())
    for robot in map(load_robot, content["robots"]):
        mapping = load_mapping(name, robot, content["speaks"])
        chance = np.random.default_rng(1)
        middle = (robot.limits.lowest + robot.limits.highest) / 2
        body = RobotPose(np.array([0.4, 0.1, 0.2, *Rotation.random(rng=chance).as_quat()]), middle, 0.25)
        views = {view: chance.integers(0, 256, (224, 224, 3), np.uint8) for view in robot.views}
        sent = mapping.sent(views, body)
        back, felt = mapping.seen(sent)
        assert all(np.array_equal(views[view], picture) or "kc-vla" in name for view, picture in back.items())
        expected = state_of(body, mapping.action_type, robot)
        assert same_state(state_of(felt, mapping.action_type, robot), expected)
        actions = np.tile(expected, (4, 1)) + 0.01
        if mapping.action_type is ActionType.TOOL_DELTA:
            actions = np.concatenate([chance.uniform(-0.05, 0.05, (4, 6)), [[0.0], [1.0], [1.0], [0.0]]], axis=1)
        else:
            actions[:, len(robot.joints) :] = robot.opening / len(robot.gripper)
        if mapping.rate == robot.control_rate:
            taken = mapping.taken(mapping.given(actions, body), body)
            assert taken.dtype == np.float32
            assert np.allclose(taken, actions, atol=1e-5)


def same_state(one: np.ndarray, other: np.ndarray) -> bool:
    if len(one) == 8:  # a quaternion and its negative are one turn
        return bool(
            np.allclose(one[:3], other[:3], atol=1e-5)
            and abs(one[3:7] @ other[3:7]) > 1 - 1e-6
            and abs(one[7] - other[7]) < 1e-5
        )
    return bool(np.allclose(one, other, atol=1e-5))


@pytest.mark.parametrize("form", FORMS)
@given(quaternions=st.lists(turns, min_size=1, max_size=5))
def test_each_form_of_a_rotation_comes_back(form: str, quaternions: list[np.ndarray]) -> None:
    there = Rotation.from_quat(np.array(quaternions))
    values = FORMS[form].written(there)
    assert values.shape == (len(quaternions), FORMS[form].size)
    assert (FORMS[form].read(values) * there.inv()).magnitude().max() < 1e-5


def test_rotations_mean_what_others_mean_by_them() -> None:
    quarter = Rotation.from_euler("z", [[90]], degrees=True)
    expected = {
        "axis_angle": [0, 0, np.pi / 2],
        "rpy": [0, 0, np.pi / 2],
        "quaternion_xyzw": [0, 0, 0.5**0.5, 0.5**0.5],
        "quaternion_wxyz": [0.5**0.5, 0, 0, 0.5**0.5],
        "6d_columns": [0, 1, 0, -1, 0, 0],
        "6d_rows": [0, -1, 0, 1, 0, 0],
    }
    for form, values in expected.items():
        assert np.allclose(FORMS[form].written(quarter), [values], atol=1e-9), form
    both = Rotation.from_euler("xyz", [[0.1, 0.2, 0.3]])
    assert np.allclose(
        both.as_matrix(),
        (
            Rotation.from_rotvec([0, 0, 0.3]) * Rotation.from_rotvec([0, 0.2, 0]) * Rotation.from_rotvec([0.1, 0, 0])
        ).as_matrix(),
    )
    assert np.allclose(FORMS["rpy"].written(both), [[0.1, 0.2, 0.3]])


@tried(200, 1000)
@given(
    how=st.sampled_from(HOWS),
    form=st.sampled_from(list(FORMS)),
    axes=st.sampled_from(["base", "tool"]),
    actions=deltas(),
    body=bodies(),
)
def test_tool_actions_of_any_kind_come_back(
    folder: Path, how: str, form: str, axes: str, actions: np.ndarray, body: RobotPose
) -> None:
    parts = [
        {"part": "constant", "values": [7.0]},
        {"part": "gripper", "open": [-1.0, 3.0], "closed": [1.0, 3.0]},
        {"part": "rotation", "how": how, "form": form, "axes": axes},
        {"part": "position", "how": how, "axes": axes, "unit": "cm", "origin": [1.0, 2.0, 3.0]},
    ]
    mapping = written(folder, actions={"a": {"b": parts}})
    arrays_ = mapping.given(actions, body)
    assert arrays_["a", "b"].dtype == np.float32
    assert np.allclose(mapping.taken(arrays_, body), actions, atol=2e-3)  # radians, m; float32 in cm


@pytest.mark.parametrize("how", HOWS)
@given(joints=arrays(np.float64, (5, 6), elements=numbers), body=bodies(PIPER))
def test_joint_actions_of_any_kind_come_back(folder: Path, how: str, joints: np.ndarray, body: RobotPose) -> None:
    parts = [{"part": "joints", "how": how, "unit": "deg"}, {"part": "gripper", "open": 70, "closed": 0}]
    mapping = written(folder, PIPER, actions={"a": parts})
    actions = np.concatenate([joints, np.full((5, 1), PIPER.opening / 2)], axis=1)
    assert mapping.action_type is ActionType.JOINT_POSITION
    assert np.allclose(mapping.taken(mapping.given(actions, body), body), actions, atol=1e-4)


@given(body=bodies())
def test_what_is_felt_comes_back(folder: Path, body: RobotPose) -> None:
    parts = [
        {"part": "position", "unit": "mm", "origin": [-0.6, 0.0, 0.9]},
        {"part": "gripper", "open": [0.04, -0.04], "closed": [0.0, 0.0]},
        {"part": "rotation", "form": "6d_rows"},
        {"part": "joints", "unit": "deg"},
    ]
    mapping = written(folder, pictures={}, state={"state": parts})
    _, back = mapping.seen(mapping.sent({}, body))
    assert back.pose is not None
    assert back.joints is not None
    assert body.pose is not None
    assert np.allclose(back.pose[:3], body.pose[:3], atol=1e-5)
    assert abs(back.pose[3:] @ body.pose[3:]) > 1 - 1e-5
    assert np.allclose(back.joints, body.joints, atol=1e-5)
    assert back.share == pytest.approx(body.share, abs=1e-5)


def test_a_velocity_of_droid_is_a_step_and_fifteen_of_them_are_a_second() -> None:
    droid = load_mapping("panda_sim-droid", PANDA, "openpi")
    body = RobotPose(np.array([0, 0, 0, 0, 0, 0, 1.0]), np.zeros(7), 1.0)
    rows = np.concatenate([np.full((15, 7), 0.5), np.zeros((15, 1))], axis=1)
    actions = droid.taken({("actions",): rows}, body)
    assert actions.shape == (20, 9)  # a second at the robot's 20 Hz
    assert np.allclose(actions[-1, :7], 15 * 0.5 * 0.2)
    assert np.allclose(np.diff(actions[:, 0]), 1.5 / 20)
    assert np.allclose(actions[:, 7:], PANDA.opening / 2)  # 0 is open


@given(actions=deltas(8), rate=st.sampled_from([5.0, 10.0, 15.0, 30.0, 50.0]), body=bodies())
def test_another_rate_goes_the_same_way_in_the_same_time(
    folder: Path, actions: np.ndarray, rate: float, body: RobotPose
) -> None:
    mapping = written(folder, rate=rate)
    taken = mapping.taken({("actions",): actions}, body)
    span = int(8 / rate * PANDA.control_rate + 1e-6)
    assert len(taken) == max(1, span)
    if span >= 1 and abs(span / PANDA.control_rate - 8 / rate) < 1e-9:
        assert np.allclose(taken[:, :3].sum(axis=0), actions[:, :3].sum(axis=0), atol=1e-5)


def test_a_gripper_that_snaps_is_open_or_closed() -> None:
    libero = load_mapping("panda_sim-libero", PANDA, "openpi")
    body = RobotPose(np.array([0, 0, 0, 0, 0, 0, 1.0]), np.zeros(7), 1.0)
    rows = np.zeros((4, 7))
    rows[:, 6] = [-1.2, -0.3, 0.3, 1.2]
    assert libero.taken({("actions",): rows}, body)[:, 6].tolist() == [1, 1, 0, 0]
    rows[:, :3] = 1.0
    assert np.allclose(libero.taken({("actions",): rows}, body)[:, :3], 0.05)


@given(
    picture=arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3))),
    turn=st.sampled_from(TURNS),
    first=st.booleans(),
)
def test_a_picture_comes_back_whichever_way_it_is_turned(picture: np.ndarray, turn: int, first: bool) -> None:
    look = ImageFormat("third_person", None, turn, first)
    sent = look.sent(picture)
    assert sent.shape[0 if first else 2] == 3
    assert np.array_equal(look.seen(sent, "it"), picture)


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_padded_picture_has_the_size_and_the_middle(height: int, width: int) -> None:
    white = np.full((height, width, 3), 255, np.uint8)
    padded = resized_with_pad(white, 24, 24)
    assert padded.shape == (24, 24, 3)
    rows, columns = (np.flatnonzero(padded[:, :, 0].any(axis=axis)) for axis in (1, 0))
    scale = max(height, width) / 24
    assert len(rows) == max(1, int(height / scale))
    assert len(columns) == max(1, int(width / scale))
    assert rows[0] == (24 - len(rows)) // 2
    assert columns[0] == (24 - len(columns)) // 2


def test_a_wide_picture_has_black_above_and_below() -> None:
    padded = resized_with_pad(np.full((480, 640, 3), 200, np.uint8), 224, 224)
    assert padded[0].max() == padded[27].max() == padded[196].max() == 0
    assert padded[28:196].min() == 200


GOOD_ACTIONS = [{"part": "position"}, {"part": "gripper"}]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"speaks": "pickle"}, "speaks is 'pickle'"),
        ({"speak": "openpi"}, "it has no key 'speak': it may have"),
        ({"instruction": None}, "instruction is missing"),
        ({"text": "do it"}, "must have {instruction}"),
        ({"pictures": {"image": "left"}}, "view of image is 'left': it must be one of third_person, wrist"),
        ({"pictures": {"image": {"view": "wrist", "size": -3}}}, "size of image"),
        ({"pictures": {"image": {"view": "wrist", "size": 9999}}}, "size of image"),
        ({"pictures": {"image": {"view": "wrist", "turn": 45}}}, "turn of image is '45'"),
        ({"pictures": {"image": {"view": "wrist", "colour": 1}}}, "image has no key 'colour'"),
        ({"pictures": [1]}, "pictures must be a mapping"),
        ({"pictures": {}, "state": {}}, "gets no input"),
        ({"state": {"s": [{"part": "speed"}]}}, "part of s is 'speed'"),
        ({"state": {"s": [{"part": "position", "how": "step"}]}}, "a state has no how"),
        ({"state": {"s": [{"part": "gripper", "snap": True}]}}, "a state has no snap"),
        ({"state": {"s": [{"part": "rotation", "form": "euler"}]}}, "form of the rotation of s"),
        ({"state": {"s": [{"part": "rotation", "form": "6d_rows", "unit": "deg"}]}}, "has no unit"),
        ({"state": {"s": [{"part": "position", "unit": "inch"}]}}, "unit of the position of s is 'inch'"),
        ({"state": {"s": [{"part": "position", "unit": "deg"}]}}, "it must be m, cm, mm, or a number"),
        ({"state": {"s": [{"part": "joints", "unit": "mm"}]}}, "it must be rad, deg, or a number"),
        (
            {"state": {"s": [{"part joints": None, "unit": "deg"}]}},
            "no part, as in {part: joints}: it has 'part joints'",
        ),
        ({"state": {"s": [{"part": "position", "unit": 0}]}}, "unit of the position of s is 0"),
        ({"state": {"s": [{"part": "position", "unit": float("nan")}]}}, "must be a number"),
        ({"state": {"s": [{"part": "gripper", "open": [1, 2], "closed": 0}]}}, "as many numbers"),
        ({"state": {"s": [{"part": "gripper", "open": 1, "closed": 1}]}}, "not the same"),
        ({"state": {"s": []}}, "1 to 256 columns"),
        ({"state": {"s": [{"part": "constant", "values": [0] * 300}]}}, "1 to 256 columns"),
        ({"actions": {"a": [{"part": "gripper"}]}}, "either joints or position"),
        ({"actions": {"a": [*GOOD_ACTIONS, {"part": "joints"}]}}, "either joints or position"),
        ({"actions": {"a": [*GOOD_ACTIONS, {"part": "gripper"}]}}, "gripper more than once"),
        ({"actions": {"a": [{"part": "joints"}, {"part": "rotation"}]}}, "joints and a rotation"),
        ({"actions": None}, "actions"),
        ({"robots": ["piper"]}, "it is for piper: this robot is a 'panda_sim'"),
        ({"rate": 0}, "rate is '0'"),
        ({"history": 2.5}, "history is '2.5'"),
        ({"speaks": "groot", "pictures": {"a": {"b": {"view": "wrist"}}}}, "no maps within maps"),
    ],
)
def test_a_mapping_that_cannot_be_is_told_in_a_line(tmp_path: Path, content: dict[str, Any], told: str) -> None:
    with pytest.raises(MappingError) as error:
        written(tmp_path, **content)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["speaks", "pictures", "state", "actions", "part", "view", "size", "a"]),
                inner,
                max_size=3,
            )
        ),
    )
)
def test_any_yaml_is_refused_in_words(folder: Path, content: Any) -> None:
    path = folder / "any.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(MappingError, match="not understood"):
        load_mapping(str(path), PANDA, "openpi")


def test_which_mapping_is_taken_where_none_is_named() -> None:
    assert load_mapping("", PANDA, "openpi").name == "panda_sim-openpi"
    assert load_mapping("", load_robot("piper_x"), "groot").name == "piper-groot"
    assert load_mapping("", PANDA, "groot", "kc-vla").history == 6
    with pytest.raises(
        MappingError, match=r"no mapping 'libero': there are panda_sim-droid, .* a YAML file of your own"
    ):
        load_mapping("libero", PANDA, "openpi")
    with pytest.raises(MappingError, match="for servers that speak openpi, not groot"):
        load_mapping("panda_sim-libero", PANDA, "groot")
    with pytest.raises(MappingError, match="is not there"):
        load_mapping("absent.yaml", PANDA, "openpi")


BODY = RobotPose(np.array([0, 0, 0, 0, 0, 0, 1.0]), np.zeros(7), 1.0)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({}, "there is no actions"),
        ({("actions",): [[0.0] * 7]}, "no array of numbers but list"),
        ({("actions",): np.zeros(7)}, "must have 2 dimensions"),
        ({("actions",): np.zeros((0, 7))}, "none of them empty"),
        ({("actions",): np.zeros((4, 6))}, "6 columns: the mapping has 7"),
        ({("actions",): np.full((4, 7), np.nan)}, "not finite"),
        ({("actions",): np.full((4, 7), np.inf)}, "not finite"),
        ({("actions",): np.full((4, 7), 1e200)}, "numbers beyond 1e\\+06"),
        ({("actions",): np.zeros((2000, 7))}, "512 are the most"),
    ],
)
def test_actions_that_are_none_are_refused(folder: Path, answer: dict[Any, Any], told: str) -> None:
    with pytest.raises(WireError, match=told):
        written(folder).taken(answer, BODY)


def test_a_rotation_of_zeros_is_refused(folder: Path) -> None:
    parts = [{"part": "position"}, {"part": "rotation", "form": "quaternion_xyzw"}]
    with pytest.raises(WireError, match="a rotation is all zeros"):
        written(folder, actions={"a": parts}).taken({("a",): np.zeros((3, 7))}, BODY)


@pytest.mark.parametrize(
    ("opened", "closed", "number", "taken"),
    [
        (0.07, 0.0, 1.0, None),  # a share where m are wanted
        (0.07, 0.0, 35.0, None),  # mm
        (0.07, 0.0, -1.0, None),
        (1.0, -1.0, 255.0, None),
        (0.07, 0.0, 0.09, 1.0),  # a policy may go beyond
        (0.07, 0.0, -0.01, 0.0),
        (-1.0, 1.0, 1.3, 0.0),
    ],
)
def test_a_gripper_in_another_unit_is_refused(opened: float, closed: float, number: float, taken: float | None) -> None:
    part = ArrayColumns("gripper", opened=(opened,), closed=(closed,))
    if taken is None:
        with pytest.raises(WireError, match=r"the gripper is .*, the mapping has .* closed and .* open"):
            part.gripper_read(np.array([[0.5 * (opened + closed)], [number]]))
    else:
        assert part.gripper_read(np.array([[number]])).tolist() == [taken]
