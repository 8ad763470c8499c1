"""From the expert's plans to a policy that is measured, and drives while the expert teaches it: by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest
from taught_policies import write_taught_policy

from kc_vla.cli import main
from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.lines import append_line
from kc_vla.datasets.planned import read_folder, read_planned
from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.oracle import OracleSource
from kc_vla.keyframes.scoring import Scoring, SourceError
from kc_vla.policy.history import NONE
from kc_vla.policy.interface import PolicyInput
from kc_vla_sim.errors import BadExecutionError
from kc_vla_sim.evaluate.agent import Agent, Execution
from kc_vla_sim.evaluate.command import EvalOptions
from kc_vla_sim.evaluate.player import FILM_EVERY, EpisodeOutcome, Player
from kc_vla_sim.evaluate.results import EPISODES, outcome_row, read_outcomes, summary, table
from kc_vla_sim.simulator import Simulator

HOW = ["--task", "counting", "--variant", "paper", "--split", "development", "--image-size", "32", "--processes", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chain")


@pytest.fixture(scope="module")
def models(folder: Path) -> Path:
    """Return a policy that was hardly trained."""
    assert main(["collect", "--plans", *HOW, "--episodes", "2", "--output", str(folder / "plans")]) == 0
    small = ["image_size=32", "init=scratch", "channels=8", "steps=10", "every=10", "batch=16"]
    settings = [word for setting in small for word in ("--set", setting)]
    run = str(folder / "run")
    assert main(["train", "policy", "--data", str(folder / "plans/development"), "--output", run, *settings]) == 0
    assert main(["export", "policy", run, "--models", str(folder / "models")]) == 0
    return folder / "models"


def evaluate(models: Path, output: Path, episodes: int, *more: str) -> int:
    words = ["--models", str(models), "--episodes", str(episodes), "--output", str(output)]
    return main(["eval", "policy", *HOW, *words, "--keyframes", "oracle", *more])


@pytest.mark.nightly  # who has learnt nothing plays until the time is up
def test_an_evaluation_plays_what_is_missing_and_sums_it_up(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "eval"
    assert evaluate(models, output, 1) == 0
    first = read_outcomes(output)
    with (output / EPISODES).open("a") as file:
        file.write('{"task": "counting", "se')  # a crash
    assert evaluate(models, output, 2, "--no-films") == 0
    told = capsys.readouterr().out
    assert "| counting |" in told
    assert "**average**" in told
    outcomes = read_outcomes(output)
    assert outcomes[:1] == first
    assert [outcome.seed for outcome in outcomes] == [0, 1]
    assert all(outcome.true[0] == 0 and outcome.kept[0] == 0 for outcome in outcomes)
    found = json.loads((output / "results.json").read_text())
    assert found["tasks"]["counting"]["episodes"] == 2
    assert found["settings"]["split"] == "development"
    film = output / "films/counting-0.mp4"
    assert film.exists() is not first[0].success
    if film.exists():
        with av.open(str(film)) as opened:
            assert opened.streams.video[0].frames > first[0].steps / FILM_EVERY
    assert evaluate(models, output, 2, "--execute-steps", "8") == 1
    assert "was begun with execution.execute_steps '5', not '8'" in capsys.readouterr().err
    assert evaluate(models, tmp_path / "others", 1, "--skip", "2", "--no-films") == 0
    assert [outcome.seed for outcome in read_outcomes(tmp_path / "others")] == [2]


def test_a_chunk_has_to_last_until_the_next() -> None:
    for steps in ((17, 0, 0), (5, 17, 0), (5, 3, 17), (9, 3, 8)):
        with pytest.raises(BadExecutionError, match="a chunk has 16 actions"):
            Execution(*steps)
    Execution(8, 16, 8)


def test_a_policy_that_is_not_there_is_told_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(tmp_path, tmp_path / "eval", 1, "--model", "better") == 1
    assert str(tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "eval").exists()


@pytest.mark.parametrize(
    ("taught", "more", "source"),
    [
        ({"keyframes": "events"}, (), "events"),
        ({"keyframes": "events"}, ("--keyframes", "oracle"), "oracle"),
        ({}, (), "learned"),
    ],
)
def test_a_policy_is_given_the_keyframes_that_it_was_taught_with(
    taught: dict[str, str], more: tuple[str, ...], source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_taught_policy(tmp_path, "policy", **taught)
    played: list[EvalOptions] = []
    monkeypatch.setattr("kc_vla_sim.evaluate.command.evaluate", lambda options: played.append(options) or [])
    assert main(["eval", "policy", "--models", str(tmp_path), *more]) == 0
    assert [options.setting.keyframes for options in played] == [source]


class Narrow(OracleSource):
    """A source that has learned one task."""

    def begin(self, episode: Episode) -> Scoring:
        if episode.task != "counting":
            raise ValueError(f"model 'small' was not trained on '{episode.task}': train one with it")
        return super().begin(episode)


def test_a_task_that_the_selector_has_not_learnt_is_told_in_a_line() -> None:
    agent = Agent(LiveSelector(Narrow()), Told(Simulator(32, draw=False)), Execution(), dict)
    agent.begin("counting", 0, "paper")
    with pytest.raises(SourceError, match="was not trained on 'temporal': train one"):
        agent.begin("temporal", 0, "paper")


@pytest.mark.nightly
def test_the_expert_teaches_where_a_policy_has_come_to(models: Path, folder: Path) -> None:
    output = folder / "taught"
    drive = ["--from-policy", "--policy-models", str(models), "--policy-share", "1"]
    assert main(["collect", *HOW, *drive, "--episodes", "1", "--output", str(output)]) == 0
    taught = read_planned(read_folder(output / "development/counting").file(0))
    own = read_planned(read_folder(folder / "plans/development/counting").file(0))
    assert taught.about["driver"] == "policy 'policy'"
    assert len(taught.frames) > 10
    assert np.isfinite(taught.plans).all()
    assert np.abs(taught.states[-1, :3] - own.states[-1, :3]).max() > 0.01  # it went another way


class Told:
    """A policy that is told the expert's plan."""

    name, needs_keyframes, needs_images, needs_plan = "told", True, True, True
    action_type, names = ActionType.TOOL_DELTA, TOOL_DELTA_NAMES

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self.given: list[PolicyInput] = []

    def reset(self, episode: Episode) -> str:
        return ""

    def infer(self, given: PolicyInput) -> np.ndarray:
        self.given.append(given)
        return self._simulator.expert.plan(16)[0]


