"""Bags of other stacks, with what goes wrong in them: what is imported can be used, and the rest is said."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from nightly import at_night
from other_stack import (
    BEGIN_NS,
    CAMERA,
    FRAMES,
    JOINTS,
    MAP,
    PERIOD_NS,
    PIPER,
    POSE,
    TARGETS,
    WRIST,
    Said,
    image,
    joints,
    jpeg,
    only,
    recording,
    spoil,
    truth,
    write,
)
from sensor_msgs.msg import CompressedImage, JointState

from kc_vla.annotate.curves import read_curves
from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.cli import main
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.export import export_bags
from kc_vla.datasets.exchange.from_bags import Asked, import_bags
from kc_vla.datasets.exchange.imported import Imported
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.exchange.rows import EpisodeRows, read_rows

_ALL = list(MAP.values())


def topics_of(said: list[Said]) -> dict[str, str]:
    there = {each.topic for each in said}
    return {ours: theirs for ours, theirs in MAP.items() if theirs in there}


def imported(
    tmp_path: Path, said: list[Said], order: Callable[[Said], object] | None = None, **asked: object
) -> tuple[Imported, EpisodeRows]:
    """Import what was said, and see that report, annotation and export can use it: the rows that come of it."""
    bag = write(tmp_path / "theirs", said, order=order)
    done = import_bags([bag], tmp_path / "out", Asked(topics_of(said), "counting", **asked))
    own = done.folders[0] / "bag"
    rows = read_rows(own)
    episode = AnnotatedEpisode(own)
    assert len(rows) <= episode.length == done.frames
    assert len(episode.jpeg("third_person", 0)) > 0
    read_curves(episode)
    return done, rows


def column(rows: EpisodeRows, key: str) -> np.ndarray:
    return next(values for column, values in rows.columns.items() if column.key == key)


def names(rows: EpisodeRows, key: str) -> tuple[str, ...]:
    return next(column.names for column in rows.columns if column.key == key)


def assert_true(rows: EpisodeRows, begin: int = BEGIN_NS, within: float = 0.02) -> None:
    """See that each row's state is where the robot was at its frame."""
    expected = [truth(stamp - begin) for stamp in rows.clock.stamps.tolist()]
    np.testing.assert_allclose(column(rows, "observation.joint_positions"), expected, atol=within)


