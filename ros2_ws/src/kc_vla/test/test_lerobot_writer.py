import json
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from data_sets import SIZE, form, numbers, picture, write_data_set, write_episode

from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.annotations import read_annotations
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.layout import FOLLOWING, RECORDED
from kc_vla.datasets.lerobot.reader import DataSet, DataSetError
from kc_vla.datasets.lerobot.v2_writer import V2Writer
from kc_vla.datasets.lerobot.v3_writer import V3Writer
from kc_vla.datasets.lerobot.writer import DataSetWriter

SETTINGS = {"variant": "paper", "image_size": SIZE}
LENGTHS = (30, 24, 27)
KEYFRAMES = (0, 6, 9, 15, 20)


def files(folder: Path) -> dict[str, bytes]:
    """Content of all files by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def begin(folder: Path, writer_of: type[DataSetWriter] = V2Writer) -> DataSetWriter:
    return writer_of(folder, form(), SETTINGS)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a data set of version 2.1 that was written without a break."""
    return files(write_data_set(tmp_path_factory.mktemp("whole") / "set", LENGTHS, settings=SETTINGS))


@pytest.fixture(scope="module")
def whole_v3(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The same of version 3.0."""
    folder = tmp_path_factory.mktemp("whole") / "set"
    return files(write_data_set(folder, LENGTHS, settings=SETTINGS, writer_of=V3Writer))


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow beyond 1,500 bytes: writing fails in its middle, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_meta_is_lerobots(whole: dict[str, bytes]) -> None:
    info = json.loads(whole["meta/info.json"])
    assert (info["codebase_version"], info["fps"], info["robot_type"]) == ("v2.1", 20, "panda")
    assert (info["total_episodes"], info["total_frames"], info["total_videos"]) == (3, sum(LENGTHS), 6)
    assert info["splits"] == {"development": "0:3"}
    videos = {key for key, feature in info["features"].items() if feature["dtype"] == "video"}
    assert videos == {"observation.images.third_person", "observation.images.wrist"}
    assert info["features"].keys() - videos == {column.key for column in (*RECORDED, *FOLLOWING)}
    for row in whole["meta/episodes_stats.jsonl"].splitlines():
        stats = json.loads(row)["stats"]
        assert stats.keys() == info["features"].keys()
        for key in videos:
            assert np.shape(stats[key]["mean"]) == (3, 1, 1)
            assert 0 <= np.min(stats[key]["min"]) < np.max(stats[key]["mean"]) < np.max(stats[key]["max"]) <= 1
    assert np.shape(json.loads(whole["meta/stats.json"])["observation.state"]["q99"]) == (8,)
    modality = json.loads(whole["meta/modality.json"])
    as_is = {"absolute": True, "original_key": "observation.state", "dtype": "float32"}
    assert modality["state"]["rotation"] == {"start": 3, "end": 7, **as_is}
    deltas = {"absolute": False, "original_key": "action", "dtype": "float32"}
    assert modality["action"]["position"] == {"start": 0, "end": 3, **deltas}
    assert modality["action"]["rotation"] == {"start": 3, "end": 6, "rotation_type": "axis_angle", **deltas}
    assert modality["action"]["gripper"]["absolute"]
    for part, key in (("state", "observation.state"), ("action", "action")):  # each number belongs to one part
        taken = [k for row in modality[part].values() for k in range(row["start"], row["end"])]
        assert taken == list(range(info["features"][key]["shape"][0]))
    assert modality["video"]["wrist_image"] == {"original_key": "observation.images.wrist"}
    assert whole["meta/keyframes.json"].decode().splitlines()[1] == '  "0": [0, 6, 9, 15, 20],'


def test_the_order_of_recording_changes_nothing(tmp_path: Path, whole: dict[str, bytes]) -> None:
    with begin(tmp_path) as writer:
        for episode in (2, 0, 1):
            write_episode(writer.incoming(episode), episode, LENGTHS[episode], KEYFRAMES)
            writer.take_over()
            assert len(writer.episodes) == {2: 0, 0: 1, 1: 3}[episode]
        writer.finish()
    assert files(tmp_path) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "meta", "videos"]


def test_the_order_of_recording_changes_nothing_in_version_3(tmp_path: Path, whole_v3: dict[str, bytes]) -> None:
    with begin(tmp_path, V3Writer) as writer:
        for episode in (2, 0):
            write_episode(writer.incoming(episode), episode, LENGTHS[episode], KEYFRAMES)
            writer.take_over()
    with begin(tmp_path, V3Writer) as writer:
        assert writer.missing(4) == [1, 3]
        write_episode(writer.incoming(1), 1, LENGTHS[1], KEYFRAMES)
        writer.take_over()
        writer.finish()
    assert files(tmp_path) == whole_v3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "meta", "videos"]


def test_a_collection_goes_on_where_it_stopped(tmp_path: Path, whole: dict[str, bytes]) -> None:
    with begin(tmp_path) as writer:
        for episode in (0, 2):
            write_episode(writer.incoming(episode), episode, LENGTHS[episode], KEYFRAMES)
        writer.take_over()
        (writer.incoming(1).with_suffix(".part")).mkdir()  # a process that was killed
    assert [episode.index for episode in DataSet(tmp_path).episodes] == [0]
    assert DataSet(tmp_path).keyframes(0) == KEYFRAMES
    with begin(tmp_path) as writer:
        assert writer.missing(4) == [1, 3]
    assert files(write_data_set(tmp_path, LENGTHS, settings=SETTINGS)) == whole


@pytest.mark.parametrize("moved", ["videos", "data", "collected"])
def test_a_takeover_that_broke_off_is_done_again(tmp_path: Path, whole: dict[str, bytes], moved: str) -> None:
    with begin(tmp_path / "set") as writer:
        write_episode(writer.incoming(0), 0, LENGTHS[0], KEYFRAMES)
        kept = shutil.copytree(writer.incoming(0), tmp_path / "kept")
        writer.take_over()
    # As it was when it was killed: the incoming folder is still there, and of the data set only a part.
    shutil.copytree(kept, tmp_path / "set/.incoming/episode_000000")
    for view in DEFAULT_VIEWS:
        (tmp_path / f"set/.incoming/episode_000000/{view}.mp4").unlink()
    for name in ("meta/episodes.jsonl", "meta/keyframes.json", "meta/episodes_stats.jsonl", "meta/annotations.jsonl"):
        (tmp_path / "set" / name).write_text("{}" if name.endswith("keyframes.json") else "")
    if moved != "collected":
        (tmp_path / "set/meta/collected/episode_000000.json").unlink()
    if moved == "videos":
        (tmp_path / "set/data/chunk-000/episode_000000.parquet").unlink()
    assert files(write_data_set(tmp_path / "set", LENGTHS, settings=SETTINGS)) == whole


def test_what_people_corrected_stands(tmp_path: Path) -> None:
    write_data_set(tmp_path, LENGTHS[:2], settings=SETTINGS)
    keyframes = json.loads((tmp_path / "meta/keyframes.json").read_text())
    (tmp_path / "meta/keyframes.json").write_text(json.dumps({**keyframes, "0": [0, 7]}))
    by_hand = '{"episode": 0, "frame": 7, "stamp_ns": 0, "phase": 1, "label": "flash 1 on", "source": "person", '
    with (tmp_path / "meta/annotations.jsonl").open("a") as rows:
        rows.write(by_hand + '"author": "me", "score": 1.0}\n')
    data_set = DataSet(write_data_set(tmp_path, LENGTHS, settings=SETTINGS))
    assert [data_set.keyframes(episode) for episode in range(3)] == [(0, 7), KEYFRAMES, KEYFRAMES]
    rows = read_annotations(tmp_path / "meta/annotations.jsonl")
    assert [row.source for row in rows] == ["oracle"] * 10 + ["person"] + ["oracle"] * 5


def test_other_settings_are_refused(tmp_path: Path) -> None:
    write_data_set(tmp_path, LENGTHS[:1], settings=SETTINGS)
    before = files(tmp_path)
    with pytest.raises(DataSetError, match=r"was begun with image_size '32', not '64': go on as it was begun, or"):
        V2Writer(tmp_path, form(), {**SETTINGS, "image_size": 64})
    assert files(tmp_path) == before


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear all")
    with pytest.raises(DataSetError, match="holds something that was not recorded here"):
        begin(tmp_path)
    assert list(files(tmp_path)) == ["letter.txt"]


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with begin(tmp_path), pytest.raises(DataSetError, match="is being recorded by another process"):
        begin(tmp_path)
    begin(tmp_path).__exit__()


def test_a_full_disk_loses_nothing_complete(tmp_path: Path, whole: dict[str, bytes]) -> None:
    with begin(tmp_path) as writer:
        write_episode(writer.incoming(0), 0, LENGTHS[0], KEYFRAMES)
        writer.take_over()
        with full_disk(), pytest.raises(OSError, match="File too large"):
            write_episode(writer.incoming(1), 1, LENGTHS[1], KEYFRAMES)
        assert [path.name for path in (tmp_path / ".incoming").iterdir()] == []
        write_episode(writer.incoming(1), 1, LENGTHS[1], KEYFRAMES)
        with full_disk(), pytest.raises(OSError, match="File too large"):
            writer.take_over()
    assert [episode.index for episode in DataSet(tmp_path).episodes] == [0]
    assert files(write_data_set(tmp_path, LENGTHS, settings=SETTINGS)) == whole


def test_a_full_disk_loses_nothing_complete_of_version_3(tmp_path: Path, whole_v3: dict[str, bytes]) -> None:
    with begin(tmp_path, V3Writer) as writer:
        for episode in range(3):
            write_episode(writer.incoming(episode), episode, LENGTHS[episode], KEYFRAMES)
        with full_disk(), pytest.raises(OSError, match="File too large"):
            writer.take_over()
        writer.take_over()
        with full_disk(), pytest.raises(OSError, match="File too large"):
            writer.finish()
    assert files(write_data_set(tmp_path, LENGTHS, settings=SETTINGS, writer_of=V3Writer)) == whole_v3


def test_an_episode_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def record() -> None:
        with EpisodeWriter(tmp_path / "episode", form()) as writer:
            writer.add(numbers(0, 0), {view: picture(view, 0, 0) for view in DEFAULT_VIEWS})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record()
    assert list(tmp_path.iterdir()) == []


def test_bad_numbers_are_refused(tmp_path: Path) -> None:
    with EpisodeWriter(tmp_path / "episode", form()) as writer:
        pictures = {view: picture(view, 0, 0) for view in DEFAULT_VIEWS}
        with pytest.raises(ValueError, match="action: 7 finite numbers are wanted"):
            writer.add({**numbers(0, 0), "action": np.full(7, np.nan)}, pictures)
        with pytest.raises(ValueError, match=r"observation\.state: 8 finite numbers are wanted"):
            writer.add({**numbers(0, 0), "observation.state": np.zeros(7)}, pictures)
