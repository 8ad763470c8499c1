"""Folders that a long work fills: gone on with as they were begun, and begun anew while nothing is in them."""

from pathlib import Path

import pytest

from kc_vla.core.begun import BegunError, begun

SETTINGS = {"model": "policy", "execution": {"execute_steps": 5, "latency_steps": 0}}
OTHERS = {"model": "policy", "execution": {"execute_steps": 5, "latency_steps": 4}}


def begin(folder: Path, settings: dict[str, object]) -> dict[str, object]:
    with begun(folder, "settings.json", settings, "kc-vla test") as known:
        return dict(known)


def test_what_was_begun_in_one_way_does_not_go_on_in_another(tmp_path: Path) -> None:
    assert begin(tmp_path, SETTINGS) == SETTINGS
    (tmp_path / "episode").touch()
    assert begin(tmp_path, SETTINGS) == SETTINGS
    with pytest.raises(BegunError, match=r"was begun with execution.latency_steps '0', not '4': go on as it was begun"):
        begin(tmp_path, OTHERS)
    assert begin(tmp_path, SETTINGS) == SETTINGS


def test_what_was_asked_for_once_is_asked_for_again(tmp_path: Path) -> None:
    """Else episodes of other seeds, or of another driver, would come in between."""
    begin(tmp_path / "one", {**SETTINGS, "skip": 100})
    (tmp_path / "one/episode").touch()
    with pytest.raises(BegunError, match="was begun with skip '100', none is asked for now: go on as it was begun"):
        begin(tmp_path / "one", SETTINGS)
    begin(tmp_path / "other", SETTINGS)
    (tmp_path / "other/episode").touch()
    with pytest.raises(BegunError, match="was begun without skip, not '100'"):
        begin(tmp_path / "other", {**SETTINGS, "skip": 100})


def test_a_folder_from_before_models_were_noted_goes_on(tmp_path: Path) -> None:
    begin(tmp_path, SETTINGS)
    (tmp_path / "episode").touch()
    begin(tmp_path, {**SETTINGS, "files": {"policy": "0123"}})


@pytest.mark.parametrize("damage", ["", "{", "[]\n" * 100])
def test_where_nothing_has_come_of_it_another_way_is_as_good(tmp_path: Path, damage: str) -> None:
    begin(tmp_path, SETTINGS)
    (tmp_path / "films").mkdir()
    if damage:
        (tmp_path / "settings.json").write_text(damage)
    assert begin(tmp_path, OTHERS) == OTHERS
    (tmp_path / "films/one").touch()
    assert begin(tmp_path, OTHERS) == OTHERS
    with pytest.raises(BegunError, match="was begun with"):
        begin(tmp_path, SETTINGS)


def test_somebody_elses_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter").touch()
    with pytest.raises(BegunError, match="holds something that kc-vla test has not made"):
        begin(tmp_path, SETTINGS)
    assert [each.name for each in tmp_path.iterdir()] == ["letter"]
    with pytest.raises(BegunError, match="letter is a file: name a folder"):
        begin(tmp_path / "letter", SETTINGS)


def test_damaged_settings_of_what_is_there_are_told(tmp_path: Path) -> None:
    begin(tmp_path, SETTINGS)
    (tmp_path / "episode").touch()
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(BegunError, match=r"settings.json is damaged"):
        begin(tmp_path, SETTINGS)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        begun(tmp_path, "settings.json", SETTINGS, "kc-vla test"),
        pytest.raises(BegunError, match="being written by another process"),
    ):
        begin(tmp_path, OTHERS)
    assert begin(tmp_path, SETTINGS) == SETTINGS
