"""Choices that depend on a keyframe: the memory with keyframes names the right cube, the one without does not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kc_vla.cli import main
from kc_vla_sim.evaluate.episodic import EPISODES, EpisodicOutcome, table


@pytest.mark.nightly
def test_a_memory_with_keyframes_knows_which_cube_was_in_the_middle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "episodic", "--episodes", "1", "-o", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "| `identity` | 1 | 100.0" in told
    assert "| `spatial` | 1 | 100.0" in told
    played = [json.loads(line) for line in (tmp_path / EPISODES).read_text().splitlines()]
    assert [(each["task"], each["keyframes"], each["blind_known"]) for each in played] == [
        ("identity", 3, False),
        ("spatial", 4, False),
    ]
    assert main(["eval", "episodic", "--episodes", "1", "-o", str(tmp_path)]) == 0  # nothing is played again
    assert len((tmp_path / EPISODES).read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--tasks", "counting"], "no episodes for the task 'counting': choose of identity, spatial"),
        (["--episodes", "0"], "--episodes 0: 1 is the least"),
    ],
)
def test_what_cannot_be_measured_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert main(["eval", "episodic", *words, "-o", str(tmp_path / "runs")]) == 1
    assert told in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_table_has_a_line_for_each_task_with_intervals() -> None:
    def outcome(task: str, right: bool) -> EpisodicOutcome:
        return EpisodicOutcome(task, 1, right, False, False, False, 3, "It was the cube.", 1.0)

    lines = table([outcome("identity", True), outcome("spatial", False), outcome("spatial", True)]).splitlines()
    assert len(lines) == 4
    assert lines[2].startswith("| `identity` | 1 | 100.0 (20.7 to 100.0) | 0.0 (0.0 to 79.3)")
    assert lines[3].startswith("| `spatial` | 2 | 50.0")