def test_who_knows_what_to_do_succeeds_and_is_given_what_is_kept() -> None:
    simulator = Simulator(32, draw=False, variant="paper")
    told = Told(simulator)
    late = Execution(latency_steps=2)
    outcome = Player(simulator, LiveSelector(OracleSource()), told, late).play("counting", 3, "paper")
    assert outcome.success, outcome.reason
    assert outcome.faults == {}
    assert outcome.kept == outcome.true
    assert 0.05 < outcome.jump < 2 * outcome.fastest < 2.0
    frames = [[seen.frame for seen in given.keyframes] for given in told.given]
    assert frames[0] == []  # what is seen now is no memory
    assert len(frames[-1]) >= 3
    assert frames[-1] == list(outcome.true[: len(frames[-1])])
    assert all(frame < given.frame for given, known in zip(told.given, frames, strict=True) for frame in known)
    assert all(seen.views["wrist"].shape == (32, 32, 3) for seen in told.given[-1].keyframes)
    assert {len(given.frozen) for given in told.given[3:]} == {2}  # told what runs until it answers
    masked = Player(simulator, LiveSelector(OracleSource()), told, Execution(), NONE)
    told.given.clear()
    masked.play("counting", 3, "paper")
    assert all(given.keyframes == [] for given in told.given)


def outcome(seed: int, success: bool, task: str = "counting") -> EpisodeOutcome:
    reason = "success" if success else "pushed too early"
    return EpisodeOutcome(task, seed, success, reason, 1, 100, (0, 12), (0, 10), {}, 0.3, 0.1, 0.01, 9.0)


def test_the_summary_has_intervals_and_reasons(tmp_path: Path) -> None:
    outcomes = [outcome(seed, seed != 3) for seed in range(10)] + [
        outcome(seed, True, "identity") for seed in range(10)
    ]
    for each in outcomes:
        append_line(tmp_path / EPISODES, outcome_row(None, each))
    assert read_outcomes(tmp_path) == outcomes
    found = summary(outcomes)
    assert found["tasks"]["counting"]["success"] == 0.9
    assert found["tasks"]["counting"]["failures"] == {"pushed too early": 1}
    assert found["average"]["success"] == pytest.approx(0.95)
    assert found["tasks"]["counting"]["keyframes_found"] == 1.0
    assert "| counting | 90.0 % | 60 to 98 | 10 |" in table(found)
