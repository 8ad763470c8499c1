"""The table of a run, in its file and in words, and the folder that it goes into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kc_vla.reports.run_table import OutputFolderError, RunTable, require_writable


def line(number: int, task: str = "counting", success: bool = True, **more: Any) -> dict[str, Any]:
    return {"episode": f"{task}-{number}", "task": task, "success": success, **more}


def filled(folder: Path, *lines: dict[str, Any]) -> RunTable:
    table = RunTable(folder)
    for episode in lines:
        table.add(episode)
    return table


def test_a_run_without_episodes_says_nothing(tmp_path: Path) -> None:
    assert RunTable(tmp_path).lines() == []


@pytest.mark.parametrize("success", [True, False])
def test_one_episode_needs_no_file(tmp_path: Path, success: bool) -> None:
    table = filled(tmp_path, line(1, success=success))
    assert table.lines() == [f"{int(success)} of 1 episodes succeeded"]
    assert table.all_succeeded is success
    assert list(tmp_path.iterdir()) == []


def test_the_file_holds_all_episodes_so_far(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    found = {"keyframes_wanted": 4, "keyframes_right": 3}
    lines = [line(1, keyframes_equal=True, **found), line(2, success=False, keyframes_equal=None, **found), line(3)]
    table = filled(folder, *lines[:2])
    assert json.loads((folder / "run-counting-1.json").read_text())["table"] == lines[:2]
    table.add(lines[2])
    assert json.loads((folder / "run-counting-1.json").read_text()) == {
        "planned": 3,
        "episodes": 3,
        "succeeded": 2,
        "keyframes_equal_oracle": 1,
        "keyframes_right": 6,
        "keyframes_wanted": 8,
        "table": lines,
    }
    told = "2 of 3 episodes succeeded, 6 of 8 keyframes within 10 frames of the oracle's"
    assert table.lines() == [told, f"table: {folder / 'run-counting-1.json'}"]
    assert not table.all_succeeded


def test_what_was_planned_and_why_it_ended_is_in_the_file(tmp_path: Path) -> None:
    table = RunTable(tmp_path, planned=4)
    table.add(line(1))
    table.stop("the simulator does not answer")
    told = json.loads((tmp_path / "run-counting-1.json").read_text())
    assert (told["planned"], told["episodes"], told["stopped"]) == (4, 1, "the simulator does not answer")


def test_several_tasks_are_told_one_by_one(tmp_path: Path) -> None:
    table = filled(tmp_path, line(1), line(2), line(1, "spatial", success=False))
    assert table.lines()[:3] == [
        "counting: 2 of 2 episodes succeeded",
        "spatial: 0 of 1 episodes succeeded",
        "2 of 3 episodes succeeded",
    ]


def test_episodes_count_though_the_file_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "a_file"
    file.write_text("in the way")
    table = filled(file / "runs", line(1))
    with pytest.raises(OSError, match="Not a directory"):
        table.add(line(2))
    assert table.lines() == ["2 of 2 episodes succeeded"]


def test_a_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    require_writable(tmp_path / "new" / "runs")
    assert list((tmp_path / "new" / "runs").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a_file"
    file.write_text("in the way")
    told = f"cannot write into '{file / 'runs'}': Not a directory; choose another output folder"
    with pytest.raises(OutputFolderError) as refused:
        require_writable(file / "runs")
    assert str(refused.value) == told
