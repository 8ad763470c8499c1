"""Sequences of instructions for the arm in a kitchen: how they are drawn, judged, played and counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kc_vla.cli import main
from kc_vla.memory.references.likely_places import share
from kc_vla.planning.execution.results import EXPLORE, SKILL, ExecutionStep
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult, Request
from kc_vla.planning.skills import Call
from kc_vla_sim.kitchen.layout import draw_layout
from kc_vla_sim.kitchen.sequences.drawing import (
    COMPLEX,
    COMPOSITE,
    SIMPLE,
    KitchenInstruction,
    KitchenSequence,
    draw_sequence,
)
from kc_vla_sim.kitchen.sequences.figures import reason_of, sequence_table
from kc_vla_sim.kitchen.sequences.goals import PlaceGoal, StateGoal
from kc_vla_sim.kitchen.sequences.hand_room import hand_has_room
from kc_vla_sim.kitchen.sequences.outcomes import InstructionOutcome, SequenceOutcome
from kc_vla_sim.kitchen.sequences.robots import SimulatedKitchenRobot
from kc_vla_sim.kitchen.sequences.sketched_robot import SketchedKitchenRobot
from kc_vla_sim.kitchen.sequences.targets import TAKEN_FROM
from kc_vla_sim.kitchen.sequences.trial import SequenceTrial
from kc_vla_sim.kitchen.sequences.video import SequenceVideo

SEEDS = range(4, 10)
PUT_AWAY = 4
"""A kitchen in which things are put into the drawer and needed again."""


def outcome(**more: object) -> InstructionOutcome:
    plain = InstructionOutcome("put it away", SIMPLE, 1, False, False, True, True, "", 20.0, 3, 0, 1, 0)
    return replace(plain, **more)  # type: ignore[arg-type]


def test_a_seed_has_one_sequence_and_the_planner_understands_it() -> None:
    kinds: Counter[str] = Counter()
    for seed in SEEDS:
        drawn = draw_sequence(seed)
        assert drawn == draw_sequence(seed)
        assert 2 <= len(drawn.instructions) <= 6
        kinds.update(each.kind for each in drawn.instructions)
        for each in drawn.instructions:
            calls = GrammarPlanner().plan(Request(each.text)).calls
            assert [call.skill for call in calls] == ["PickupObject", "PutObject"] * each.things, each.text
    assert kinds.keys() == {SIMPLE, COMPOSITE, COMPLEX}


def test_nothing_is_asked_for_that_stands_in_a_gap_and_what_is_in_a_drawer_is_within_reach() -> None:
    layout = draw_layout(0)
    knife = next(each for each in layout.things if each.thing_id == "knife_1")  # beside a box of cereals and the sink
    assert not hand_has_room(layout, knife)
    alone = replace(layout, things=(knife,))
    assert hand_has_room(alone, knife)
    stored = [(each, thing) for each in map(draw_layout, range(12)) for thing in each.things]
    inside = [(each, thing) for each, thing in stored if thing.holder == "drawer_1" and thing.kind.graspable]
    reached = [hand_has_room(each, thing) for each, thing in inside if thing.kind.name != "banana"]
    assert sum(reached) >= 0.8 * len(reached) > 4


@pytest.mark.parametrize("seed", SEEDS)
def test_a_goal_holds_when_the_thing_is_put_there_and_not_before(seed: int) -> None:
    robot = SketchedKitchenRobot()
    robot.begin(seed)
    robot.do(Call("OpenObject", ("drawer_1",)))
    for each in draw_sequence(seed).instructions:
        assert not all(goal.holds(robot.truth()) for goal in each.goals), each.text
        for goal in each.goals:
            assert isinstance(goal, PlaceGoal)
            taken = next(
                name for name in sorted(goal.things) if robot.truth()[name].attributes.get("place") in TAKEN_FROM
            )
            assert robot.do(Call("PickupObject", (taken,))).done
            holder = "drawer_1" if "in drawer_1" in goal.places else next(iter(goal.places)).partition(" ")[2]
            assert robot.do(Call("PutObject", (taken, holder))).done
        assert all(goal.holds(robot.truth()) for goal in each.goals), each.text


def test_a_state_is_judged_also_where_it_is_the_second() -> None:
    robot = SketchedKitchenRobot()
    robot.begin(0)
    goal = StateGoal("cupboard", "opened")
    assert not goal.holds(robot.truth())
    robot.do(Call("OpenObject", ("cupboard",)))
    assert goal.holds(robot.truth())


def test_who_remembers_where_a_thing_was_put_opens_nothing_else_to_find_it() -> None:
    steps: list[ExecutionStep] = []
    trial = SequenceTrial(SketchedKitchenRobot(), tell=steps.append)
    remembered = trial.play(draw_sequence(PUT_AWAY), "both").instructions
    assert all(each.done and each.believed for each in remembered)
    assert sum(each.searched for each in remembered) == 0
    assert not [each for each in steps if each.kind == EXPLORE]
    forgotten = trial.play(draw_sequence(PUT_AWAY), "none").instructions
    assert sum(each.searched for each in forgotten) > 2
    assert sum(each.seconds for each in forgotten) > sum(each.seconds for each in remembered)


def test_an_arm_opens_before_it_takes_and_closes_with_a_free_hand() -> None:
    steps: list[ExecutionStep] = []
    instruction = draw_sequence(PUT_AWAY).instructions[0]
    assert instruction.text == "put the apple into the drawer"
    trial = SequenceTrial(SketchedKitchenRobot(), tell=steps.append)
    trial.play(KitchenSequence(PUT_AWAY, (instruction,)), "both")
    skills = [each.text.partition("(")[0] for each in steps if each.kind == SKILL]
    assert skills[-4:] == ["OpenObject", "PickupObject", "PutObject", "CloseObject"]


def test_what_will_not_open_is_not_tried_again_and_again() -> None:
    steps: list[ExecutionStep] = []
    goal = PlaceGoal(frozenset({"kettle_9"}), frozenset({"on tray"}))
    robot = SketchedKitchenRobot()
    robot.begin(2)
    assert robot.truth()["drawer_2"].state == "closed"
    asked = KitchenSequence(2, (KitchenInstruction("put the trumpet on the tray", SIMPLE, (goal,)),))
    with pytest.raises(KeyError):  # nobody can judge a goal about what is not there
        SequenceTrial(robot, tell=steps.append).play(asked, "none")
    tried = Counter(each.text.partition(":")[0] for each in steps if each.kind == SKILL)
    assert tried["OpenObject(drawer_2)"] <= 2


class NoKnifeInReach(SketchedKitchenRobot):
    """An arm whose hand does not get to any knife."""

    def do(self, call: Call) -> CallResult:
        if call.skill == "PickupObject" and call.arguments[0].startswith("knife"):
            return CallResult(False, f"{call.arguments[0]} cannot be reached from above", 1.0, 0.0, tuple(self.look()))
        return super().do(call)


@pytest.mark.parametrize("memory", ["both", "none"])
def test_where_any_will_do_another_one_is_looked_for_when_one_is_out_of_reach(memory: str) -> None:
    goal = PlaceGoal(frozenset({"spoon_1", "knife_1"}), frozenset({"on tray"}))
    asked = KitchenInstruction("put a piece of cutlery on the tray", COMPLEX, (goal,))
    trial = SequenceTrial(NoKnifeInReach())  # the spoon is in a closed drawer
    (done,) = trial.play(KitchenSequence(PUT_AWAY, (asked,)), memory).instructions
    assert done.done, done.reason


def test_an_instruction_ends_when_its_time_is_over() -> None:
    drawn = draw_sequence(PUT_AWAY)
    (first, *_) = SequenceTrial(SketchedKitchenRobot(), limit_s=5.0).play(drawn, "both").instructions
    assert not first.done
    assert first.reason == "the instruction took more than 5 s"


def test_places_are_likely_by_whatever_name_a_detector_has_for_them() -> None:
    assert share("spoon", "sink") == share("Spoon", "SinkBasin")
    assert share("salt_shaker", "cupboard") == share("SaltShaker", "Cabinet") > share("salt_shaker", "microwave")


def test_the_table_compares_memories_in_the_same_kitchens() -> None:
    late = outcome(seconds=100.0, searched=3, opened=4, hidden=True, again=True)
    failed = outcome(done=False, believed=False, reason="salt_shaker_1 fell 12 cm; PutObject(x) failed 3 times: so")
    shown = sequence_table(
        [SequenceOutcome(7, "both", (outcome(), outcome(hidden=True))), SequenceOutcome(7, "none", (late, failed))]
    )
    assert "| both | 2 | all | 100.0 (34.2 to 100.0) | 100.0 (34.2 to 100.0) | 0 | 0 | 2 |" in shown
    assert "| none | 2 | all | 50.0 (9.5 to 90.5) | 0.0 (0.0 to 65.8) | 0 | 3 | 5 |" in shown
    assert "| both | 50.0 (50.0 to 50.0) | 100.0 (100.0 to 100.0) | 0.00 (0.00 to 0.00) |" in shown
    assert "| none | THING fell N cm | 1 |" in shown
    assert reason_of(outcome(done=False)) == "the robot takes it for done"


def test_sequences_are_measured_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "kitchen", "--sketched", "--split", "development", "--processes", "1", "-o", str(tmp_path)]
    assert main([*words, "--kitchens", "1", "--memory", "both"]) == 0
    before = (tmp_path / "results.jsonl").read_text()
    assert main([*words, "--kitchens", "1", "--memory", "both", "--memory", "none"]) == 0
    assert (tmp_path / "results.jsonl").read_text().startswith(before)
    assert "| none |" in capsys.readouterr().out
    assert (tmp_path / "times.png").is_file()
    assert main([*words, "--kitchens", "1", "--skip", "2", "--memory", "both"]) == 0
    assert json.loads((tmp_path / "results.jsonl").read_text().splitlines()[-1])["seed"] == 2
    assert main([*words, "--kitchens", "1", "--limit", "90"]) == 1
    assert "limit_s" in capsys.readouterr().err


def test_the_arm_does_an_instruction_and_what_it_does_not_do_is_on_a_video(tmp_path: Path) -> None:
    video = SequenceVideo(tmp_path, 2)
    robot = SimulatedKitchenRobot("truth", {}, video.add)
    on_cabinet = PlaceGoal(frozenset({"salt_shaker_1"}), frozenset({"on cabinet"}))
    nowhere = replace(on_cabinet, places=frozenset())
    asked = (
        KitchenInstruction("put the salt shaker on the cabinet", SIMPLE, (on_cabinet,)),
        KitchenInstruction("close the trumpet", SIMPLE, (nowhere,)),
    )
    try:
        done, failed = (
            SequenceTrial(robot, limit_s=25.0, video=video).play(KitchenSequence(0, asked), "both").instructions
        )
    finally:
        robot.close()
    assert done.done, done.reason
    assert done.calls >= 2
    assert not failed.done
    assert [each.name for each in tmp_path.iterdir()] == ["0-both-2.mp4"]
