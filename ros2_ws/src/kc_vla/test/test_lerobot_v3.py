"""Version 3.0 as LeRobot lays it out, with the same numbers and images as version 2.1."""

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from data_sets import FPS, SIZE, form, numbers, picture, write_data_set, write_episode
from nightly import at_night

from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import FOLLOWING, RECORDED, video_key
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.datasets.lerobot.source import open_source
from kc_vla.datasets.lerobot.v3_writer import V3Writer
from kc_vla.media.mp4 import Mp4Writer

SETTINGS = {"variant": "paper"}
LENGTHS = (30, 24, 27)
KEYFRAMES = (0, 6, 9, 15, 20)
EPISODES = "meta/episodes/chunk-000/file-000.parquet"


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("v2") / "counting", LENGTHS, KEYFRAMES)


@pytest.fixture(scope="module")
def third(second: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("v3") / "counting", LENGTHS, KEYFRAMES, writer_of=V3Writer)


def packets(path: Path) -> list[bytes]:
    """The encoded images of a video."""
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


def files(folder: Path) -> dict[str, bytes]:
    """Content of all files by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
    ours = {"meta/collection.json", *(f"meta/collected/episode_00000{number}.json" for number in range(3))}
    assert files(third).keys() - ours == wanted


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
    assert features.keys() == {column.key for column in (*RECORDED, *FOLLOWING)} | {
        video_key(view) for view in DEFAULT_VIEWS
    }
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
def test_every_number_and_image_is_that_of_version_2(second: Path, tmp_path: Path, most_mb: float) -> None:
    writer = partial(V3Writer, data_file_mb=most_mb, video_file_mb=most_mb)
    write_data_set(tmp_path / "v3", LENGTHS, KEYFRAMES, writer_of=writer)
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
    assert theirs.annotations() == ours.annotations()


def test_the_encoded_images_are_those_of_version_2_to_the_bit(second: Path, third: Path) -> None:
    for view in DEFAULT_VIEWS:
        alone = sorted((second / "videos/chunk-000" / video_key(view)).iterdir())
        together = packets(third / f"videos/{video_key(view)}/chunk-000/file-000.mp4")
        assert together == [packet for path in alone for packet in packets(path)]


def test_statistics_of_an_episode_have_the_quantiles_of_lerobot(second: Path, third: Path) -> None:
    rows = pq.read_table(third / EPISODES).to_pylist()
    for row in rows:
        states = DataSet(second).columns(row["episode_index"])["observation.state"].astype(float)
        for name, share in (("q01", 0.01), ("q10", 0.1), ("q50", 0.5), ("q90", 0.9), ("q99", 0.99)):
            np.testing.assert_allclose(row[f"stats/observation.state/{name}"], np.quantile(states, share, axis=0))


def test_a_file_that_is_full_is_followed_by_another(tmp_path: Path) -> None:
    """Two episodes in each, and the pieces of a file go as soon as it is whole."""
    size = write_pieces(tmp_path / "one", 1, V3Writer)["data/episode_000000.parquet"]
    writer = partial(V3Writer, data_file_mb=2.5 * size / (1 << 20))
    left = write_pieces(tmp_path / "set", 5, writer)
    assert sorted(name for name in left if name.startswith("data")) == ["data/episode_000004.parquet"]
    write_data_set(tmp_path / "set", [12] * 5, (0, 3), settings=SETTINGS, writer_of=writer)
    rows = pq.read_table(tmp_path / "set" / EPISODES).to_pylist()
    assert [row["data/file_index"] for row in rows] == [0, 0, 1, 1, 2]
    assert [row[f"videos/{video_key('wrist')}/file_index"] for row in rows] == [0] * 5
    assert [pq.read_metadata(path).num_rows for path in sorted(tmp_path.glob("set/data/*/*"))] == [24, 24, 12]
    assert not (tmp_path / "set/.pieces").exists()


def write_pieces(folder: Path, episodes: int, writer_of: Callable[..., V3Writer]) -> dict[str, int]:
    """Record episodes of 12 frames, end before the end, and return the sizes of the pieces that are left."""
    with writer_of(folder, form(), SETTINGS) as writer:
        for episode in range(episodes):
            write_episode(writer.incoming(episode), episode, 12, (0, 3))
            writer.take_over()
    return {str(path.relative_to(folder / ".pieces")): path.stat().st_size for path in folder.glob(".pieces/*/*")}


@pytest.mark.parametrize("step", [7, *at_night(1)])
def test_a_process_that_is_killed_anywhere_loses_nothing(tmp_path: Path, step: int) -> None:
    """Each run is killed some renamed files later than the one before; the next run completes what it has left."""
    writer = partial(V3Writer, data_file_mb=1e-6)
    write = partial(write_data_set, lengths=(6, 5), keyframes=(0, 3), settings=SETTINGS, writer_of=writer)
    whole = files(write(tmp_path / "whole"))
    for count in range(1, 100, step):
        folder = tmp_path / str(count)
        child = os.fork()
        if not child:
            killed_after(count, partial(write, folder))
        killed = os.waitpid(child, 0)[1] != 0
        assert files(write(folder)) == whole
        if not killed:
            break
    assert 20 < count < 99


def killed_after(count: int, work: Callable[[], object]) -> None:
    """End this process, without any cleaning up, before it has renamed or removed that many files."""
    left = count

    def counted(do: Callable[..., object]) -> Callable[..., object]:
        def counting(*words: object, **named: object) -> object:
            nonlocal left
            left -= 1
            if not left:
                os._exit(1)
            return do(*words, **named)

        return counting

    try:
        for name in ("replace", "rename", "unlink"):
            setattr(Path, name, counted(getattr(Path, name)))
        shutil.rmtree = counted(shutil.rmtree)  # type: ignore[assignment]
        work()
    finally:
        os._exit(0)


def test_a_finished_data_set_does_not_grow(third: Path, tmp_path: Path) -> None:
    finished = Path(shutil.copytree(third, tmp_path / "counting"))
    before = files(finished)
    with pytest.raises(DataSetError, match="counting is finished: record other episodes into another data set"):
        write_data_set(finished, (*LENGTHS, 12), KEYFRAMES, writer_of=V3Writer)
    assert files(write_data_set(finished, LENGTHS, KEYFRAMES, writer_of=V3Writer)) == before


def test_videos_of_another_form_are_told(tmp_path: Path) -> None:
    with V3Writer(tmp_path / "v3", form(), SETTINGS) as writer:
        for episode in range(2):
            write_episode(writer.incoming(episode), episode, 12, (0, 3))
        with Mp4Writer(writer.incoming(1) / "wrist.mp4", SIZE, SIZE, 1 / FPS) as video:
            for number in range(12):
                video.add(np.zeros((SIZE, SIZE, 3), np.uint8), number)
        writer.take_over()
        with pytest.raises(DataSetError, match=r"wrist/episode_000001.mp4 has another form than the videos before it"):
            writer.finish()


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


def test_what_only_later_episodes_tell_is_kept(tmp_path: Path) -> None:
    with V3Writer(tmp_path / "v3", form(), SETTINGS) as writer:
        for episode, seed in enumerate((None, 7, 7)):
            with EpisodeWriter(writer.incoming(episode), form()) as recorded:
                recorded.add(numbers(episode, 0), {view: picture(view, episode, 0) for view in DEFAULT_VIEWS})
                row = Annotation(episode, 0, 0, 0, "start", "oracle", "test", 1.0)
                recorded.finish(EpisodeInfo(episode, 1, "counting", "Count.", seed), [row])
        writer.take_over()
        writer.finish()
    assert pq.read_table(tmp_path / "v3" / EPISODES)["seed"].to_pylist() == [None, 7, 7]
    assert "looks" not in pq.read_schema(tmp_path / "v3" / EPISODES).names
