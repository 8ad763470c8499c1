"""What `kc-vla sim check` finds, prints and returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kc_vla.core.shares import Share
from kc_vla.core.splits import SPLITS
from kc_vla.core.tasks import played_tasks
from kc_vla_sim.check import CheckedEpisode
from kc_vla_sim.check.aliasing import ProbeResult
from kc_vla_sim.check.determinism import DeterminismResult, episode_fingerprint
from kc_vla_sim.check.experts import MODES, ExpertResult
from kc_vla_sim.check.report import CheckReport
from kc_vla_sim.probes.inputs import FRAME, FRAME_AND_TIME, KEYFRAMES
from kc_vla_sim.probes.verdict import Verdict
from kc_vla_sim.simulator import Simulator
from kc_vla_sim_cli import main


def experts(successes: int, episodes: int = 100) -> ExpertResult:
    ends = [(True, "success")] * successes + [(False, "time limit")] * (episodes - successes)
    return ExpertResult("counting", "chunk", 2, tuple(CheckedEpisode(40 + n, *end, 300) for n, end in enumerate(ends)))


def probes(frame: int, time: int, keyframes: int) -> ProbeResult:
    """Return a result with right answers out of 200, where chance is right in 100."""
    told = {FRAME: frame, FRAME_AND_TIME: time, KEYFRAMES: keyframes}
    verdict = Verdict(0.5, {given: Share(right, 200) for given, right in told.items()})
    return ProbeResult("counting", 400, 80, 200, verdict)


def report(**results: object) -> CheckReport:
    empty: dict[str, object] = {"experts": [], "probes": [], "determinism": []}
    return CheckReport("standard", "test", **{**empty, **results})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        ({"experts": [experts(97)]}, True),
        ({"experts": [experts(100), experts(96)]}, False),
        ({"probes": [probes(110, 110, 191)]}, True),
        ({"probes": [probes(111, 100, 200)]}, False),
        ({"probes": [probes(100, 111, 200)]}, False),
        ({"probes": [probes(100, 100, 190)]}, False),
        ({"determinism": [DeterminismResult("counting", (1, 2), ())]}, True),
        ({"determinism": [DeterminismResult("counting", (1, 2), (2,))]}, False),
    ],
)
def test_every_target_counts(results: dict[str, object], holds: bool) -> None:
    found = report(**results)
    assert found.holds == holds
    assert list(found.lines())[-1] == ("all targets hold" if holds else "NOT all targets hold")
    assert found.as_json()["holds"] == holds


def test_the_table_names_failures_by_reason_and_seed() -> None:
    different = DeterminismResult("counting", (7, 8, 9), (8,))
    lines = list(report(experts=[experts(3, episodes=5)], determinism=[different]).lines())
    assert any("3/5" in line and "chunks, 2 late" in line and "MISSED" in line for line in lines)
    assert any("2 x time limit: seeds [43, 44]" in line for line in lines)
    assert any("2/3 equal  MISSED  different: seeds [8]" in line for line in lines)


def test_a_task_without_moments_of_decision_is_told_and_not_probed() -> None:
    lines = list(report(probes=[probes(100, 100, 200)], unprobed=("wipe",)).lines())
    assert "  wipe       not probed: in the task table it has no moments of decision" in lines
    assert lines[-1] == "all targets hold"


@pytest.mark.nightly
def test_a_check_from_the_shell_prints_and_writes_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "check.json"
    small = ["--episodes", "1", "--repeats", "1", "--processes", "1", "--image-size", "32"]
    asked = [
        "--task",
        "counting",
        "--variant",
        "paper",
        "--only",
        "experts",
        "--only",
        "determinism",
        "--mode",
        "step",
        "--mode",
        "chunk-2",
    ]
    assert main(["check", *asked, *small, "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == "variant paper, test seeds"
    assert printed.splitlines()[-1] == "all targets hold"
    found = json.loads(file.read_text())
    assert found["holds"] is True
    assert [(row["mode"], row["latency_steps"], row["successes"]) for row in found["experts"]] == [
        ("step", 0, 1),
        ("chunk", 2, 1),
    ]
    assert found["determinism"][0]["seeds"] == [SPLITS["test"][0]]
    assert found["probes"] == []


@pytest.mark.nightly  # processes in parallel are tried by test_workers.py
def test_parallel_processes_find_the_same(tmp_path: Path) -> None:
    found = []
    asked = ["--task", "counting", "--variant", "paper", "--only", "experts", "--mode", "chunk-2", "--episodes", "2"]
    for processes in ("1", "2"):
        file = tmp_path / f"{processes}.json"
        assert main(["check", *asked, "--processes", processes, "--json", str(file)]) == 0
        found.append(json.loads(file.read_text()))
    assert found[0] == found[1]
    assert [(row["mode"], row["latency_steps"]) for row in found[0]["experts"]] == [("chunk", 2)]


@pytest.mark.nightly
def test_a_fingerprint_tells_episodes_apart_and_knows_them_again(undrawn: Simulator) -> None:
    first = episode_fingerprint(undrawn, "counting", 1)
    assert episode_fingerprint(undrawn, "counting", 2) != first
    assert episode_fingerprint(undrawn, "counting", 1) == first


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check", "--task", "juggling"], "invalid choice: 'juggling'"),
        (["check", "--episodes", "0"], "'0' is not a whole number from 1"),
        (["check", "--image-size", "0"], "'0' is not a whole number from 1"),
        (["check", "--variant", "odd"], "unknown variant 'odd': choose one of standard, hard, paper"),
        (["check", "--renderer", "metal"], "unknown renderer 'metal': choose one of auto, gpu, cpu"),
        (["check", "--episodes", "1001"], "the split 'test' has 1000 seeds"),
        (["play", "--task", "counting", "--seed", "-1"], "'-1' is not a whole number from 0"),
        (["play", "--task", "counting", "--seed", "x"], "'x' is not a whole number from 0"),
        (["play", "--task", "counting", "--seed", "4294967296"], "bad seed 4294967296"),
        (["play", "--task", "counting", "--seed", "1", "--image-size", "5000"], "bad image size 5000"),
        (["dance"], "invalid choice: 'dance'"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_status_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = ended.code
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    assert told in printed.err
    assert printed.err.startswith("kc-vla sim")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["check", "play"])
def test_a_file_that_cannot_be_written_is_one_line_and_exit_status_1(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "nowhere" / "file")
    arguments = {"check": ["check", "--json", file], "play": ["play", "--task", "counting", "--seed", "1", "-o", file]}
    assert main(arguments[verb]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert file in printed.err
    assert printed.err.count("\n") == 1


def test_the_tasks_of_the_table_are_those_that_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["play", "--help"])
    assert "{" + ",".join(sorted(played_tasks())) + "}" in capsys.readouterr().out


def test_every_check_and_every_way_of_executing_an_expert_can_be_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    told = capsys.readouterr().out
    checks = [name for name, results in report().as_json().items() if isinstance(results, list)]
    assert "--only {" + ",".join(checks) + "}" in told
    assert "--mode {" + ",".join(MODES) + "}" in told
