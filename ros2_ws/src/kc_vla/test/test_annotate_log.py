import contextlib
import json
import multiprocessing
from pathlib import Path

import pytest
from full_disk import full_disk
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.annotate.agreement import agreement
from kc_vla.episodes.annotation_log import (
    CONFIRMED,
    OPEN,
    AnnotationError,
    AnnotationLog,
    Conflict,
    Mark,
    Track,
    annotation_file,
    confirmed_track,
)

names = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
tracks_of_marks = st.lists(st.integers(0, 5000), unique=True, max_size=6).map(
    lambda frames: tuple(mark(frame, phase) for phase, frame in enumerate(sorted({0, *frames})))
)


def mark(frame: int, phase: int, source: str = "person") -> Mark:
    return Mark(frame, 50_000_000 * frame, phase, f"keyframe {phase}", source, 1.0)


def bag_in(folder: Path) -> Path:
    bag = folder / "bag"
    bag.mkdir(parents=True, exist_ok=True)
    return bag


@tried(40, 200)
@given(st.lists(st.tuples(names, tracks_of_marks, st.sampled_from([OPEN, CONFIRMED])), max_size=12))
def test_each_author_finds_the_own_last_word_and_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, tuple[Mark, ...], str]]
) -> None:
    log = AnnotationLog(bag_in(tmp_path_factory.mktemp("log")))
    last: dict[str, Track] = {}
    for author, marks, state in rows:
        known = last.get(author)
        last[author] = log.append(author, known.revision if known else 0, state, marks, "test")
    assert log.tracks() == last
    assert [(track.author, track.marks, track.state) for track in log.history()] == rows


def test_a_second_window_is_told_and_overwrites_nothing(tmp_path: Path) -> None:
    bag = bag_in(tmp_path)
    AnnotationLog(bag).append("anna", 0, OPEN, [mark(0, 0)], "first window")
    with pytest.raises(Conflict, match="anna has changed this annotation elsewhere"):
        AnnotationLog(bag).append("anna", 0, OPEN, [mark(0, 0), mark(9, 1)], "second window")
    assert AnnotationLog(bag).tracks()["anna"].action == "first window"


@pytest.mark.parametrize("torn", ['{"author": "an', "\x00\x00\x00", '{"author"' * 9000])
def test_a_row_that_a_loss_of_power_tore_is_left_out_and_taken_away(tmp_path: Path, torn: str) -> None:
    log = AnnotationLog(bag_in(tmp_path))
    log.append("anna", 0, OPEN, [mark(0, 0)], "whole")
    with log.path.open("a") as file:
        file.write(torn)
    assert [track.action for track in log.history()] == ["whole"]
    log.append("anna", 1, OPEN, [mark(0, 0), mark(7, 1)], "after it")
    assert [track.action for track in log.history()] == ["whole", "after it"]


def test_on_a_full_disk_nothing_is_told_to_be_kept_that_is_not(tmp_path: Path) -> None:
    log = AnnotationLog(bag_in(tmp_path))
    log.append("anna", 0, OPEN, [mark(0, 0)], "begun")
    size = log.path.stat().st_size
    many = [mark(frame, frame) for frame in range(20)]
    with full_disk(size + 700), pytest.raises(OSError, match="too large"):
        log.append("anna", 1, CONFIRMED, many, "confirm")
    assert log.path.stat().st_size == size
    assert log.append("anna", 1, CONFIRMED, many, "confirm").revision == 2


def test_a_row_that_somebody_spoilt_is_named(tmp_path: Path) -> None:
    log = AnnotationLog(bag_in(tmp_path))
    log.append("anna", 0, OPEN, [mark(0, 0)], "whole")
    row = json.loads(log.path.read_text())
    row["marks"][0]["frame"] = "zero"
    log.path.write_text(json.dumps(row) + "\n")
    with pytest.raises(AnnotationError, match=r"annotations\.jsonl, row 1: a keyframe's frame is 'zero'"):
        log.tracks()


