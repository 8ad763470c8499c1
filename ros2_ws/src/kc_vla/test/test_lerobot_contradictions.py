"""Data sets that contradict themselves: the rows, images and tasks that LeRobot would show are read, and it is said."""

import json
import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from odd_data_sets import CAMERA, FPS, TEXTS, gray, write_odd_set

from kc_vla.cli import main
from kc_vla.datasets.exchange.rows import read_rows
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.datasets.lerobot.source import Source, open_source
from kc_vla.episodes.episode import RecordedEpisode

VERSIONS = ("v2.1", "v3.0")


def states(source: Source, index: int) -> list[int]:
    """Which row each frame of an episode has."""
    values = source.columns(source.episodes[index])["observation.state"]
    assert set(np.floor(values[:, 0] + 1e-9).astype(int)) == {index}
    return [int(row) for row in values[:, 1]]


def shown(source: Source, index: int) -> list[int]:
    """Which image each frame of an episode has."""
    return [gray(pixels) for pixels in source.frames(source.episodes[index], CAMERA)]


def said(source: Source) -> list[str]:
    for episode in source.episodes:
        source.examine(episode, importing=True)
    return source.findings.lines()


@pytest.mark.parametrize("version", VERSIONS)
def test_what_agrees_is_read_without_a_word(tmp_path: Path, version: str) -> None:
    source = open_source(write_odd_set(tmp_path / "set", version))
    assert [states(source, k) for k in (0, 1)] == [list(range(6)), list(range(5))]
    first = 6 if version == "v3.0" else 0
    assert [shown(source, k) for k in (0, 1)] == [list(range(6)), list(range(first, first + 5))]
    assert said(source) == []


@tried(6, 60)
@given(st.sampled_from(VERSIONS), st.permutations(range(6)), st.integers(0, 40))
def test_rows_follow_frame_index(tmp_path_factory: Any, version: str, order: list[int], begin: int) -> None:
    """In whatever order they stand in the file, and whatever number the first one has."""
    columns = {"frame_index": range(begin, begin + 6)}
    folder = write_odd_set(tmp_path_factory.mktemp("odd") / "set", version, (6, 5), columns=columns, order=order)
    source = open_source(folder)
    assert [states(source, k) for k in (0, 1)] == [list(range(6)), list(range(5))]
    told = [line for line in said(source) if "not in the order of frame_index" in line]
    assert len(told) == (order != sorted(order) or [k for k in order if k < 5] != list(range(5)))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([0, 1, 2, 2, 3, 4], "column frame_index: 2 is there twice"),
        ([0, 1, 2, 4, 5, 6], "column frame_index: 3 is missing"),
        ([0, 1, 2, 9, 10, 11], "column frame_index: 3 to 8 are missing"),
        ([0.0, 1.0, 1.5, 2.0, 3.0, 4.0], "column frame_index: it must have a whole number in each row"),
        ([0, 1, None, 3, 4, 5], "column frame_index: it must have a whole number in each row"),
        ([0, 0, 0, 0, 0, 0], "column frame_index: 0 is there twice"),
    ],
)
def test_rows_that_frame_index_does_not_number_are_refused(
    tmp_path: Path, capsys: Any, version: str, numbers: list[Any], told: str
) -> None:
    folder = write_odd_set(tmp_path / "set", version, columns={"frame_index": numbers})
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out"]) == 1
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("stamps", "told"),
    [
        ([0.1 * k for k in range(6)], "timestamp says 10 frames a second, meta/info.json says 20"),
        ([0.0, 0.05, 0.1, 0.3, 0.35, 0.4], "timestamp is irregular"),
        ([0.0, math.nan, 0.1, 0.15, 0.2, 0.25], "timestamp is not a number in some rows"),
        ([50_000_000 * k for k in range(6)], "timestamp is not in seconds, or does not ascend"),
        ([0, 0, 0, 0, 0, 0], "timestamp is not in seconds, or does not ascend"),
        ([0.05 * k for k in range(5, -1, -1)], "timestamp is not in seconds, or does not ascend"),
        ([3.0 + 0.05 * k for k in range(6)], "timestamp does not begin at 0 s"),
        ([k for k in range(6)], "timestamp says 1 frames a second"),
    ],
)
def test_time_stamps_that_contradict_the_rate_are_told(
    tmp_path: Path, version: str, stamps: list[float], told: str
) -> None:
    source = open_source(write_odd_set(tmp_path / "set", version, columns={"timestamp": stamps}))
    (line,) = said(source)
    assert told in line
    assert line.startswith(f"{tmp_path / 'set'}, episodes 0, 1: ")


