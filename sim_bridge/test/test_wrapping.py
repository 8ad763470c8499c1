"""Environments that exist already as tasks: those of examples/maniskill play, and what one lacks is one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mani_skill.envs.tasks.tabletop.push_cube import PushCubeEnv
from mani_skill.utils.registration import register_env

from kc_vla.core.task import Task
from kc_vla.core.tasks import TASKS, add_tasks
from kc_vla.datasets.planned import read_planned
from kc_vla_sim.errors import BadLooksError, BadTaskError, BadVariantError
from kc_vla_sim.experts.phases import PHASES
from kc_vla_sim.simulator import Simulator
from kc_vla_sim.wrapping import WrappedTask
from kc_vla_sim_cli import main

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "maniskill"
NAMES = ("push_cube", "pick_cube", "stack_cube")


@pytest.fixture(scope="module", autouse=True)
def tasks() -> Iterator[None]:
    """Yield the tasks of the example, known here."""
    before = dict(TASKS)
    sys.path.insert(0, str(EXAMPLE))
    add_tasks(EXAMPLE / "maniskill.yaml")
    yield
    sys.path.remove(str(EXAMPLE))
    TASKS.clear()
    TASKS.update(before)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    made = Simulator(16, draw=False, whims=False)
    yield made
    made.close()


@pytest.mark.parametrize("task", [NAMES[2], *(pytest.param(name, marks=pytest.mark.nightly) for name in NAMES[:2])])
def test_its_expert_succeeds_pushed_off_its_way_too_and_a_seed_is_one_episode(task: str, simulator: Simulator) -> None:
    ends = []
    for push in (0.0, 0.0, 0.04):
        frame = simulator.reset(task, 7)
        shown = simulator.look()[0]
        while not frame.done:
            plan, _ = simulator.expert.plan(6)
            again, _ = simulator.expert.plan(6)
            assert plan.tolist() == again.tolist()
            plan[0, 1] += push * (4 < frame.index < 8)
            frame = simulator.step(plan[0])
        assert frame.reason == "success"
        assert [keyframe.label for keyframe in simulator.keyframes] == list(TASKS[task].keyframes)
        assert frame.completed_stages == 1
        ends.append((shown.tobytes(), frame.index, frame.joint_positions.tolist()))
    assert ends[0] == ends[1] != ends[2]


def test_plans_are_collected_though_the_environment_knows_no_whims(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--task", "pick_cube", "--plans", "--episodes", "1", "--image-size", "32", "--processes", "1"]
    assert main(["collect", *words, "-o", str(tmp_path)]) == 0, capsys.readouterr().err
    episode = read_planned(tmp_path / "train" / "pick_cube" / "episode_000000.npz")
    assert "approach" in episode.phases
    assert "unknown phases" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("chosen", "error"), [({"variant": "hard"}, BadVariantError), ({"looks": "varied"}, BadLooksError)]
)
def test_a_variant_or_looks_that_it_does_not_take_are_refused(chosen: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error, match="the environment 'maniskill_tasks:PushCube-Stack-v1' of task 'push_cube' has"):
        Simulator(16, draw=False, **chosen).reset("push_cube", 1)


@register_env("OnlyItsCamera-v1", max_episode_steps=20)
class _Unwrapped(PushCubeEnv):
    """As a newcomer names it: without anything."""


@register_env("WrongOrder-v1", max_episode_steps=20)
class _WrongOrder(PushCubeEnv, WrappedTask):
    """The bases the other way round."""


class Bare:
    """An expert of the user's, which rests in a phase of its own."""

    given: object = (np.zeros((1, 7)), "reach")

    def __init__(self, world: object) -> None:
        self.world = world

    def plan(self, horizon: int) -> object:
        return (np.zeros((horizon, 7)), "reach") if self.given is Bare.given else self.given


class Eager(Bare):
    def __init__(self, world: object, speed: float) -> None: ...


