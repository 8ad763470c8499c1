import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data_sets import FPS, SIZE, numbers, picture, write_data_set
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.bags.errors import BagError
from kc_vla.core.tasks import TASKS
from kc_vla.datasets.lerobot.annotations import keyframes_text, read_annotations, read_keyframes
from kc_vla.datasets.lerobot.reader import DataSet, DataSetError, open_data_sets
from kc_vla.datasets.lerobot.v3_writer import V3Writer

COLUMNS = "data/chunk-000/episode_000001.parquet"
VIDEO = "videos/chunk-000/observation.images.third_person/episode_000001.mp4"
KEYFRAMES = "meta/keyframes.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("made") / "counting")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A data set to spoil."""
    return Path(shutil.copytree(made, tmp_path / "counting"))


def test_what_was_written_is_read(made: Path) -> None:
    data_set = DataSet(made)
    assert data_set.fps == FPS
    assert [(e.index, e.length, e.task, e.seed, e.variant, e.looks, e.attempt) for e in data_set.episodes] == [
        (0, 30, "counting", 0, "paper", "standard", 0),
        (1, 24, "counting", 1, "paper", "standard", 0),
    ]
    assert data_set.episodes[0].instruction == TASKS["counting"].instruction
    assert data_set.keyframes(1) == (0, 6, 9, 15, 20)
    columns = data_set.columns(1)
    for key, row in numbers(1, 7).items():
        np.testing.assert_array_equal(columns[key][7], row.astype(np.float32))
    assert np.flatnonzero(columns["annotation.keyframe"]).tolist() == [0, 6, 9, 15, 20]
    np.testing.assert_array_equal(columns["index"], np.arange(30, 54))
    np.testing.assert_allclose(columns["timestamp"], np.arange(24) / FPS, rtol=1e-6)
    assert [columns[key].dtype for key in ("action", "frame_index")] == [np.float32, np.int64]
    for view in ("third_person", "wrist"):
        frames = list(data_set.frames(1, view))
        assert len(frames) == 24
        for number, frame in enumerate(frames):
            assert frame.shape == (SIZE, SIZE, 3)
            assert frame.dtype == np.uint8
            assert np.abs(frame.astype(int) - picture(view, 1, number)).mean() < 6


def test_annotations_tell_phase_label_and_source(made: Path) -> None:
    rows = [row for row in read_annotations(made / "meta/annotations.jsonl") if row.episode == 1]
    assert [(row.frame, row.phase, row.label) for row in rows][:2] == [(0, 0, "start"), (6, 1, "flash 1 on")]
    assert (rows[1].stamp_ns, rows[1].source, rows[1].author, rows[1].score) == (300_000_000, "oracle", "test", 1.0)


def test_a_folder_of_data_sets_is_opened_by_name(made: Path, tmp_path: Path) -> None:
    write_data_set(tmp_path / "temporal", lengths=(12,), keyframes=(0, 3, 6, 9), task="temporal")
    shutil.copytree(made, tmp_path / "counting")
    shutil.copytree(made, tmp_path / ".identity.part")  # not whole yet
    assert [data_set.folder.name for data_set in open_data_sets(tmp_path)] == ["counting", "temporal"]
    assert [data_set.folder for data_set in open_data_sets(made)] == [made]