def test_the_rate_of_the_time_stamps_is_offered_and_taken(tmp_path: Path, capsys: Any) -> None:
    folder = write_odd_set(tmp_path / "set", columns={"timestamp": [0.1 * k for k in range(6)]})
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out"]) == 0
    assert "--rate 10 takes the other" in capsys.readouterr().out
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/again", "--rate=10"]) == 0
    assert "timestamp" not in capsys.readouterr().out
    bag = RecordedEpisode(tmp_path / "again/set-000000/bag")
    assert {int(step) for step in np.diff([frame.stamp_ns for frame in bag.frames])} == {100_000_000}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("indices", "told"),
    [
        ([0, 0, 0, 1, 1, 1], f"frames from 0 '{TEXTS[0]}', from 3 '{TEXTS[1]}'"),
        ([0, 1, 0, 2, 2, 0], f"from 1 '{TEXTS[1]}', from 2 '{TEXTS[0]}', from 3 '{TEXTS[2]}', from 5 '{TEXTS[0]}'"),
        ([1, 1, 1, 1, 1, 1], "its rows have another task than meta/episodes says"),
        ([0, 0, 0, 9, 9, 9], ""),
    ],
)
def test_tasks_that_change_within_an_episode_are_told(
    tmp_path: Path, version: str, indices: list[int], told: str
) -> None:
    source = open_source(write_odd_set(tmp_path / "set", version, columns={"task_index": indices}))
    lines = said(source)
    assert [told in line for line in lines] == ([True] if told else [])
    assert source.instruction(source.episodes[0]) == TEXTS[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_numbers_that_are_missing_where_nobody_looks_harm_nobody(tmp_path: Path, capsys: Any, version: str) -> None:
    spoilt = {
        "next.reward": [math.nan] * 6,
        "observation.tactile": [[1.0], [], [1.0, 2.0], [3.0], [4.0], [math.inf]],
        "observation.force": [None, *([[1.0]] * 5)],
    }
    folder = write_odd_set(tmp_path / "set", version, columns=spoilt)
    info = json.loads((folder / "meta/info.json").read_text())
    info["features"] |= {key: {"dtype": "float32", "shape": [1], "names": None} for key in spoilt}
    (folder / "meta/info.json").write_text(json.dumps(info))
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out"]) == 0
    assert len(read_rows(tmp_path / "out/set-000001/bag")) == 5
    columns = DataSet(folder, unmarked=True).columns(0)
    assert columns["action"].shape == (6, 2)
    for key in spoilt:
        with pytest.raises(DataSetError, match=f"column {key}"):
            columns[key]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_number_that_is_missing_in_a_state_is_told_with_its_frame(tmp_path: Path, capsys: Any, version: str) -> None:
    rows = [[0.1, 0.2], [0.1, 0.2], [math.nan, 0.2], [0.1, 0.2], [0.1, 0.2], [0.1, 0.2]]
    folder = write_odd_set(tmp_path / "set", version, columns={"observation.state": rows})
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out"]) == 1
    assert "column observation.state, frame 2: a number is missing or not finite" in capsys.readouterr().err


@pytest.mark.parametrize("more", [1, 2, 7])
def test_a_video_may_have_more_images_than_rows(tmp_path: Path, more: int) -> None:
    source = open_source(write_odd_set(tmp_path / "set", images=(6 + more, 5 + more)))
    assert [shown(source, k) for k in (0, 1)] == [list(range(6)), list(range(5))]
    (line,) = said(source)
    assert "a video has more images than the episode has rows: those at the times of the rows are taken" in line
    assert f"{CAMERA}: {6 + more} images, 6 rows" in line


def test_of_more_images_those_at_the_times_of_the_rows_are_taken(tmp_path: Path) -> None:
    columns = {"timestamp": [0.15 + 0.05 * k for k in range(6)]}  # the first three rows were taken out of the table
    source = open_source(write_odd_set(tmp_path / "set", lengths=(6,), images=(9,), columns=columns))
    assert shown(source, 0) == list(range(3, 9))
    columns = {"timestamp": [0.1 * k for k in range(6)]}  # every other row
    source = open_source(write_odd_set(tmp_path / "other", lengths=(6,), images=(12,), columns=columns))
    assert shown(source, 0) == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("fewer", [1, 3])
def test_a_video_with_fewer_images_than_rows_is_refused(tmp_path: Path, fewer: int) -> None:
    source = open_source(write_odd_set(tmp_path / "set", images=(6 - fewer, 5)))
    with pytest.raises(DataSetError, match=rf"frame {6 - fewer}: the video .* ends here, the episode has 6 frames"):
        shown(source, 0)


@tried(6, 60)
@given(st.floats(-0.04, 0.09), st.lists(st.integers(3, 6), min_size=2, max_size=4))
def test_a_drift_of_from_timestamp_shifts_no_image(tmp_path_factory: Any, drift: float, lengths: list[int]) -> None:
    """Where a video has an image for each row, the lengths of the episodes say which is whose."""
    folder = write_odd_set(tmp_path_factory.mktemp("odd") / "set", "v3.0", lengths, drift_s=drift)
    source = open_source(folder)
    first = 0
    for index, length in enumerate(lengths):
        assert shown(source, index) == list(range(first, first + length))
        first += length
    told = [line for line in said(source) if "from_timestamp contradicts the lengths" in line]
    assert len(told) == (abs(drift) * (len(lengths) - 1) > 0.25 / FPS + 1e-9)


def test_times_that_mean_nothing_tell_no_order_of_episodes(tmp_path: Path) -> None:
    source = open_source(write_odd_set(tmp_path / "set", "v3.0", (6, 5, 4), drift_s=-5.0))
    assert [shown(source, k) for k in range(3)] == [list(range(6)), list(range(6, 11)), list(range(11, 15))]
    assert len(said(source)) == 1


def test_episodes_may_stand_in_any_order_in_a_video(tmp_path: Path) -> None:
    folder = write_odd_set(tmp_path / "set", "v3.0", (6, 5))
    path = folder / "meta/episodes/chunk-000/file-000.parquet"
    rows = pq.read_table(path).to_pylist()
    for row, begin in zip(rows, (5 / FPS, 0.0), strict=True):
        row[f"videos/{CAMERA}/from_timestamp"] = begin
    pq.write_table(pa.Table.from_pylist(rows), path)
    source = open_source(folder)
    assert [shown(source, k) for k in (0, 1)] == [list(range(5, 11)), list(range(5))]
    assert said(source) == []


def test_a_column_that_is_there_twice_is_told(tmp_path: Path) -> None:
    path = write_odd_set(tmp_path / "set") / "data/chunk-000/episode_000000.parquet"
    table = pq.read_table(path)
    doubled = pa.Table.from_arrays([*table.columns, table["action"]], names=[*table.column_names, "action"])
    pq.write_table(doubled, path)
    source = open_source(tmp_path / "set")
    assert len(source.columns(source.episodes[0], ["observation.state"])["observation.state"]) == 6
    with pytest.raises(DataSetError, match="has the column action more than once: leave one out"):
        source.columns(source.episodes[0], ["action"])


def test_from_timestamp_holds_where_a_video_has_images_of_no_episode(tmp_path: Path) -> None:
    source = open_source(write_odd_set(tmp_path / "set", "v3.0", (6, 5), images=(8, 6)))
    assert [shown(source, k) for k in (0, 1)] == [list(range(6)), list(range(8, 13))]
    source = open_source(write_odd_set(tmp_path / "drift", "v3.0", (6, 5), images=(8, 6), drift_s=0.02))
    with pytest.raises(DataSetError, match=r"between two images .* correct from_timestamp"):
        shown(source, 1)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("names", [("j1", "j1"), ("j1", ""), (" ", " ")])
def test_a_name_that_is_there_twice_names_no_joint(
    tmp_path: Path, capsys: Any, version: str, names: tuple[str, str]
) -> None:
    folder = write_odd_set(tmp_path / "set", version, names=names)
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out"]) == 0
    assert "observation.state has the name" in capsys.readouterr().out
    named = [column.names for column in read_rows(tmp_path / "out/set-000000/bag").columns]
    assert ("joint_0", "joint_1") in named


def test_doubled_names_of_an_action_are_not_guessed(tmp_path: Path, capsys: Any) -> None:
    folder = write_odd_set(tmp_path / "set", names=("j1", "j2"), action_names=("j1", "j1"))
    assert main(["bag", "import", str(folder), f"--output={tmp_path}/out"]) == 0
    assert "its actions (2 numbers without names) are neither tool deltas nor positions" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["path", "text", "elsewhere", "episode"])