class Planless:
    def __init__(self, world: object) -> None: ...


class Curious(Bare):
    def plan(self, horizon: int, picture: object) -> object: ...


def own(name: str, **changes: str) -> Task:
    return replace(TASKS["push_cube"], name=name, **changes)


@pytest.mark.parametrize("name", ["OnlyItsCamera-v1", "WrongOrder-v1"])
def test_what_an_environment_lacks_is_one_line_that_says_how_to_wrap_it(
    name: str, monkeypatch: pytest.MonkeyPatch, simulator: Simulator
) -> None:
    monkeypatch.setitem(TASKS, "own", own("own", environment=name))
    with pytest.raises(BadTaskError, match="no camera 'third_person', no camera 'wrist'") as raised:
        simulator.reset("own", 1)
    assert "put kc_vla_sim.wrapping.WrappedTask before it among its bases" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("expert", "told"),
    [
        ("Eager", r"cannot be made with the environment alone, as Eager\(world\)"),
        ("Planless", r"has no method plan\(horizon\)"),
        ("Curious", r"has no method plan\(horizon\)"),
        ("Nobody", "cannot be loaded .*Nobody.*module:class"),
    ],
)
def test_what_an_expert_lacks_is_one_line_when_it_is_loaded(
    expert: str, told: str, monkeypatch: pytest.MonkeyPatch, simulator: Simulator
) -> None:
    monkeypatch.setitem(TASKS, "own", own("own", expert=f"{__name__}:{expert}"))
    with pytest.raises(BadTaskError, match=f"the expert '{__name__}:{expert}' of task 'own' {told}"):
        simulator.reset("own", 1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "planned NoneType None, not actions and the name of a phase"),
        (np.zeros((4, 7)), "planned ndarray array"),
        (([["a"] * 7], "go"), "planned list .*, not actions"),
        ((np.zeros((2, 7)), "go"), r"planned actions of shape \(2, 7\), not \(4, 7\), a row for each of 4 steps"),
        ((np.zeros(7), "go"), r"planned actions of shape \(7,\)"),
        ((np.full((4, 7), np.nan), "go"), "planned an action that is not finite"),
        ((np.zeros((4, 7)), 3), "is in the phase int 3, which must be a name"),
        ((np.zeros((4, 7)), ""), "which must be a name"),
    ],
)
def test_what_an_expert_plans_wrongly_is_one_line(
    given: object, told: str, monkeypatch: pytest.MonkeyPatch, simulator: Simulator
) -> None:
    monkeypatch.setitem(TASKS, "own", own("own", expert=f"{__name__}:Bare"))
    monkeypatch.setattr(Bare, "given", given)
    monkeypatch.setattr(Bare, "plan", lambda self, horizon: given)
    simulator.reset("own", 1)
    with pytest.raises(BadTaskError, match=told) as raised:
        simulator.expert.plan(4)
    assert "\n" not in str(raised.value)


def test_a_phase_that_has_no_meaning_is_said_with_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TASKS, "push_cube", own("push_cube", expert=f"{__name__}:Bare"))
    words = ["--task", "push_cube", "--plans", "--stretch", "5", "--episodes", "1", "--image-size", "32"]
    assert main(["collect", *words, "--processes", "1", "-o", str(tmp_path)]) == 0, capsys.readouterr().err
    told = "unknown phases 'reach' of its expert: there the arm neither pauses nor is pushed off its way; known"
    assert told in capsys.readouterr().out


def test_the_documentation_has_all_phases_with_what_is_done_in_each() -> None:
    text = (EXAMPLE.parents[1] / "docs" / "your_own_task.md").read_text()
    for name, phase in PHASES.items():
        marks = " | ".join("yes" if yes else "" for yes in (phase.bent, phase.paused, phase.pushed))
        assert f"| `{name}` | {phase.meaning} | {marks} |".replace("  ", " ") in text.replace("  ", " ")