def shades(rows: EpisodeRows) -> list[int]:
    return [int(pictures["third_person"][0, 0, 0]) // 5 for _, pictures in rows.rows()]


def refused(tmp_path: Path, said: list[Said], **asked: object) -> str:
    with pytest.raises(ExchangeError) as raised:
        imported(tmp_path, said, **asked)
    assert "\n" not in str(raised.value)
    assert not list((tmp_path / "out").glob("*"))
    return str(raised.value)


def test_a_bag_without_fault_is_taken_over_without_a_word(tmp_path: Path) -> None:
    done, rows = imported(tmp_path, recording())
    assert done.notes == ()
    assert shades(rows) == list(range(FRAMES))
    assert_true(rows)


@pytest.mark.parametrize("cut", [{}, {"first": 10, "last": 29}], ids=["whole", "cut"])
@pytest.mark.parametrize(
    "order",
    [lambda each: each.topic, lambda each: random.Random(each.log).random(), lambda each: -each.log],
    ids=["by_topic", "shuffled", "backward"],
)
def test_messages_in_another_order_than_that_of_their_recording_are_put_in_order(
    tmp_path: Path, order: Callable[[Said], object], cut: dict[str, int]
) -> None:
    done, rows = imported(tmp_path, recording(), order, **cut)
    (note,) = done.notes
    assert "not in the order of their recording" in note
    assert shades(rows) == list(range(FRAMES))[cut.get("first", 0) : cut.get("last", FRAMES) + 1]
    assert_true(rows)


# -- stamps -------------------------------------------------------------------------------------------------------

WRONG_STAMPS = {
    "zero": lambda each: each.at(None),
    "far ahead": lambda each: each.at(each.stamp + 10**14),
    "ten seconds ahead": lambda each: each.at(each.stamp + 10**10),
    "ten seconds behind": lambda each: each.at(each.stamp - 10**10),
}


@pytest.mark.parametrize("topic", _ALL)
@pytest.mark.parametrize("wrong", WRONG_STAMPS)
@pytest.mark.parametrize("numbers", [(0, 1, 2), (7, 8, 30, 39), *at_night(((20,),), ((36, 37, 38, 39),))], ids=str)
def test_a_few_wrong_stamps_cost_their_messages_and_are_told(
    tmp_path: Path, topic: str, wrong: str, numbers: tuple[int, ...]
) -> None:
    done, rows = imported(tmp_path, spoil(recording(), topic, numbers, WRONG_STAMPS[wrong]))
    told = [note for note in done.notes if f"{topic}: {len(numbers)} of {FRAMES} messages left out, from " in note]
    assert len(told) == len(done.notes) == 1
    assert done.frames == FRAMES - (len(numbers) if topic == CAMERA else 0)
    assert_true(rows, within=0.03)


@pytest.mark.parametrize("topic", [CAMERA, WRIST, JOINTS, POSE])
def test_a_repeated_stamp_costs_one_picture_at_most(tmp_path: Path, topic: str) -> None:
    done, rows = imported(tmp_path, spoil(recording(), topic, [20], lambda each: each.at(each.stamp - PERIOD_NS)))
    assert len(rows) == FRAMES - (topic == CAMERA)
    if topic in (CAMERA, WRIST):
        assert f"{topic}: 1 of {FRAMES} messages left out" in done.notes[0]
        assert "repeat the stamp of another" in done.notes[0]


@pytest.mark.parametrize("topic", _ALL)
@pytest.mark.parametrize("pairs", [(20,), (3, 9, 15, 21, 27)], ids=str)
def test_messages_that_changed_places_are_put_in_order(tmp_path: Path, topic: str, pairs: tuple[int, ...]) -> None:
    said = recording()
    own = only(said, topic)
    for k in pairs:
        first, second = own[k], own[k + 1]
        said[said.index(first)] = Said(topic, second.message, second.stamp, first.log)
        said[said.index(second)] = Said(topic, first.message, first.stamp, second.log)
    done, rows = imported(tmp_path, said)
    assert shades(rows) == list(range(FRAMES))
    assert_true(rows)
    assert all("put in order" in note for note in done.notes)
    assert bool(done.notes) == (topic in (CAMERA, WRIST))


@pytest.mark.parametrize("seconds", [-3.0, -0.3, -100.0, 5.0, 3600.0, 1e8])
@pytest.mark.parametrize("at", [15, 20])
@pytest.mark.parametrize("recorder_too", [False, True])
def test_a_clock_that_is_set_is_told_with_how_to_get_at_both_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: float, at: int, recorder_too: bool
) -> None:
    by = round(seconds * 1e9)
    if recorder_too and 0 < seconds < 60:
        pytest.skip("that is a pause")
    begin = at * PERIOD_NS
    said = []
    for number, each in enumerate(sorted(recording(CAMERA, JOINTS), key=lambda each: each.log)):
        late = each.log >= begin
        said.append(Said(each.topic, each.message, each.stamp + late * by, number * 1000 if recorder_too else each.log))
    bag = write(tmp_path / "theirs", said, BEGIN_NS + 10**13)
    (tmp_path / "map.yaml").write_text(f"third_person/image_raw: {CAMERA}\njoint_states: {JOINTS}\n")
    words = ["bag", "import", str(bag), f"--topics={tmp_path}/map.yaml", "--task=counting", f"--output={tmp_path}/out"]
    assert main(words) == 0
    out = capsys.readouterr().out
    how = "went back" if by < 0 else "jumped ahead"
    assert re.search(rf"the clock of {CAMERA}, {JOINTS} {how} by {abs(seconds):.1f} s at picture {at} ", out), out
    first, second = (at, FRAMES - at) if at >= FRAMES - at else (FRAMES - at, at)
    assert f"1 episodes, {first} new frames" in out
    hint = re.search(r"for the others: --from (\d+) --to (\d+)", out)
    assert hint is not None
    assert main([*words, "--from", hint[1], "--to", hint[2], "--name=other"]) == 0
    assert f"1 episodes, {second} new frames" in capsys.readouterr().out
    frames = []
    for name in ("theirs", "other"):
        rows = read_rows(tmp_path / "out" / name / "bag")
        frames += shades(rows)
        behind = min(shades(rows)) >= at
        assert_true(rows, BEGIN_NS + 10**13 + behind * by)
    assert sorted(frames) == list(range(FRAMES))


@pytest.mark.parametrize(("first", "last"), [(0, 5), (30, 39), (10, 10), (39, 2), (-1, 5), (0, 40)])
def test_pictures_can_be_cut_out_by_their_numbers(tmp_path: Path, first: int, last: int) -> None:
    if not 0 <= first < last < FRAMES:
        said = refused(tmp_path, recording(), first=first, last=last)
        assert "at least 2 are wanted" in said or "has the images 0 to 39" in said
        return
    done, rows = imported(tmp_path, recording(), first=first, last=last)
    assert (done.notes, shades(rows)) == ((), list(range(first, last + 1)))
    assert_true(rows)


@pytest.mark.parametrize("topic", [WRIST, JOINTS, POSE, TARGETS])
@pytest.mark.parametrize("by", [-(10**18), 10**11])
def test_clocks_that_never_meet_are_refused_with_both_spans(tmp_path: Path, topic: str, by: int) -> None:
    text = refused(tmp_path, spoil(recording(), topic, range(FRAMES), lambda each: each.at(each.stamp + by)))
    ours = next(own for own, theirs in MAP.items() if theirs == topic)
    assert f"{topic} ({ours})" in text
    assert text.count("from ") >= 2
    assert f"leave {ours} out of --topics" in text