def test_images_by_path_are_read_where_they_lie(tmp_path: Path, form: str) -> None:
    folder = by_path(tmp_path / "set", form)
    source = open_source(folder)
    assert shown(source, 0) == list(range(6))


@pytest.mark.parametrize("path", ["images/gone.png", "/etc/hostname", "../secret.png", "images/link.png"])
def test_images_by_path_that_are_not_in_the_data_set_are_told(tmp_path: Path, path: str) -> None:
    folder = by_path(tmp_path / "set", "path", first=path)
    cv2.imwrite(str(tmp_path / "secret.png"), np.zeros((4, 4, 3), np.uint8))
    (folder / "images/link.png").symlink_to(tmp_path / "secret.png")
    source = open_source(folder)
    with pytest.raises(DataSetError, match=r"frame 0: (the table names its image by the path|its image .* cannot be)"):
        shown(source, 0)


@pytest.mark.parametrize("form", ["table", "path", "feature"])
def test_depth_is_no_color_image(tmp_path: Path, capsys: Any, form: str) -> None:
    folder = write_odd_set(tmp_path / "set", lengths=(6,))
    done, png = cv2.imencode(".png", np.full((16, 16), 1500, np.uint16))
    assert done
    (folder / "images").mkdir()
    (folder / "images/deep.png").write_bytes(png.tobytes())
    cell = {"bytes": png.tobytes(), "path": None} if form == "table" else {"bytes": None, "path": "images/deep.png"}
    path = folder / "data/chunk-000/episode_000000.parquet"
    deep = "observation.images.deep"
    pq.write_table(pq.read_table(path).append_column(deep, pa.array([cell] * 6)), path)
    info = json.loads((folder / "meta/info.json").read_text())
    told = {"video.is_depth_map": True} if form == "feature" else {}
    info["features"][deep] = {"dtype": "image", "shape": [16, 16, 1], "names": None, "info": told}
    (folder / "meta/info.json").write_text(json.dumps(info))
    words = ["bag", "import", str(folder), f"--output={tmp_path}/out"]
    assert main(words) == 0
    assert f"{CAMERA} as third_person; not imported: {deep} (depth)" in capsys.readouterr().out
    assert main([*words, f"--wrist={deep}", f"--third-person={CAMERA}"]) == 1
    assert f"camera '{deep}' for wrist measures depth" in capsys.readouterr().err
    source = open_source(folder)
    with pytest.raises(DataSetError, match=r"frame 0: its image in .* has one channel of 16 bits: depth"):
        list(source.frames(source.episodes[0], deep))