@tried(100, 500)
@given(
    st.one_of(
        st.binary(max_size=80),
        st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(names, x))
        .map(json.dumps)
        .map(str.encode),
    )
)
def test_whatever_is_in_the_file_ends_in_one_line(tmp_path_factory: pytest.TempPathFactory, row: bytes) -> None:
    log = AnnotationLog(bag_in(tmp_path_factory.mktemp("log")))
    log.path.write_bytes(row + b"\n")
    with contextlib.suppress(AnnotationError):
        assert log.history() == []


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ([], "the first keyframe must be frame 0"),
        ([mark(3, 0)], "the first keyframe must be frame 0"),
        ([mark(0, 0), mark(5, 2), mark(9, 1)], "frame 9: phase 1 follows phase 2"),
    ],
)
def test_what_cannot_be_learnt_from_is_not_confirmed(tmp_path: Path, marks: list[Mark], words: str) -> None:
    log = AnnotationLog(bag_in(tmp_path))
    with pytest.raises(AnnotationError, match=words):
        log.append("anna", 0, CONFIRMED, marks, "confirm")
    assert not log.path.exists()


def test_keyframes_that_do_not_ascend_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="frame 4: keyframes ascend, this one follows 4"):
        AnnotationLog(bag_in(tmp_path)).append("anna", 0, OPEN, [mark(4, 0), mark(4, 1)], "twice")


def test_the_newest_confirmed_annotation_is_taken(tmp_path: Path) -> None:
    bag = bag_in(tmp_path)
    assert confirmed_track(bag) is None
    AnnotationLog(bag).append("anna", 0, CONFIRMED, [mark(0, 0), mark(5, 1)], "confirm")
    AnnotationLog(bag).append("bert", 0, OPEN, [mark(0, 0)], "begun")
    found = confirmed_track(bag)
    assert found is not None
    assert (found.author, [m.frame for m in found.marks]) == ("anna", [0, 5])


def test_a_single_file_has_its_annotations_beside_it(tmp_path: Path) -> None:
    assert annotation_file(tmp_path / "run.mcap") == tmp_path / "run.annotations.jsonl"


def _write_many(bag: Path, author: str) -> None:
    for revision in range(25):
        AnnotationLog(bag).append(author, revision, OPEN, [mark(0, 0)], str(revision))


def test_people_who_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    bag = bag_in(tmp_path)
    people = [multiprocessing.Process(target=_write_many, args=(bag, author)) for author in ("anna", "bert", "carl")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert {author: track.revision for author, track in AnnotationLog(bag).tracks().items()} == {
        "anna": 25,
        "bert": 25,
        "carl": 25,
    }


def test_agreement_counts_phases_within_so_many_frames() -> None:
    def track(author: str, frames: list[int]) -> Track:
        return Track(author, 1, "", OPEN, tuple(mark(frame, phase) for phase, frame in enumerate(frames)), "")

    tracks = {"anna": track("anna", [0, 50, 100, 150]), "bert": track("bert", [0, 52, 120])}
    (pair,) = agreement(tracks, within=5)
    assert (pair.same, pair.apart, pair.only, pair.furthest) == (1, (2,), (3,), 20)
    assert pair.share == pytest.approx(1 / 3)


@pytest.mark.parametrize("action", ["\ud800", "x" * 10_000])
def test_a_row_is_not_lost_for_what_its_action_is_called(tmp_path: Path, action: str) -> None:
    log = AnnotationLog(bag_in(tmp_path))
    log.append("anna", 0, OPEN, [mark(0, 0)], "whole")
    row = json.loads(log.path.read_text())
    row["marks"][0]["label"] = action[0]
    log.path.write_text(json.dumps({**row, "action": action}) + "\n")
    (found,) = log.history()
    assert found.action in ("?", "x" * 1000)
    assert found.marks[0].label.isascii()
    log.append("anna", 1, OPEN, [mark(0, 0)], "after it")
    with pytest.raises(AnnotationError, match="an action is a text of up to 1000 letters"):
        log.append("anna", 2, OPEN, [mark(0, 0)], action)
    assert log.tracks()["anna"].revision == 2


@pytest.mark.parametrize("row", ["[" * 100_000, '{"marks": ' + "[" * 100_000])
def test_a_row_that_is_nested_too_deeply_is_told(tmp_path: Path, row: str) -> None:
    log = AnnotationLog(bag_in(tmp_path))
    log.path.write_text(row + "\n")
    with pytest.raises(AnnotationError, match=r"annotations\.jsonl, row 1: is nested too deeply"):
        log.history()
