"""Joint states and targets in bags of other stacks: what can be used is, and the rest is said."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from imported_bag import assert_true, column, imported, names, refused, topics_of
from other_stack import (
    CAMERA,
    FRAMES,
    JOINTS,
    PERIOD_NS,
    PIPER,
    TARGETS,
    Said,
    joints,
    only,
    recording,
    spoil,
    truth,
    write,
)
from sensor_msgs.msg import JointState

from kc_vla.cli import main
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.export import export_bags
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.exchange.rows import read_rows

# -- joint states -------------------------------------------------------------------------------------------------


def with_others(said: list[Said], message: object, every: int = 1, after: int = 20_000_000) -> list[Said]:
    """Add a second publisher of joint states."""
    own = [each for k, each in enumerate(only(said, JOINTS)) if k % every == 0]
    more = [Said(JOINTS, message(each), each.stamp + after, each.log + after) for each in own]
    return [*said, *more]


@pytest.mark.parametrize("every", [1, 3, 10])
@pytest.mark.parametrize("turned", [False, True])
def test_zeros_of_a_second_publisher_are_left_out_and_told(tmp_path: Path, every: int, turned: bool) -> None:
    called = PIPER[::-1] if turned else PIPER
    said = with_others(recording(CAMERA, JOINTS), lambda _: JointState(name=list(called), position=[0.0] * 7), every)
    done, rows = imported(tmp_path, said)
    assert re.search(rf"{JOINTS}: {-(-FRAMES // every)} joint states left out, from .* all zeros", done.notes[0])
    assert_true(rows)


def test_zeros_of_before_the_first_reading_are_left_out_and_told(tmp_path: Path) -> None:
    zeros = lambda each: Said(JOINTS, JointState(name=list(PIPER), position=[0.0] * 7), each.stamp, each.log)  # noqa: E731
    done, rows = imported(tmp_path, spoil(recording(CAMERA, JOINTS), JOINTS, range(3), zeros))
    assert f"{JOINTS}: 3 joint states left out" in done.notes[0]
    assert (column(rows, "observation.joint_positions") != 0).all()


def test_two_robots_that_speak_in_turn_are_refused(tmp_path: Path) -> None:
    def other(each: Said) -> JointState:
        return JointState(name=list(PIPER), position=[-value for value in truth(each.stamp)])

    text = refused(tmp_path, with_others(recording(CAMERA, JOINTS), other))
    assert f"{JOINTS}: two publishers tell joint positions in turn: 40 of 80 messages, from " in text
    assert "name another topic in --topics" in text


def test_a_glitch_is_left_out_and_told(tmp_path: Path) -> None:
    glitch = lambda each: Said(JOINTS, JointState(name=list(PIPER), position=[3.0] * 7), each.stamp, each.log)  # noqa: E731
    done, rows = imported(tmp_path, spoil(recording(CAMERA, JOINTS), JOINTS, [11], glitch))
    assert f"{JOINTS}: 1 joint states left out" in done.notes[0]
    assert_true(rows)


def test_a_leap_in_the_middle_is_told_and_kept(tmp_path: Path) -> None:
    def leapt(each: Said) -> Said:
        position = [value - 1.5 for value in truth(each.stamp)]
        return Said(JOINTS, JointState(name=list(PIPER), position=position), each.stamp, each.log)

    done, rows = imported(tmp_path, spoil(recording(CAMERA, JOINTS), JOINTS, range(20, FRAMES), leapt))
    assert len(rows) == FRAMES
    assert "come behind a leap that no joint makes, and are kept" in done.notes[0]


def split(said: list[Said], *parts: slice) -> list[Said]:
    """Tell the joints in several messages, a few ms after each other."""
    rest = [each for each in said if each.topic != JOINTS]
    for number, part in enumerate(parts):
        rest += [
            Said(
                JOINTS,
                JointState(name=list(PIPER[part]), position=truth(each.stamp + number * 10**7)[part]),
                each.stamp + number * 10**7,
                each.log + number * 10**7,
            )
            for each in only(said, JOINTS)
        ]
    return rest


@pytest.mark.parametrize("parts", [(slice(0, 6), slice(6, 7)), (slice(6, 7), slice(0, 6)), (slice(0, 3), slice(3, 7))])
def test_joints_that_are_told_in_parts_are_put_together(tmp_path: Path, parts: tuple[slice, ...]) -> None:
    done, rows = imported(tmp_path, split(recording(CAMERA, JOINTS), *parts))
    assert set(names(rows, "observation.joint_positions")) == set(PIPER)
    if names(rows, "observation.joint_positions") == PIPER:
        assert_true(rows)
        assert rows.robot == "piper"
    assert "joints are put together" in done.notes[0]


def test_a_gripper_that_falls_silent_is_left_out_and_told(tmp_path: Path) -> None:
    said = split(recording(CAMERA, JOINTS), slice(0, 6), slice(6, 7))
    said = [each for each in said if each.topic != JOINTS or len(each.message.name) > 1 or each.stamp < 3 * 10**8]
    done, rows = imported(tmp_path, said)
    assert names(rows, "observation.joint_positions") == PIPER[:6]
    assert "messages of gripper are left out" in done.notes[0]


@pytest.mark.parametrize("velocities", [[np.nan] * 7, [0.1] * 6 + [np.nan], [0.1] * 3])
def test_velocities_that_are_none_cost_their_column_alone(tmp_path: Path, velocities: list[float]) -> None:
    def spoilt(each: Said) -> Said:
        return Said(JOINTS, joints(each.stamp, velocities=velocities), each.stamp, each.log)

    done, rows = imported(tmp_path, spoil(recording(CAMERA, JOINTS), JOINTS, range(FRAMES), spoilt))
    assert_true(rows)
    assert "observation.joint_velocities" not in {column.key for column in rows.columns}
    assert "velocities of joint1, " in done.notes[0] if len(velocities) == 7 else True


@pytest.mark.parametrize(
    "state",
    [
        JointState(name=list(PIPER), position=[np.nan] * 7),
        JointState(name=list(PIPER), position=[0.5] * 3),
        JointState(name=["joint1"] * 7, position=[0.5] * 7),
        JointState(position=[0.5] * 7),
    ],
)
def test_states_that_say_nothing_are_left_out_and_all_of_them_are_refused(tmp_path: Path, state: JointState) -> None:
    def spoilt(each: Said) -> Said:
        return Said(JOINTS, state, each.stamp, each.log)

    done, rows = imported(tmp_path, spoil(recording(CAMERA, JOINTS), JOINTS, [5, 6], spoilt))
    assert f"{JOINTS}: 2 joint states left out, from " in done.notes[0]
    assert_true(rows, within=0.03)
    text = refused(tmp_path / "all", spoil(recording(CAMERA, JOINTS), JOINTS, range(FRAMES), spoilt))
    assert f"{JOINTS}: none of the {FRAMES} joint states can be used" in text


# -- targets ------------------------------------------------------------------------------------------------------


def told(change: object) -> list[Said]:
    """A recording whose targets are changed one by one."""
    said = recording(CAMERA, JOINTS, TARGETS)
    return spoil(said, TARGETS, range(FRAMES), lambda each: Said(TARGETS, change(each), each.stamp, each.log))


def as_named(called: list[str], count: int = 7):
    return lambda each: JointState(name=called, position=truth(each.stamp)[:count])


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (as_named([""]), "they name no joints and are taken as joint1, "),
        (as_named([]), "they name no joints and are taken as joint1, "),
        (as_named([*PIPER[:6], "joint7"]), "joint7 is taken as gripper"),
        (as_named([*PIPER[:6]], 6), "they do not name gripper: the target before counts"),
        (lambda each: JointState(name=[*PIPER, "lamp"], position=[*truth(each.stamp), 1.0]), "lamp left out"),
    ],
)
@pytest.mark.parametrize("stamped", [True, False])
def test_targets_get_the_names_of_the_robots_joints(tmp_path: Path, change: object, note: str, stamped: bool) -> None:
    said = told(change)
    if not stamped:
        said = spoil(said, TARGETS, range(FRAMES), lambda each: each.at(None))
    done, rows = imported(tmp_path, said)
    assert any(note in line for line in done.notes)
    assert any("count from when they were recorded" in line for line in done.notes) != stamped
    assert names(rows, "action") == PIPER
    np.testing.assert_allclose(column(rows, "action"), [truth(k * PERIOD_NS) for k in range(FRAMES)], atol=0.02)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (as_named([f"a{k}" for k in range(7)]), r"targets of a0, .*: 'joint_names' in the file of --topics"),
        (as_named([*PIPER[:5], "a", "b"]), r"targets of joint1, .*: 'joint_names'"),
        (as_named([""], 5), "names none of its 5 joints, and the robot reports 7: 'joint_names'"),
        (
            lambda _: JointState(name=list(PIPER), position=[np.nan] * 7),
            f"none of the {FRAMES - 1} messages can be used",
        ),
    ],
)
def test_targets_of_other_joints_are_refused(tmp_path: Path, change: object, why: str) -> None:
    assert re.search(why, refused(tmp_path, told(change)))


def test_a_map_may_name_the_joints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = told(as_named([f"a{k}" for k in range(7)]))
    bag = write(tmp_path / "theirs", said)
    lines = [f"{ours}: {theirs}\n" for ours, theirs in topics_of(said).items()]
    called = {f"a{k}": name for k, name in enumerate(PIPER)}
    (tmp_path / "map.yaml").write_text("".join(lines) + f"joint_names: {called}\n")
    words = ["bag", "import", str(bag), f"--topics={tmp_path}/map.yaml", "--task=counting", f"--output={tmp_path}/out"]
    assert main(words) == 0
    rows = read_rows(tmp_path / "out/theirs/bag")
    np.testing.assert_allclose(column(rows, "action"), [truth(k * PERIOD_NS) for k in range(FRAMES)], atol=0.02)
    for wrong in ("joint_names: 7", "joint_names: [a, a]", "joint_names: {a: 1}", "joint_names: {a: b, c: b}"):
        (tmp_path / "map.yaml").write_text("".join(lines) + wrong)
        assert main([*words, "--name=x"]) == 1
        assert "joint_names needs a list of different names" in capsys.readouterr().err


def test_a_map_names_joints_whose_states_have_no_names(tmp_path: Path) -> None:
    nameless = lambda each: Said(JOINTS, JointState(position=truth(each.stamp)), each.stamp, each.log)  # noqa: E731
    said = spoil(recording(CAMERA, JOINTS), JOINTS, range(FRAMES), nameless)
    _, rows = imported(tmp_path, said, joint_names=PIPER)
    assert_true(rows)
    assert rows.robot == "piper"


def test_two_publishers_of_targets_are_refused(tmp_path: Path) -> None:
    said = recording(CAMERA, JOINTS, TARGETS)
    more = [
        Said(TARGETS, JointState(name=list(PIPER), position=[-0.9] * 6 + [0.0]), each.stamp + 10**7, each.log + 10**7)
        for each in only(said, TARGETS)
    ]
    assert f"{TARGETS}: two publishers tell targets in turn" in refused(tmp_path, [*said, *more])


def test_a_gripper_that_is_told_to_open_and_close_is_one_publisher(tmp_path: Path) -> None:
    def toggled(each: Said) -> JointState:
        step = each.stamp // PERIOD_NS
        return JointState(name=list(PIPER), position=[*truth(each.stamp)[:6], 0.07 * (step // 6 % 2)])

    done, _ = imported(tmp_path, told(toggled))
    assert done.notes == ()


def test_what_was_imported_becomes_a_data_set(tmp_path: Path) -> None:
    zeros = lambda _: JointState(name=list(PIPER), position=[0.0] * 7)  # noqa: E731
    done, _ = imported(tmp_path, with_others(recording(), zeros))
    made = export_bags([done.folders[0] / "bag"], tmp_path / "set", origin=Origin.NONE)
    assert (made.episodes, made.frames) == (1, FRAMES)


def in_units(angle: float, gripper: float, still: bool = False) -> Callable[[Said], Said]:
    def change(own: Said) -> Said:
        values = truth(0 if still else own.stamp)
        position = [*(angle * value for value in values[:6]), gripper * values[6]]
        return replace(own, message=JointState(name=PIPER, position=position))

    return change


@pytest.mark.parametrize("topic", [JOINTS, TARGETS])
@pytest.mark.parametrize(("angle", "gripper", "told"), [(57.3, 1, "rad, not degrees"), (1, 1000, "m, not millimeters")])
def test_other_units_are_told(tmp_path: Path, topic: str, angle: float, gripper: float, told: str) -> None:
    """Refused where they look like leaps, and reported where the robot stands still: two publishers are no cause."""
    said = spoil(recording(), topic, range(FRAMES), in_units(angle, gripper))
    with pytest.raises(ExchangeError, match=told):
        imported(tmp_path / "moves", said)
    done, _ = imported(tmp_path / "still", spoil(said, topic, range(FRAMES), in_units(angle, gripper, still=True)))
    (line,) = (note for note in done.notes if told in note)
    assert "left out" not in line
    assert f"{topic}: " in line


def with_a_wheel(own: Said) -> Said:
    state = joints(own.stamp)
    return replace(own, message=JointState(name=[*PIPER, "wheel"], position=[*state.position, 1.0]))


@pytest.mark.parametrize("spoilt", [range(5, 9), range(1), range(36, 40)])
def test_a_joint_that_is_told_of_for_a_while_costs_no_message(tmp_path: Path, spoilt: range) -> None:
    done, rows = imported(tmp_path, spoil(recording(), JOINTS, spoilt, with_a_wheel))
    assert done.frames == FRAMES
    assert [note for note in done.notes if "wheel left out" in note]
    assert names(rows, "observation.joint_positions") == PIPER
    assert_true(rows)