def by_path(folder: Path, form: str, first: str = "") -> Path:
    """A set whose images are files beside the table, which names them in one of some forms."""
    write_odd_set(folder, lengths=(6,))
    info = (folder / "meta/info.json").read_text().replace('"video"', '"image"')
    (folder / "meta/info.json").write_text(info)
    names = [f"images/{CAMERA}/episode_000000/frame_{k:06d}.png" for k in range(6)]
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / name), np.full((16, 16, 3), 4 * number, np.uint8))
    if form == "elsewhere":
        names = [f"/home/somebody/data/{name}" for name in names]
    if form == "episode":
        names = [name.removeprefix("images/") for name in names]
    names[0] = first or names[0]
    cells: list[Any] = names if form == "text" else [{"bytes": None, "path": name} for name in names]
    path = folder / "data/chunk-000/episode_000000.parquet"
    pq.write_table(pq.read_table(path).append_column(CAMERA, pa.array(cells)), path)
    return folder


@pytest.mark.parametrize("times", [(0, 1, 3, 4, 5, 6), (0, 2, 4, 6, 8, 10)])
def test_images_at_other_times_than_the_rows_are_told(tmp_path: Path, times: tuple[int, ...]) -> None:
    """One was lost on the way, or the video has another rate: as many as there are rows, and not at their times."""
    source = open_source(write_odd_set(tmp_path / "set", "v2.1", (6,), times=times))
    assert shown(source, 0) == list(range(6))
    (line,) = said(source)
    assert "at other times than the rows of the episode" in line
    at_their_times = {"timestamp": np.array(times) / FPS}
    source = open_source(write_odd_set(tmp_path / "same", "v2.1", (6,), times=times, columns=at_their_times))
    assert not any("other times" in each for each in said(source))


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        ({"motors": ["a", "b"]}, ("a", "b")),
        ({"arm": ["a"], "hand": ["b"]}, ("a", "b")),
        ({"b": 1, "a": 0}, ("a", "b")),
        ({"arm": {"a": 0}, "hand": ["b"]}, ("a", "b")),
        ([["a", "b"]], ("a", "b")),
        ({"a": 1, "b": 2}, None),
        ({"a": 0, "b": 0}, None),
        ({"a": True, "b": False}, None),
        (None, None),
        ([], ()),
        ({}, None),
    ],
)
def test_names_are_read_in_all_forms(tmp_path: Path, names: Any, meant: tuple[str, ...] | None) -> None:
    folder = write_odd_set(tmp_path / "set")
    rename(folder, "observation.state", names)
    assert (open_source(folder).names("observation.state") or None) == (meant or None)


