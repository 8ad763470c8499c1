"""Episodes with plans: what was written is read, and what is damaged or another's is told in one line."""

from pathlib import Path

import numpy as np
import pytest

from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.planned import PlannedEpisode, read_folder, read_planned, writing

SETTINGS = {"task": "counting", "split": "train"}


def episode(kept: int = 3, keyframes: tuple[int, ...] = (0,)) -> PlannedEpisode:
    chance = np.random.default_rng(0)
    return PlannedEpisode(
        about={
            "task": "counting",
            "instruction": "Push.",
            "seed": 3,
            "variant": "standard",
            "looks": "standard",
            "attempt": 0,
            "driver": "expert",
            "success": True,
        },
        frames=np.arange(kept) * 4,
        states=chance.random((kept, 8), np.float32),
        plans=chance.random((kept, 16, 7), np.float32),
        phases=np.array(["wait", "approach", "push"][:kept]),
        places=chance.random((kept, 8), np.float32),
        ahead=np.arange(kept),
        keyframes=np.array(keyframes, np.int64),
        pictures={"third_person": chance.integers(0, 255, (kept, 8, 8, 3), np.uint8)},
    )


def test_what_was_written_is_read(tmp_path: Path) -> None:
    written = episode()
    written.write(tmp_path / "e.npz")
    read = read_planned(tmp_path / "e.npz")
    assert read.about == written.about
    for name in ("frames", "states", "plans", "phases", "places", "ahead", "keyframes"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))
    np.testing.assert_array_equal(read.pictures["third_person"], written.pictures["third_person"])


@pytest.mark.parametrize("keep", [0, 10, 300, -1])
def test_a_file_that_was_cut_off_is_told(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "e.npz"
    episode().write(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataSetError, match=r"e\.npz cannot be read .*collect again"):
        read_planned(path)


def test_a_keyframe_without_its_picture_is_no_memory(tmp_path: Path) -> None:
    episode(keyframes=(0, 2)).write(tmp_path / "e.npz")
    with pytest.raises(DataSetError, match="no episode with plans"):
        read_planned(tmp_path / "e.npz")


def test_a_folder_that_was_begun_is_gone_on_with(tmp_path: Path) -> None:
    with writing(tmp_path / "set", SETTINGS) as folder:
        assert folder.missing(range(3)) == [0, 1, 2]
        episode().write(folder.file(1))
    with writing(tmp_path / "set", SETTINGS) as folder:
        assert folder.missing(range(3)) == [0, 2]
    assert [path.name for path in read_folder(tmp_path / "set").files()] == ["episode_000001.npz"]


def test_a_folder_of_another_kind_or_in_use_is_refused(tmp_path: Path) -> None:
    with (
        writing(tmp_path / "set", SETTINGS),
        pytest.raises(DataSetError, match="another process"),
        writing(tmp_path / "set", SETTINGS),
    ):
        pass
    with pytest.raises(DataSetError, match="no episode yet"):
        read_folder(tmp_path / "set")
    with writing(tmp_path / "set", SETTINGS) as folder:
        folder.file(0).touch()
    with (
        pytest.raises(DataSetError, match="begun with split 'train', not 'test'"),
        writing(tmp_path / "set", {**SETTINGS, "split": "test"}),
    ):
        pass
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").touch()
    with pytest.raises(DataSetError, match="choose another place"), writing(tmp_path / "mine", SETTINGS):
        pass
