"""The maps of pictures are kept between trainings, by content, and never without bound."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn_plans import BRIEF, CPU, episode, write_episodes

from kc_vla.learning.common.weights import first_trunk
from kc_vla.learning.policy.image_backbone import ImageBackbone
from kc_vla.learning.policy.map_cache import FOLDER, MapCache
from kc_vla.learning.policy.training import train_policy

VIEWS = ("third_person", "wrist")
NOWHERE = Path("none.npy")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path / "maps"))
    return tmp_path / "maps"


def stem(seed: int = 0) -> ImageBackbone:
    torch.manual_seed(seed)
    return ImageBackbone(first_trunk("scratch", []), 4)


def maps(value: float = 1.0) -> np.ndarray:
    return np.full((len(episode(0).frames), 2, 4, 4, 4), value, np.float16)


def taken(cache: MapCache, seed: int = 0, **changes: object) -> bool:
    """Whether the maps of an episode were there."""
    before = cache.computed
    assert cache.get(replace(episode(seed), **changes), NOWHERE, maps).shape == maps().shape
    return cache.computed == before


@pytest.mark.nightly  # what the maps are kept by is tried below, without a training
def test_a_second_training_computes_nothing_though_settings_place_and_names_are_others(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_episodes(tmp_path / "data/light", 4)
    first = train_policy(tmp_path / "first", [tmp_path / "data"], BRIEF, CPU)
    assert "0 episodes were there" in capsys.readouterr().out
    shutil.move(tmp_path / "data", tmp_path / "moved")
    other = replace(BRIEF, learning_rate=1e-4, steps=3)
    second = train_policy(tmp_path / "second", [tmp_path / "moved"], other, CPU)
    told = capsys.readouterr().out
    assert "4 episodes were there" in told
    assert f"in {folder}; 0 computed" in told
    assert not (second.folder / "maps").exists()
    shutil.rmtree(folder)
    third = train_policy(tmp_path / "third", [tmp_path / "moved"], other, CPU)
    weights = [run.need("policy", "")["average"] for run in (second, third)]
    for name, weight in weights[0].items():
        torch.testing.assert_close(weight, weights[1][name], rtol=0, atol=0)
    assert first.instructions == third.instructions


def test_other_pictures_sizes_views_and_stems_are_others_and_numbers_beside_them_are_not(folder: Path) -> None:
    cache = MapCache(stem(), VIEWS, 32)
    assert not taken(cache)
    assert taken(MapCache(stem(), VIEWS, 32))
    assert taken(cache, states=np.zeros_like(episode(0).states))
    changed = {view: shown.copy() for view, shown in episode(0).pictures.items()}
    changed["wrist"][-1, -1, -1] ^= 1
    assert not taken(cache, pictures=changed)
    assert not taken(cache, seed=1)
    for other in (MapCache(stem(1), VIEWS, 32), MapCache(stem(), VIEWS, 64), MapCache(stem(), VIEWS[::-1], 32)):
        assert not taken(other)


@pytest.mark.parametrize(
    "damage",
    [lambda whole: b"", lambda whole: whole[:-7], lambda whole: b"\x00" + whole[1:], lambda whole: whole[:60]],
)
def test_a_damaged_file_is_computed_anew(folder: Path, damage) -> None:
    assert not taken(MapCache(stem(), VIEWS, 32))
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert not taken(MapCache(stem(), VIEWS, 32))
    assert taken(MapCache(stem(), VIEWS, 32))


def test_what_was_used_longest_ago_makes_room(folder: Path) -> None:
    size = maps().nbytes + 128
    cache = MapCache(stem(), VIEWS, 32, most=4 * size)
    for seed in range(4):
        assert not taken(cache, seed)
    for age, file in enumerate(sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime_ns)):
        os.utime(file, (1000 + age, 1000 + age))
    assert taken(cache, 0)  # it is the newest now
    assert not taken(cache, 4)
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 4 * size
    again = MapCache(stem(), VIEWS, 32)
    assert taken(again, 0)
    assert taken(again, 4)
    assert not taken(again, 1)


def test_where_nothing_can_be_written_the_training_goes_on_and_says_so_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.write_text("in the way")
    cache = MapCache(stem(), VIEWS, 32)
    assert not taken(cache, 0)
    assert not taken(cache, 1)
    told = capsys.readouterr().out
    assert told.count("Maps of pictures are not kept") == 1
    assert "KC_VLA_MAPS names another folder" in told


def test_a_file_of_an_earlier_version_is_taken(folder: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "old.npy", maps(3.0))
    cache = MapCache(stem(), VIEWS, 32)
    assert cache.get(episode(0), tmp_path / "old.npy", maps)[0, 0, 0, 0, 0] == 3.0
    assert (cache.found, cache.computed) == (1, 0)