def rename(folder: Path, key: str, names: Any) -> None:
    info = json.loads((folder / "meta/info.json").read_text())
    info["features"][key]["names"] = names
    (folder / "meta/info.json").write_text(json.dumps(info))


def test_tool_deltas_are_no_positions_of_joints(tmp_path: Path, capsys: Any) -> None:
    """Whose names are places by name, as LeRobot's gamepad writes them, or which have no names at all."""
    folder = write_odd_set(tmp_path / "set")
    rename(folder, "action", {"delta_y": 1, "delta_x": 0})
    assert main(["bag", "import", str(folder), "--output", str(tmp_path / "bags")]) == 0
    assert "its actions (delta_x, delta_y) are neither tool deltas nor positions" in capsys.readouterr().out
    assert RecordedEpisode(tmp_path / "bags/set-000000/bag").commands == ()
    rename(folder, "action", None)
    assert main(["bag", "import", str(folder), "--output", str(tmp_path / "unnamed")]) == 0
    assert capsys.readouterr().out.count("does not name the numbers of its actions: they are taken for positions") == 1


@pytest.mark.parametrize("form", ["texts", "nested", "absent"])
def test_a_column_without_numbers_is_told(tmp_path: Path, capsys: Any, form: str) -> None:
    folder = write_odd_set(tmp_path / "set")
    for path in folder.glob("data/*/*.parquet"):
        table = pq.read_table(path)
        rows = table["observation.state"].to_pylist()
        table = table.drop_columns(["observation.state"])
        if form != "absent":
            cells = [[str(each) for each in row] if form == "texts" else [row] for row in rows]
            table = table.append_column("observation.state", pa.array(cells))
        pq.write_table(table, path)
    assert main(["bag", "import", str(folder), "--output", str(tmp_path / "bags")]) == 0
    told = capsys.readouterr().out
    assert told.count("names observation.state, and the table has no numbers of it: it is not imported") == 1


@pytest.mark.parametrize("degrees", [[], ["--degrees"]])
def test_a_gripper_in_percent_is_told(tmp_path: Path, capsys: Any, degrees: list[str]) -> None:
    columns = {"observation.state": [[0.1, 10.0 * k] for k in range(6)]}
    folder = write_odd_set(tmp_path / "set", columns=columns, names=("pan.pos", "gripper.pos"))
    assert main(["bag", "import", str(folder), "--output", str(tmp_path / "bags"), *degrees]) == 0
    assert capsys.readouterr().out.count("gripper.pos is taken for meters, and goes too far for that") == 1
