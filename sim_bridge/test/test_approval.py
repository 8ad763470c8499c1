"""Plans of the grammar, done in a household by hands that know it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla_sim.household.alfred import AlfredTask, scenes
from kc_vla_sim.household.approval import goal_of, judge, judged, main, table, types_called
from kc_vla_sim.household.scenes import build_scene, split_of
from kc_vla_sim.household.types import kinds, spoken

_SAID = {
    "pick_and_place_simple": "put {a} {thing} {on} the {goal}",
    "pick_two_obj_and_place": "move two {thing}s to the {goal}",
    "look_at_obj_in_light": "look at {a} {thing} by the light of the {lamp}",
    "pick_clean_then_place_in_recep": "wash {a} {thing} and place it {on} the {goal}",
    "pick_heat_then_place_in_recep": "put a heated {thing} {on} the {goal}",
    "pick_cool_then_place_in_recep": "place a chilled {thing} {on} the {goal}",
    "pick_and_place_with_movable_recep": "put a {within} with a {thing} in it {on} the {goal}",
}


def said(task: AlfredTask) -> str:
    on = kinds()[task.goal].relation if task.goal else ""
    names = {each: spoken(getattr(task, each)) if getattr(task, each) else "" for each in ("within", "goal", "lamp")}
    thing = f"{spoken(task.thing)} slice" if task.sliced else spoken(task.thing)
    return _SAID[task.kind].format(a="a", thing=thing, on=on, **names)


@pytest.mark.parametrize("kind", sorted(_SAID))
def test_what_is_said_plainly_is_approved(kind: str) -> None:
    tasks = [
        (number, task)
        for number, scene in scenes().items()
        if split_of(number) == "development"
        for task in scene.tasks
        if task.kind == kind and not (kind.startswith("pick_heat") and task.goal == "Fridge")
    ][::12]
    wrong = [
        each
        for number, task in tasks
        if not (each := judge(GrammarPlanner(), build_scene(number), task, said(task))).approved
    ]
    assert len(tasks) > 5
    assert wrong == []


def test_what_was_asked_for_otherwise_is_not_approved() -> None:
    task = AlfredTask("pick_clean_then_place_in_recep", "Apple", "", "DiningTable", "", False)
    assert goal_of(task) == "ON(Apple, DiningTable), STATE(Apple, clean)"
    number = next(each for each, scene in scenes().items() if {"Apple", "DiningTable"} <= set(scene.types))
    dry = judge(GrammarPlanner(), build_scene(number), task, "put an apple on the dining table")
    assert (dry.planned, dry.approved, dry.reason) == (True, False, "the goal is another")
    other = judge(GrammarPlanner(), build_scene(number), task, "juggle the apples")
    assert (other.planned, other.approved) == (False, False)
    assert "| all | 2 | 50.0 % | 0.0 % |" in table([dry, other])


def test_names_stand_for_types_as_people_use_them() -> None:
    assert types_called("white coffee table") == {"CoffeeTable"}
    assert {"DiningTable", "SideTable"} <= types_called("round table")
    assert types_called("sink") == {"SinkBasin"}
    assert types_called("chimney") == frozenset()


def test_instructions_of_a_split_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = [
        next(each for each in scenes() if each < 31 and split_of(each) == name) for name in ("development", "test")
    ]
    lines = [
        {
            "scene": f"FloorPlan{number}",
            "type": "pick_clean_then_place_in_recep",
            "pddl": {
                "object_target": "Fork",
                "mrecep_target": "",
                "parent_target": "CounterTop",
                "toggle_target": "",
                "object_sliced": False,
            },
            "desc": ["Put a clean fork on the counter.", "juggle"],
        }
        for number in numbers
    ]
    path, failures = tmp_path / "a.jsonl.gz", tmp_path / "failures.tsv"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    assert [each.instruction for each in judged(GrammarPlanner(), lines, "test", every=2)] == ["juggle"]
    main([str(path), "--split", "test", "--failures", str(failures)])
    assert "| all | 2 | 50.0 % |" in capsys.readouterr().out
    assert "juggle" in failures.read_text()
