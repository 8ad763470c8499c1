"""Bags of other stacks: stamps, order and images that are wrong cost as little as they can, and are said."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from imported_bag import assert_true, imported, refused, shades, topics_of
from nightly import at_night
from other_stack import (
    BEGIN_NS,
    CAMERA,
    FRAMES,
    JOINTS,
    MAP,
    PERIOD_NS,
    POSE,
    TARGETS,
    WRIST,
    Said,
    image,
    jpeg,
    only,
    recording,
    spoil,
    write,
)
from sensor_msgs.msg import CompressedImage

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.cli import main
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.export import export_bags
from kc_vla.datasets.exchange.from_bags import Asked, import_bags
from kc_vla.datasets.exchange.imported import Imported
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.exchange.rows import read_rows

_ALL = list(MAP.values())


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
@pytest.mark.parametrize("wrong", ["zero", "far ahead", *at_night("ten seconds ahead", "ten seconds behind")])
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


@pytest.mark.parametrize("seconds", [-3.0, 5.0, *at_night(-0.3, -100.0, 3600.0, 1e8)])
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


# -- poses and publishers -----------------------------------------------------------------------------------------


def test_poses_that_are_none_are_left_out(tmp_path: Path) -> None:
    wrong_turn = PoseStamped()
    wrong_turn.pose.orientation.w = 0.0
    done, _ = imported(
        tmp_path, spoil(recording(), POSE, [5], lambda each: Said(POSE, wrong_turn, each.stamp, each.log))
    )
    assert f"{POSE}: 1 of {FRAMES} messages left out" in done.notes[0]


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
