"""Questions in the household: as instructions, and as `kc-vla eval ask` measures their answers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from home_robot import Open, only

from kc_vla.memory.asking.answer import AnswerEvidence, MemoryAnswer, unknown
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.evaluation.halves import SPLITS
from kc_vla.planning.execution.results import ANSWER, SKILL
from kc_vla_sim.household.questions.cosine import best_threshold
from kc_vla_sim.household.questions.evaluation import ASKED, COSINE, evaluate_asking, table
from kc_vla_sim.household.questions.expected import read_expected
from kc_vla_sim.household.questions.judging import AnswerVerdict, judge
from kc_vla_sim.household.questions.lived import lived
from kc_vla_sim.household.questions.table import KINDS, read_home_questions
from kc_vla_sim.household.scenes import build_scene
from kc_vla_sim.household.tasks import sequences
from kc_vla_sim_cli import main


def test_a_question_is_answered_without_a_move(robot: Open) -> None:
    world = build_scene(1)
    apple = only(world, "Apple")
    home = robot(world)
    assert home.carry_out("PickupObject(apple); PutObject(it, sink); SwitchOn(faucet); SwitchOff(faucet)").success
    calls, steps = len(home.body.calls), len(home.steps)
    result = home.carry_out("Where is the apple?")
    assert result.success
    assert apple in result.answer
    assert "sink" in result.answer
    assert (result.by, result.calls, result.walked_m) == ("memory", 0, 0.0)
    assert len(home.body.calls) == calls
    told = [step.text for step in home.steps[steps:] if step.kind == ANSWER]
    assert apple in told[0]
    assert not [step for step in home.steps[steps:] if step.kind == SKILL]
    assert "Faucet_1" in home.carry_out("what did I use last?").answer
    assert apple in home.carry_out("which apple was washed?").answer


def test_what_is_not_known_is_no_success_and_says_so(robot: Open) -> None:
    home = robot(build_scene(1))
    result = home.carry_out("where is the piano?")
    assert (result.success, result.answer) == (False, "")
    assert "do not know" in result.reason
    assert not home.carry_out("who was here?").success


def test_what_is_held_is_told(robot: Open) -> None:
    home = robot(build_scene(1))
    assert home.carry_out("PickupObject(apple)").success
    assert "apple" in home.carry_out("what are you holding?").answer
    assert "in my hand" in home.carry_out("where is the apple?").answer


def test_no_instruction_of_the_sequences_is_taken_for_a_question() -> None:
    from kc_vla.memory.asking.grammar import is_question

    instructions = {task.instruction for each in sequences().values() for task in each.tasks}
    assert len(instructions) > 1000
    assert not [each for each in instructions if is_question(each)]


def test_the_questions_are_of_all_kinds_and_split_by_home() -> None:
    questions = read_home_questions()
    assert len(questions) >= 300
    assert len({each.text for each in questions}) > 0.95 * len(questions)
    assert {each.home for each in questions} == set(range(1, 31))
    assert set(Counter(each.kind for each in questions)) == set(KINDS)
    homes = {split: {each.home for each in questions if each.split == split} for split in SPLITS}
    assert not homes[SPLITS[0]] & homes[SPLITS[1]]
    assert len(homes[SPLITS[0]]) == len(homes[SPLITS[1]]) == 15


def test_the_questions_of_a_home_are_answered_better_than_by_the_cosine(tmp_path: Path) -> None:
    questions = [each for each in read_home_questions() if each.home == 7]
    rows = evaluate_asking(tmp_path, shared_embedder(), questions)
    right = Counter(each.method for each in rows if each.verdict == AnswerVerdict.RIGHT)
    assert right[ASKED] >= 0.9 * len(questions)
    assert right[ASKED] > right[COSINE]
    assert len(json.loads((tmp_path / "results.json").read_text())) == 2 * len(questions)
    text = (tmp_path / "table.md").read_text()
    assert text == table(rows)
    assert f"| development | all | {len(questions)} | asked |" in text


def test_the_judge_looks_at_the_world_and_not_at_the_memory() -> None:
    with lived(7, shared_embedder()) as home:
        mug = next(home.world.of_kind("Mug"))
        asked = read_expected("where Mug")
        area, holder = home.world.area_of(mug.id), mug.place.holder
        kind = home.world.things[holder].kind.spoken
        rests = AnswerEvidence(mug.id, "Mug", "", holder, area, 0.0, 1.0)
        right = MemoryAnswer(f"The mug is in the {kind}.", True, 1.0, (rests,))
        assert judge(right, asked, home) is AnswerVerdict.RIGHT
        assert judge(replace(right, found=(replace(rests, area="area_99"),)), asked, home) is AnswerVerdict.WRONG
        assert judge(replace(right, found=(replace(rests, container="Sofa_1"),)), asked, home) is AnswerVerdict.WRONG
        assert judge(unknown("I do not know."), asked, home) is AnswerVerdict.REFUSED
        assert judge(right, read_expected("refuse"), home) is AnswerVerdict.WRONG
        assert judge(unknown("I do not know."), read_expected("where Mug:colour=green"), home) is AnswerVerdict.RIGHT


def test_the_baseline_answers_from_the_cosine_that_is_best() -> None:
    assert best_threshold([0.2, 0.4, 0.6], [False, True, True], [True, False, False]) == 0.4


def test_what_cannot_be_measured_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["eval", "ask", "--split", "other"])
    assert "development" in capsys.readouterr().err
