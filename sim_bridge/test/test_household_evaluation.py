"""What `kc-vla eval household` measures: memories against none, on sequences of tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kc_vla.cli import main
from kc_vla_sim.household.evaluation import PLAYED, rows_of
from kc_vla_sim.household.evaluation_readings import by_readings, readings
from kc_vla_sim.household.growth_evaluation import PLAYED as GROWN
from kc_vla_sim.household.growth_evaluation import TABLE as GROWTH
from kc_vla_sim.household.growth_evaluation import WHOLE
from kc_vla_sim.household.tasks import BUILDING, HOME, sequence
from kc_vla_sim.household.trial import ALL, INSIDE, TaskRecord, TrialArm, play

RECORD = TaskRecord("a", "composite", 0, True, True, "", 2, 50.0, 9, 1, 2, False, True, 8, 100.0)
ONE = ["eval", "household", "--split", "development", "--kind", "composite", "--sequences", "1", "--processes", "1"]


def test_what_is_reduced_is_counted_over_tasks_that_both_did() -> None:
    records = [
        RECORD,
        replace(RECORD, sequence="b", number=1, explorations=0, known=True, alone_explorations=4),
        replace(RECORD, number=1, explorations=90, alone_reached=False),  # it looked for nothing
        replace(RECORD, number=2, explorations=90, reached=False),
        replace(RECORD, number=3, explorations=0, alone_explorations=0),
    ]
    (row,) = rows_of(TrialArm("both"), records)
    assert row.exploration.value == pytest.approx(1 - 2 / 12)
    assert row.exploration.of == 12
    assert row.exploration.low <= row.exploration.value <= row.exploration.high
    assert row.known.value == 1.0
    assert row.known.of == 4
    assert row.seconds.value == pytest.approx(0.5)
    assert row.success.value == pytest.approx(4 / 5)
    assert row.alone.value == pytest.approx(4 / 5)
    assert row.retrieval.value == pytest.approx(0.5)
    assert "83.3" in str(row.exploration)


def test_each_reading_of_reduced_exploration_counts_what_it_says() -> None:
    records = [
        RECORD,
        replace(RECORD, number=1, explorations=0, known=True, alone_explorations=4),
        replace(RECORD, number=2, explorations=6, reached=False, alone_explorations=3),
    ]
    every, failed, later, known = by_readings(records)
    assert (every.value, every.of) == (pytest.approx(1 - 2 / 12), 12)
    assert (failed.value, failed.of) == (pytest.approx(1 - 8 / 15), 15)
    assert (later.value, later.of) == (1.0, 4)
    assert (known.value, known.of) == (1.0, 4)
    (line,) = readings([(TrialArm("both"), records)]).splitlines()[2:]
    assert line.startswith("| both | composite | 83.3 ")


def test_nothing_is_no_figure() -> None:
    (row,) = rows_of(TrialArm("none"), [replace(RECORD, recalls=0, recalled=0, alone_explorations=0)])
    assert row.exploration.value is None
    assert str(row.retrieval) == "-"


def test_kinds_are_told_one_by_one_and_together() -> None:
    rows = rows_of(TrialArm("both"), [RECORD, replace(RECORD, kind="simple", reached=False)])
    assert [(row.kind, row.success.value) for row in rows] == [("simple", 0.0), ("composite", 1.0), ("all", 0.5)]


@pytest.mark.nightly
def test_a_memory_saves_looking_for_what_was_seen() -> None:
    played = play(sequence("composite-development-001"), TrialArm("both", shown=ALL))
    assert all(each.reached and each.believed for each in played)
    assert sum(each.explorations for each in played) == 0
    assert sum(each.alone_explorations for each in played) > 0
    assert sum(each.seconds for each in played) < sum(each.alone_seconds for each in played)


@pytest.mark.nightly
def test_who_has_looked_into_what_is_shut_need_not_look_for_what_is_in_it() -> None:
    lay_open, inside = (
        play(sequence("complex-development-006"), TrialArm("both", shown=shown)) for shown in (ALL, INSIDE)
    )
    assert all(each.reached for each in (*lay_open, *inside))
    assert sum(each.explorations for each in lay_open) > 0
    assert sum(each.explorations for each in inside) == 0


@pytest.mark.nightly
def test_a_robot_without_a_memory_is_compared_with_itself() -> None:
    played = play(sequence("composite-development-001"), TrialArm("none"))
    assert [each.explorations for each in played] == [each.alone_explorations for each in played]
    assert [each.reached for each in played] == [each.alone_reached for each in played]


@pytest.mark.nightly
def test_a_disturbed_sequence_says_what_somebody_did_and_is_the_same_each_time() -> None:
    played = play(sequence("composite-development-001"), TrialArm("both", disturbed=True))
    assert any("somebody" in each.disturbance for each in played)
    assert not played[0].disturbance
    assert play(sequence("composite-development-001"), TrialArm("both", disturbed=True)) == played


@pytest.mark.nightly
def test_an_evaluation_goes_on_where_it_was_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*ONE, "--memory", "both", "--memory", "none", "--output", str(tmp_path / "found")]
    assert main(words) == 0
    first = capsys.readouterr().out
    assert "| both | shown furniture | composite |" in first
    assert "| none | shown furniture | composite |" in first
    file = tmp_path / "found" / PLAYED
    whole = file.read_text()
    both, none = whole.splitlines()
    file.write_text(both + "\n" + none[: len(none) // 2])  # a crash
    assert main(words) == 0
    assert capsys.readouterr().out == first
    assert file.read_text().startswith(both + "\n" + none[: len(none) // 2] + "\n")
    assert json.loads((tmp_path / "found/results.json").read_text())[0]["arm"]["memory"] == "both"
    assert (tmp_path / "found/memories.png").stat().st_size > 1000


def test_a_folder_of_another_evaluation_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main([*ONE, "--memory", "none", "--output", str(tmp_path)]) == 1
    assert "choose another place" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.nightly  # homes of hundreds of things
def test_how_costs_grow_is_played_once_and_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WHOLE, HOME, (1, 2))  # type: ignore[misc]
    monkeypatch.setitem(WHOLE, BUILDING, (60,))  # type: ignore[misc]
    asked = ["eval", "household", "--growth", "-o", str(tmp_path / "grown")]
    assert main(asked) == 0
    file = tmp_path / "grown" / GROWN
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["kind"], row["size"], row["tasks"]) for row in rows] == [
        (HOME, 1, 1),
        (HOME, 2, 1),
        (BUILDING, 60, 10),
    ]
    assert all(row["ms"] > 0 and row["kept"] > 0 and row["known"] > 0 for row in rows)
    file.write_text("".join(line + "\n" for line in file.read_text().splitlines()[:2]) + '{"kind"')
    assert main(asked) == 0
    again = [json.loads(line) for line in file.read_text().splitlines()]
    assert again[:2] == rows[:2]
    assert again[2]["skills"] == rows[2]["skills"]
    assert (tmp_path / "grown" / GROWTH).read_text().count("\n") == 5