def test_a_silence_of_the_robot_costs_the_shorter_side(tmp_path: Path) -> None:
    said = recording(CAMERA, JOINTS, frames=80)
    silent = {id(each) for k, each in enumerate(only(said, JOINTS)) if 4 <= k < 30}
    done, rows = imported(tmp_path, [each for each in said if id(each) not in silent])
    assert 50 <= len(rows) < 80
    assert f"have nothing on {JOINTS} within 0.5 s" in done.notes[0]


def test_a_rate_that_no_data_set_can_have_is_told(tmp_path: Path) -> None:
    bag = write(tmp_path / "theirs", said := recording(CAMERA, JOINTS, period=74_000_000))
    done = import_bags([bag], tmp_path / "out", Asked(topics_of(said), "counting"))
    assert "13.51 frames a second: LeRobot wants a whole number of them; it can be annotated" in done.notes[0]
    assert AnnotatedEpisode(done.folders[0] / "bag").length == FRAMES


# -- pictures -----------------------------------------------------------------------------------------------------


def depth(each: Said) -> Said:
    data = cv2.imencode(".png", np.arange(64, dtype=np.uint16).reshape(8, 8))[1].tobytes()
    return Said(each.topic, CompressedImage(format="16UC1; png compressed", data=data), each.stamp, each.log)


SPOILT_PICTURES = {
    "an encoding": lambda each: Said(each.topic, image(1, encoding="mono16"), each.stamp, each.log),
    "another encoding": lambda each: Said(each.topic, image(1, encoding="8UC3"), each.stamp, each.log),
    "depth": depth,
    "cut off": lambda each: Said(
        each.topic, CompressedImage(format="jpeg", data=bytes(jpeg(1).data)[:-30]), each.stamp, each.log
    ),
    "size": lambda each: Said(each.topic, image(1, size=12), each.stamp, each.log),
}


@pytest.mark.parametrize("kind", SPOILT_PICTURES)
@pytest.mark.parametrize("topic", [CAMERA, WRIST])
def test_a_picture_that_cannot_be_shown_is_left_out_and_all_of_them_are_refused(
    tmp_path: Path, kind: str, topic: str
) -> None:
    change = SPOILT_PICTURES[kind]
    packed = kind in ("depth", "cut off")
    said = [
        Said(each.topic, jpeg(k), each.stamp, each.log) if packed and each.topic in (CAMERA, WRIST) else each
        for k, each in enumerate(recording())
    ]
    done, rows = imported(tmp_path, spoil(said, topic, [0, 17], change))
    assert len(rows) == FRAMES - 2 * (topic == CAMERA)
    assert f"{topic}: 2 of {FRAMES} messages left out" in done.notes[0]
    if kind != "size":
        text = refused(tmp_path / "all", spoil(recording(), topic, range(FRAMES), change))
        assert f"none of the {FRAMES} messages on {topic} (" in text
        assert "cannot be shown" in text


def test_pictures_of_an_odd_size_become_a_video_without_their_last_row_and_column(tmp_path: Path) -> None:
    said = spoil(
        recording(CAMERA, JOINTS),
        CAMERA,
        range(FRAMES),
        lambda each: Said(CAMERA, image(each.stamp // PERIOD_NS, size=9), each.stamp, each.log),
    )
    done, rows = imported(tmp_path, said)
    assert rows.sizes == {"third_person": (8, 8)}
    made = export_bags([done.folders[0] / "bag"], tmp_path / "set", origin=Origin.NONE)
    assert any("of 9x9 pixels are cut to 8x8" in note for note in made.notes)


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


def test_poses_that_are_none_are_left_out(tmp_path: Path) -> None:
    wrong_turn = PoseStamped()
    wrong_turn.pose.orientation.w = 0.0
    done, _ = imported(
        tmp_path, spoil(recording(), POSE, [5], lambda each: Said(POSE, wrong_turn, each.stamp, each.log))
    )
    assert f"{POSE}: 1 of {FRAMES} messages left out" in done.notes[0]


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


@pytest.mark.parametrize("topic", [CAMERA, POSE])
def test_two_frames_on_one_topic_are_two_publishers(tmp_path: Path, topic: str) -> None:
    def of(frame_id: str, numbers: range, name: str) -> Imported:
        said = recording()
        for each in (only(said, topic)[k] for k in numbers):
            each.message.header.frame_id = frame_id
        return imported(tmp_path / name, said)[0]

    with pytest.raises(ExchangeError, match="different frame_id in turn, 20 of 'other' and 20 of ''"):
        of("other", range(0, FRAMES, 2), "in_turn")
    assert "2 of 40 messages left out" in " ".join(of("other", range(5, 15, 5), "few").notes)
    assert not of("other", range(20, FRAMES), "started_anew").notes
