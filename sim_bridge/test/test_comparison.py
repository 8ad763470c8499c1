"""Tables 1 and 3 from the command line: one network, other memories; what is there is not made again."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from drawn_plans import write_episodes

from kc_vla.cli import main
from kc_vla.learning.policy.config import as_dict, load_policy_config
from kc_vla_sim.evaluate.agent import Execution
from kc_vla_sim.evaluate.comparison_results import RegimeRow, write_comparison
from kc_vla_sim.evaluate.player import EpisodeOutcome
from kc_vla_sim.evaluate.regimes import TABLES
from kc_vla_sim.evaluate.results import summary

SMALL = ["image_size=32", "init=scratch", "channels=8", "slots=3", "steps=4", "every=4", "batch=8"]


def outcome(task: str, seed: int, success: bool) -> EpisodeOutcome:
    return EpisodeOutcome(
        task, seed, success, "" if success else "time limit", 1, 100, (0,), (0,), {}, 0.1, 0.1, 0.01, 1.0
    )


def test_a_table_says_of_each_row_what_it_is_made_of(tmp_path: Path) -> None:
    chosen = {regime.name: regime for regime in TABLES["table1"]}
    played = {
        "selector": [outcome(task, seed, seed != 3) for task in ("counting", "spatial") for seed in range(10)],
        "none": [outcome(task, seed, seed < 2) for task in ("counting", "spatial") for seed in range(4)],
    }
    rows = [RegimeRow(chosen[name], 300, outcomes) for name, outcomes in played.items()]
    text = write_comparison(tmp_path, "table1", rows, {"data": ["plans"], "split": "test"})
    assert text == (tmp_path / "table1.md").read_text()
    ours, none = text.splitlines()[2:]
    assert ours == (
        "| keyframes of the learned selector | 10 | 90 (60 to 98) [100] | 90 (60 to 98) [70] | 90 (70 to 97) [85] |"
    )
    assert none.startswith("| no history | 4 | 50 (15 to 85) [16] |")
    found = json.loads((tmp_path / "table1.json").read_text())
    assert found["settings"]["data"] == ["plans"]
    assert [(row["name"], row["steps"], row["seeds"]) for row in found["rows"]] == [
        ("selector", 300, list(range(10))),
        ("none", 300, list(range(4))),
    ]
    assert (tmp_path / "table1.png").stat().st_size > 10_000


def test_frame_0_is_no_keyframe_that_was_found() -> None:
    kept = replace(outcome("counting", 3, True), kept=(0, 52, 300), true=(0, 50, 90))
    assert summary([kept])["tasks"]["counting"]["keyframes_found"] == 0.5


def test_rows_differ_in_their_memory_and_in_nothing_else() -> None:
    for table in TABLES.values():
        assert len({regime.name for regime in table}) == len(table)
        for regime in table:
            assert set(regime.settings) <= {"history", "condensed", "keyframes", "shifted", "slots", "structured"}
    trainings: dict[str, object] = {}
    for regime in (each for table in TABLES.values() for each in table):
        assert trainings.setdefault(regime.training, regime.settings) == regime.settings


def test_what_there_is_not_to_learn_from_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--data", str(tmp_path / "none"), "--output", str(tmp_path / "tables")]
    assert main(["eval", "table1", *words]) == 1
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_a_row_of_events_wants_data_in_which_they_were_looked_for_before_any_other_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_episodes(tmp_path / "light", 4)
    words = ["--data", str(data), "--output", str(tmp_path / "tables"), "--row", "none", "--row", "events"]
    assert main(["eval", "table1", *words]) == 1
    told = capsys.readouterr().err
    assert f"events were not looked for when {data} was recorded: collect it again with --events" in told
    assert not (tmp_path / "tables/none").exists()


def test_what_cannot_be_played_or_was_played_otherwise_is_told_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_episodes(tmp_path / "plans/light", 2)
    output = tmp_path / "tables"
    words = ["eval", "table1", "--row", "none", "--data", str(tmp_path / "plans"), "--output", str(output)]
    words += [word for setting in SMALL for word in ("--set", setting)]
    assert main([*words, "--variant", "papr"]) == 1
    assert "unknown variant 'papr'" in capsys.readouterr().err
    assert main([*words, "--row", "selector", "--selector", "mine"]) == 1
    assert "no model 'mine'" in capsys.readouterr().err
    played = output / "standard/selector"
    played.mkdir(parents=True)
    settings = {"selector_models": "", "selector": "keyframe_selector_driven", "variant": "standard"}
    execution = asdict(Execution())
    settings |= {"looks": "standard", "image_size": 128, "execution": execution, "split": "test"}
    (played / "evaluation.json").write_text(json.dumps(settings))
    config = as_dict(load_policy_config(None, dict(setting.split("=") for setting in SMALL)))
    begun = {"config": config, "data": [str(tmp_path / "plans")], "init": None}
    (output / "comparison.json").write_text(json.dumps(begun))
    assert main(words) == 1
    assert "selector was played with image_size '128', not '256'" in capsys.readouterr().err
    assert not (output / "none").exists()


@pytest.mark.nightly  # who has learnt nothing plays until the time is up
@pytest.mark.timeout(1800)
def test_a_table_goes_on_where_it_was_interrupted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    how = ["--variant", "paper", "--split", "development", "--image-size", "32", "--processes", "1"]
    data, output = tmp_path / "plans", tmp_path / "tables"
    assert main(["collect", "--plans", "--task", "counting", *how, "--episodes", "2", "--output", str(data)]) == 0
    words = ["--data", str(data / "development"), "--output", str(output), "--task", "counting", *how]
    words += [word for setting in SMALL for word in ("--set", setting)]
    few = ["--episodes", "1", "--others", "1"]
    assert main(["eval", "table1", "--row", "oracle", *words, *few]) == 0
    checkpoint = output / "keyframes/policy.pt"
    made = checkpoint.stat().st_mtime_ns
    capsys.readouterr()
    assert main(["eval", "table3", "--row", "oracle", *words, *few]) == 0
    assert capsys.readouterr().out == "table3: none of its rows has been played\n"
    assert main(["eval", "table1", "--row", "none", "--row", "condensed", *words, *few]) == 0
    assert checkpoint.stat().st_mtime_ns == made
    assert not (output / "none/maps").exists()  # it sees with the eyes of the first
    told = capsys.readouterr().out
    assert "| no history | 1 |" in told
    assert "| keyframes of the oracle | 1 |" in told  # played before
    assert main(["eval", "table3", "--row", "unstructured", *words, *few]) == 0
    from_none = ["--init", str(output / "none")]
    assert main(["eval", "table1", "--row", "short", *words, *few, *from_none]) == 1  # begun from chance
    assert "init" in capsys.readouterr().err
    words[words.index("--output") + 1] = str(tmp_path / "further")
    assert main(["eval", "table1", "--row", "short", *words, *few, *from_none]) == 0
    assert not (tmp_path / "further/keyframes").exists()  # what all begin with has the eyes already
    assert {path.name for path in (output / "paper").glob("table*")} == {
        f"table{number}.{ending}" for number in (1, 3) for ending in ("md", "json", "png")
    }
    assert main(["eval", "table1", "--row", "oracle", *words, *few, "--set", "steps=5"]) == 1
    assert "was begun with config" in capsys.readouterr().err