def others(folder: Path) -> None:
    """Make the data set one of the authors' form: other camera names, plain lists, none of our fields and files."""
    for ours, theirs in (("third_person", "image"), ("wrist", "wrist_image")):
        videos = folder / "videos/chunk-000"
        (videos / f"observation.images.{ours}").rename(videos / f"observation.images.{theirs}")
    text = (folder / "meta/info.json").read_text().replace("images.third_person", "images.image")
    (folder / "meta/info.json").write_text(text.replace("images.wrist", "images.wrist_image"))
    rows = [json.loads(line) for line in (folder / "meta/episodes.jsonl").read_text().splitlines()]
    kept = [{key: row[key] for key in ("episode_index", "tasks", "length")} for row in rows]
    kept[1]["tasks"] = ["  wait for the signal light to flash twice, then push the cube to the target"]
    (folder / "meta/episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    for path in ("meta/collection.json", "meta/annotations.jsonl", "meta/stats.json"):
        (folder / path).unlink()
    shutil.rmtree(folder / "meta/collected")
    table = pq.read_table(folder / COLUMNS)
    lists = pa.array(table["action"].to_pylist(), pa.list_(pa.float64()))
    table = table.set_column(table.column_names.index("action"), "action", lists)
    pq.write_table(table.append_column("words", pa.array(["a"] * table.num_rows)), folder / COLUMNS)


def test_a_data_set_of_others_is_read(folder: Path) -> None:
    others(folder)
    data_set = DataSet(folder)
    assert [(e.task, e.seed, e.variant) for e in data_set.episodes] == [("counting", None, None)] * 2
    assert len(list(data_set.frames(1))) == len(list(data_set.frames(1, "wrist"))) == 24
    columns = data_set.columns(1)
    assert columns["action"].shape == (24, 7)
    assert "words" not in columns


@pytest.mark.parametrize("content", ['{"0": [0, 3]}', '{"0": [0, 3], "1": []}', None])
def test_keyframes_come_from_the_file_then_from_the_column(folder: Path, content: str | None) -> None:
    (folder / KEYFRAMES).unlink() if content is None else (folder / KEYFRAMES).write_text(content)
    assert [DataSet(folder).keyframes(k) for k in (0, 1)] == [
        (0, 6, 9, 15, 20) if content is None else (0, 3),
        (0, 6, 9, 15, 20),
    ]


def test_an_episode_without_keyframes_and_one_of_an_unknown_task_are_read(folder: Path) -> None:
    unmarked(folder)
    (folder / KEYFRAMES).write_text('{"0": [0, 3]}')
    others(folder)
    path = folder / "meta/episodes.jsonl"
    path.write_text(path.read_text().replace("  wait for", "do not wait for"))
    data_set = DataSet(folder)
    assert [data_set.keyframes(k) for k in (0, 1)] == [(0, 3), ()]
    assert [e.task for e in data_set.episodes] == ["counting", ""]


def test_version_3_is_read_as_version_2(made: Path, tmp_path: Path) -> None:
    second, third = DataSet(made), DataSet(write_data_set(tmp_path / "v3", writer_of=V3Writer))
    assert third.fps == second.fps
    assert third.episodes == second.episodes
    for info in second.episodes:
        assert third.keyframes(info.index) == second.keyframes(info.index)
        theirs = third.columns(info.index)
        assert all(np.array_equal(values, theirs[key]) for key, values in second.columns(info.index).items())
        for view in ("third_person", "wrist"):
            pairs = zip(second.frames(info.index, view), third.frames(info.index, view), strict=True)
            assert all(np.array_equal(one, other) for one, other in pairs)


def remove(path: str) -> Callable[[Path], object]:
    return lambda folder: (folder / path).unlink()


def put(path: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / path).write_text(text)


def say(name: str, value: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        info = json.loads((folder / "meta/info.json").read_text())
        (folder / "meta/info.json").write_text(json.dumps({**info, name: value}))

    return change


def cut(folder: Path) -> None:
    (folder / VIDEO).write_bytes((folder / VIDEO).read_bytes()[:-900])


def damage(folder: Path) -> None:
    """Zeros in the middle of the pictures' data."""
    video = bytearray((folder / VIDEO).read_bytes())
    begin = video.rindex(b"mdat") + (len(video) - video.rindex(b"mdat")) * 2 // 3
    video[begin : begin + 120] = bytes(120)
    (folder / VIDEO).write_bytes(video)


def shorter_video(folder: Path) -> None:
    shutil.copy(folder / VIDEO, folder / VIDEO.replace("000001", "000000"))


def no_number(folder: Path) -> None:
    table = pq.read_table(folder / COLUMNS)
    values = np.array(table["action"].to_pylist(), np.float32)
    values[5, 2] = np.nan
    pq.write_table(table.set_column(1, "action", pa.array(list(values))), folder / COLUMNS)


def fewer_rows(folder: Path) -> None:
    pq.write_table(pq.read_table(folder / COLUMNS).slice(0, 23), folder / COLUMNS)


def unmarked(folder: Path) -> None:
    """Keyframes neither in a file nor in a column."""
    (folder / KEYFRAMES).unlink()
    info = folder / "meta/info.json"
    info.write_text(info.read_text().replace("annotation.keyframe", "annotation.other"))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (remove("meta/info.json"), r"is no LeRobot data set: it has no meta/info\.json"),
        (put("meta/info.json", '{"codebase_version": "v3.0"}'), r"info\.json is not that of a LeRobot data set"),
        (remove("meta/episodes.jsonl"), r"episodes\.jsonl is missing"),
        (put("meta/episodes.jsonl", '{"episode_index": 0}\n{"epi'), r"episodes\.jsonl, line 2: "),
        (
            put("meta/episodes.jsonl", '{"episode_index": 4, "length": 0}'),
            r"row 1: bad or repeated episode 4 of 0 frames",
        ),
        (put("meta/episodes.jsonl", ""), r"has no episodes"),
        (unmarked, r"has no keyframes: meta/keyframes\.json is missing"),
        (put(KEYFRAMES, "[" * 100_000), r"keyframes\.json cannot be read: is nested too deeply"),
        (put("meta/episodes.jsonl", "[" * 100_000), r"episodes\.jsonl, line 1: is nested too deeply"),
        (say("data_path", "/etc/passwd"), r"bad path '/etc/passwd': the path '/etc/passwd' leads out of"),
        (say("data_path", "data/../../{episode_index}"), r"bad path .* leads out of"),
        (say("video_path", "{video_key}/../../../v.mp4"), r"bad path .* leads out of"),
        (say("data_path", "{episode_index.__class__}"), r"only blanks such as \{episode_index:06d\} can be filled in"),
        (say("data_path", "{episode_index:999999999d}"), r"bad path .* only blanks such as"),
        (say("fps", float("inf")), r"info\.json: bad fps inf"),
        (say("data_path", "{episode}.parquet"), r"bad path '\{episode\}\.parquet': 'episode'"),
        (put(KEYFRAMES, "[0, 3]"), r"keyframes\.json: an object .* is wanted"),
        (put(KEYFRAMES, '{"0": [0, 3], "1": [2]}'), r"episode 1: the first keyframe must be frame 0, not 2"),
        (put(KEYFRAMES, '{"0": [0, 3], "1": [0, 5, 5]}'), r"episode 1, frame 5: keyframes must ascend"),
        (put(KEYFRAMES, '{"0": [0, 3], "1": [0, 24]}'), r"episode 1, frame 24: a keyframe beyond the end, .* 24 fr"),
        (put(KEYFRAMES, '{"0": [0, 3], "1": [0, 2.5]}'), r"episode 1: keyframes are a list of whole numbers"),
        (remove(VIDEO), r"episode 1, observation.images.third_person, frame 0: the video .* is missing"),
        (cut, r"episode 1, observation.images.third_person, frame \d+: the video .* (ends here|cannot be read)"),
        (damage, r"episode 1, observation.images.third_person, frame \d+: (damaged|the video .* cannot be read)"),
        (put(VIDEO, "no video"), r"episode 1, observation.images.third_person, frame 0: the video .* cannot be read"),
        (
            shorter_video,
            r"episode 0, observation.images.third_person, frame 24: the video .* ends here, the episode has 30 frames",
        ),
        (remove(COLUMNS), r"episode 1: its columns .* are missing"),
        (put(COLUMNS, "no columns"), r"episode 1: its columns .* cannot be read"),
        (no_number, r"episode 1, column action, frame 5: a number is missing or not finite"),
        (fewer_rows, r"episode 1: .* has 23 rows, the episode has 24 frames"),
    ],
)
def test_bad_data_is_one_line_that_names_the_place(folder: Path, spoil: Callable[[Path], object], told: str) -> None:
    spoil(folder)
    with pytest.raises(DataSetError, match=told) as raised:
        read_all(folder)
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)
    assert isinstance(raised.value, BagError)


