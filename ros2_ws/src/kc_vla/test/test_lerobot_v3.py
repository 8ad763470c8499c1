"""Version 3.0 as LeRobot lays it out, and that nothing gets lost on the way there."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from data_sets import FPS, SIZE, write_data_set

from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import COLUMNS, video_key
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.datasets.lerobot.source import open_source
from kc_vla.datasets.lerobot.v3_writer import write_v3
from kc_vla.media.mp4 import Mp4Writer

LENGTHS = (30, 24, 27)
KEYFRAMES = (0, 6, 9, 15, 20)
EPISODES = "meta/episodes/chunk-000/file-000.parquet"


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("v2") / "counting", LENGTHS, KEYFRAMES)


@pytest.fixture(scope="module")
def third(second: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("v3") / "counting"
    write_v3(DataSet(second), folder)
    return folder


def test_the_files_are_those_of_lerobot(third: Path) -> None:
    videos = [f"videos/{video_key(view)}/chunk-000/file-000.mp4" for view in DEFAULT_VIEWS]
    wanted = {
        "meta/info.json",
        "meta/stats.json",
        "meta/tasks.parquet",
        EPISODES,
        "data/chunk-000/file-000.parquet",
        *videos,
        "meta/keyframes.json",
        "meta/annotations.jsonl",
        "meta/modality.json",
    }
    assert {str(path.relative_to(third)) for path in third.rglob("*") if path.is_file()} == wanted


def test_info_has_the_fields_of_lerobot(third: Path) -> None:
    info = json.loads((third / "meta/info.json").read_text())
    features = info.pop("features")
    assert info == {
        "codebase_version": "v3.0",
        "robot_type": "panda",
        "total_episodes": 3,
        "total_frames": sum(LENGTHS),
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": FPS,
        "splits": {"development": "0:3"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    assert features.keys() == {column.key for column in COLUMNS} | {video_key(view) for view in DEFAULT_VIEWS}
    assert features["annotation.keyframe"] == {"dtype": "bool", "shape": [1], "names": ["keyframe"], "fps": FPS}
    assert features[video_key("wrist")]["shape"] == [SIZE, SIZE, 3]


def test_an_episodes_row_says_where_it_is(third: Path) -> None:
    rows = pq.read_table(third / EPISODES).to_pylist()
    begins = np.cumsum([0, *LENGTHS])
    for index, row in enumerate(rows):
        assert (row["episode_index"], row["length"], len(row["tasks"])) == (index, LENGTHS[index], 1)
        assert (row["dataset_from_index"], row["dataset_to_index"]) == (begins[index], begins[index + 1])
        for name in ("data", "meta/episodes", *(f"videos/{video_key(view)}" for view in DEFAULT_VIEWS)):
            assert (row[f"{name}/chunk_index"], row[f"{name}/file_index"]) == (0, 0)
        for view in DEFAULT_VIEWS:
            assert row[f"videos/{video_key(view)}/from_timestamp"] == pytest.approx(begins[index] / FPS)
            assert row[f"videos/{video_key(view)}/to_timestamp"] == pytest.approx(begins[index + 1] / FPS)
        assert len(row["stats/action/mean"]) == 7
        assert np.shape(row[f"stats/{video_key('wrist')}/mean"]) == (3, 1, 1)


def test_a_task_is_the_index_of_its_row(third: Path) -> None:
    table = pq.read_table(third / "meta/tasks.parquet")
    assert table.column_names == ["task_index", "task"]
    assert json.loads(table.schema.metadata[b"pandas"])["index_columns"] == ["task"]
    assert table["task_index"].to_pylist() == [0]


def test_statistics_are_those_of_everything(second: Path, third: Path) -> None:
    stats = json.loads((third / "meta/stats.json").read_text())
    data_set = DataSet(second)
    states = np.concatenate([data_set.columns(index)["observation.state"] for index in range(3)]).astype(float)
    np.testing.assert_allclose(stats["observation.state"]["mean"], states.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(stats["observation.state"]["q90"], np.quantile(states, 0.9, axis=0), rtol=1e-6)
    pixels = np.concatenate([list(data_set.frames(index)) for index in range(3)]) / 255
    found = stats[video_key("third_person")]
    assert found["count"] == [sum(LENGTHS)]
    np.testing.assert_allclose(np.ravel(found["mean"]), pixels.mean(axis=(0, 1, 2)), atol=0.02)  # before encoding
    np.testing.assert_allclose(np.ravel(found["std"]), pixels.std(axis=(0, 1, 2)), atol=0.02)


@pytest.mark.parametrize("most_mb", [200.0, 0.005])
def test_every_number_and_pixel_arrives(second: Path, tmp_path: Path, most_mb: float) -> None:
    write_v3(DataSet(second), tmp_path / "v3", data_file_mb=most_mb, video_file_mb=most_mb)
    ours, theirs = open_source(second), open_source(tmp_path / "v3")
    assert len(list(tmp_path.rglob("*/file-*.mp4"))) == (2 if most_mb > 1 else 6)
    for before, after in zip(ours.episodes, theirs.episodes, strict=True):
        assert (after.length, after.instruction) == (before.length, before.instruction)
        assert theirs.keyframes(after) == ours.keyframes(before) == KEYFRAMES
        columns = ours.columns(before)
        assert theirs.columns(after).keys() == columns.keys()
        for key, values in theirs.columns(after).items():
            np.testing.assert_array_equal(values, columns[key])
        for camera in ours.cameras:
            pairs = zip(ours.frames(before, camera), theirs.frames(after, camera), strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs)


def test_videos_of_another_form_are_told(second: Path, tmp_path: Path) -> None:
    spoilt = Path(shutil.copytree(second, tmp_path / "counting"))
    with Mp4Writer(spoilt / f"videos/chunk-000/{video_key('wrist')}/episode_000001.mp4", SIZE, SIZE, 1 / FPS) as video:
        for number in range(LENGTHS[1]):
            video.add(np.zeros((SIZE, SIZE, 3), np.uint8), number)
    with pytest.raises(DataSetError, match=r"episode 1: .* has another form than the videos before it"):
        write_v3(DataSet(spoilt), tmp_path / "v3")


def test_a_frame_that_is_not_in_a_video_of_several_episodes_is_told(third: Path, tmp_path: Path) -> None:
    holed = Path(shutil.copytree(third, tmp_path / "counting"))
    video = holed / f"videos/{video_key('wrist')}/chunk-000/file-000.mp4"
    source = open_source(third)
    pictures = [each for episode in source.episodes for each in source.frames(episode, video_key("wrist"))]
    with Mp4Writer(video, SIZE, SIZE, 1 / FPS) as film:
        for number, picture in enumerate(pictures):
            if number != 33:
                film.add(picture, number)
    found = open_source(holed)
    assert len(list(found.frames(found.episodes[0], video_key("wrist")))) == LENGTHS[0]
    with pytest.raises(DataSetError, match=r"episode 1.*, frame 3: it is not in the video"):
        list(found.frames(found.episodes[1], video_key("wrist")))


def test_what_only_later_episodes_tell_is_kept(second: Path, tmp_path: Path) -> None:
    first = Path(shutil.copytree(second, tmp_path / "counting"))
    rows = [json.loads(row) for row in (first / "meta/episodes.jsonl").read_text().splitlines()]
    for name in ("seed", "variant"):
        rows[0].pop(name, None)
        for row in rows[1:]:
            row[name] = {"seed": 7, "variant": "paper"}[name]
    (first / "meta/episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_v3(DataSet(first), tmp_path / "v3")
    assert pq.read_table(tmp_path / "v3" / EPISODES)["seed"].to_pylist() == [None, 7, 7]