def read_all(folder: Path) -> None:
    for data_set in open_data_sets(folder):
        for episode in data_set.episodes:
            dict(data_set.columns(episode.index))
            for view in ("third_person", "wrist"):
                for _ in data_set.frames(episode.index, view):
                    pass


def test_what_is_not_there_is_told(made: Path, tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"there is no LeRobot data set in .*: record one with kc-vla collect"):
        open_data_sets(tmp_path)
    with pytest.raises(DataSetError, match=r"has no camera 'top': it has observation\.images\.third_person"):
        DataSet(made).frames(0, "top")
    with pytest.raises(DataSetError, match="has no episode 7"):
        DataSet(made).columns(7)


def test_the_videos_suit_learning(made: Path) -> None:
    with av.open(str(made / VIDEO)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt) == ("h264", "yuv420p")
        packets = [packet for packet in container.demux(stream) if packet.size]
        assert [packet.is_keyframe for packet in packets] == [True, False] * 12


@given(st.dictionaries(st.integers(0, 50), st.sets(st.integers(1, 400), max_size=6), min_size=1))
def test_keyframes_survive_the_file(tmp_path_factory: pytest.TempPathFactory, drawn: dict[int, set[int]]) -> None:
    path = tmp_path_factory.getbasetemp() / "keyframes.json"
    keyframes = {episode: (0, *sorted(frames)) for episode, frames in drawn.items()}
    path.write_text(keyframes_text(keyframes))
    assert read_keyframes(path, dict.fromkeys(keyframes, 401)) == keyframes


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_any_keyframes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.getbasetemp() / "keyframes.json"
    path.write_text(json.dumps({"0": value}))
    with suppress(DataSetError):
        for frames in read_keyframes(path, {0: 100}).values():
            assert frames[0] == 0
            assert all(before < after < 100 for before, after in pairwise(frames))
