"""Sequences of tasks: what is shipped, who solves them, who judges them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.generation import COUNT, generated, needed, table
from kc_vla_sim.household.goals import parse_goal
from kc_vla_sim.household.growth import building_sequence, home_sequence
from kc_vla_sim.household.oracle import UnsolvableError, play, solve
from kc_vla_sim.household.scenes import SPLITS, build_scene, split_of
from kc_vla_sim.household.simulator import Household, act
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.tasks import (
    KINDS,
    GoalReferent,
    InstructedTask,
    Referee,
    TaskSequence,
    as_json,
    read_sequences,
    sequence,
    sequences,
)
from kc_vla_sim.household.wording import TEMPLATES
from kc_vla_sim.household.world import IN, Place, World

DOCS = Path(__file__).parents[2] / "docs"
SHIPPED = list(sequences().values())
WASH = InstructedTask("wash a mug", "STATE(Mug, clean)")
PUT_AWAY = InstructedTask("put the mug in the cabinet", "INSIDE(Mug, Cabinet)", {"Mug": GoalReferent(0)})


def in_one_line(error: HouseholdError) -> bool:
    return len(str(error)) < 500 and str(error).isprintable()


def after(world: World, goal: str) -> World:
    return solve(world, parse_goal(goal), {}).world


def two_mugs() -> World:
    """Return a kitchen with two mugs, neither of which is clean or in a cabinet."""
    found = next(world for world in map(build_scene, range(1, 31)) if len(list(world.of_kind("Mug"))) > 1)
    for mug, top in zip(found.of_kind("Mug"), found.of_kind("CounterTop"), strict=False):
        found.move(mug.id, Place("on", top.id, found.free_spot(top) or 0))
    return found


def test_there_are_as_many_of_each_kind_in_scenes_of_their_split() -> None:
    assert Counter((each.kind, each.split) for each in SHIPPED) == dict.fromkeys(
        itertools.product(KINDS, SPLITS), COUNT
    )
    assert all(split_of(each.scene) == each.split for each in SHIPPED)
    for each in SHIPPED:
        assert 2 <= len(each.tasks) <= 6
        for task in each.tasks:
            assert task.conditions
            assert "{" not in task.instruction
            assert task.instruction.isprintable()


def test_two_wordings_of_each_kind_are_for_the_test_alone() -> None:
    alone = ("grab ", "get me ", "leave ", "I want ", "give ", "inspect ")
    last = {way for ways in TEMPLATES.values() for way in ways[-2:]}
    assert all(way in last for ways in TEMPLATES.values() for way in ways if way.startswith(alone))
    said = {split: [t.instruction for s in SHIPPED if s.split == split for t in s.tasks] for split in SPLITS}
    for start in alone:
        assert any(text.startswith(start) for text in said["test"])
        assert not any(text.startswith(start) for text in said["development"])


@pytest.mark.parametrize("each", SHIPPED[::24], ids=lambda each: each.name)
def test_the_oracle_does_each_task_with_skills_of_the_table_and_the_referee_approves(each: TaskSequence) -> None:
    home, referee = Household(each.world()), Referee(each.tasks)
    for _ in each.tasks:
        task = referee.begin(home.world)
        solution = solve(home.world, task.conditions, referee.admitted)
        begun_s = home.world.time_s
        assert solution.calls
        for call in solution.calls:
            assert not home.do(call).reason
        assert solution.seconds == pytest.approx(home.world.time_s - begun_s)
        assert referee.judge(home.world) == []


@pytest.mark.parametrize(("kind", "split"), list(itertools.product(KINDS, SPLITS)))
def test_generation_gives_the_shipped_ones(kind: str, split: str) -> None:
    for each in generated(kind, split, 3):
        assert each == sequence(each.name)


def test_definite_words_fit_one_thing_and_it_was_handled_before() -> None:
    described = 0
    for each in SHIPPED[:: len(KINDS)]:
        world, referee = each.world(), Referee(each.tasks)
        for task in each.tasks:
            for name, meaning in task.means.items():
                if each.kind == "complex" and meaning.word not in ("", name) and "thing" not in task.instruction:
                    described += 1
                    assert meaning.fitting(world) <= referee.handled
                    assert len(meaning.fitting(world)) == 1
                assert meaning.task is None or meaning.task < referee.number
            world = play(world, referee, 1)[-1].world
    assert described > 20


def test_the_mug_is_the_one_that_was_washed() -> None:
    world, referee = two_mugs(), Referee((WASH, PUT_AWAY))
    referee.begin(world)
    assert [str(each) for each in referee.judge(world.copy())] == ["STATE(Mug, cleaned)"]
    referee = Referee((WASH, PUT_AWAY))
    referee.begin(world)
    world = after(world, WASH.goal)
    assert referee.judge(world) == []
    referee.begin(world)
    (washed,) = referee.admitted["Mug"]
    other = next(each.id for each in world.of_kind("Mug") if each.id != washed)
    cabinet = next(iter(world.of_kind("Cabinet")))
    wrong, right = world.copy(), world.copy()
    wrong.move(other, Place(IN, cabinet.id, world.free_spot(cabinet) or 0))
    right.move(washed, Place(IN, cabinet.id, world.free_spot(cabinet) or 0))
    assert referee.copy().judge(right) == []
    assert [str(each) for each in referee.judge(wrong)] == ["INSIDE(Mug, Cabinet)"]
    with pytest.raises(HouseholdError, match="over"):
        referee.begin(world)


def test_a_description_is_looked_up_when_its_task_begins() -> None:
    world = two_mugs()
    clean = InstructedTask(
        "bring me the clean dish",
        "HOLDON(robot, Mug)",
        {"Mug": GoalReferent(word="dish", states=(ThingState.CLEANED,))},
    )
    referee = Referee((WASH, clean))
    referee.begin(world)
    world = after(world, WASH.goal)
    referee.judge(world)
    referee.begin(world)
    assert referee.admitted["Mug"] == referee.handled
    solution = solve(world, clean.conditions, referee.admitted)
    assert referee.judge(solution.world) == []


@pytest.mark.parametrize(
    "goal",
    [
        "STATE(egg, cooked), ON(egg, plate)",
        "STATE(mug, full), INSIDE(mug, microwave)",
        "STATE(fridge, open)",
        "STATE(plate, broken)",
        "TOGGLEON(faucet), HOLDON(robot, apple)",
        "STATE(apple, sliced), STATE(apple, cold), INSIDE(apple, pot), INSIDE(pot, sink)",
        "ON(pan, stove): 0, ON(pot, stove): 0",
    ],
)
def test_the_oracle_reaches_goals_beyond_the_sequences(goal: str) -> None:
    world = build_scene(1)
    state = world.state()
    solution = solve(world, parse_goal(goal), {})
    for call in solution.calls:
        assert not act(world, call)
    assert solve(world, parse_goal(goal), {}).calls == ()
    assert bool(solution.calls) == (world.state() != state)


@pytest.mark.parametrize(
    "goal",
    ["STATE(mug, dirty)", "STATE(bed, clean)", "HOLDON(robot, fridge)", "ON(pillow, plate)", "STATE(egg, sliced)"],
)
def test_the_oracle_says_in_a_line_what_cannot_be(goal: str) -> None:
    world = build_scene(1)
    time_s = world.time_s
    with pytest.raises(UnsolvableError) as raised:
        solve(world, parse_goal(goal), {})
    assert in_one_line(raised.value)
    assert world.time_s == time_s


@pytest.mark.parametrize(("make", "number"), [(home_sequence, 2), (building_sequence, 400)])
def test_a_long_sequence_is_the_same_each_time_and_each_task_needs_something(
    make: Callable[[int, int, int], TaskSequence], number: int
) -> None:
    each = make(number, 12, 1)
    assert each == make(number, 12, 1)
    assert len(each.tasks) == 12
    assert len(needed(each.world(), each.tasks)) == 12
    with pytest.raises(HouseholdError, match="choose 1 to"):
        make(number, 0, 1)
    with pytest.raises(HouseholdError, match="choose 1 to"):
        make(0, 12, 1)


@pytest.mark.parametrize(
    "goal",
    [
        "INSIDE(a\nb)",
        "HOLDON(x\x00\ny, apple)",
        "STATE(apple, __import__('os'))",
        "ON(" * 300,
        "ON(apple, plate)" * 90_000,
        ", ".join(f"STATE(Apple#{number}, clean)" for number in range(9)),
        "STATE(apple, clean)\x1b[2J",
        "STATE(apple#-1, clean)",
    ],
)
def test_a_hostile_goal_is_refused_in_a_line(goal: str) -> None:
    with pytest.raises(HouseholdError) as raised:
        parse_goal(goal)
    assert in_one_line(raised.value)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[" * 100_000,
        '{"tasks": 3}',
        '{"name": "x", "kind": "simple", "split": "test", "scene": "one", "seed": 0, "tasks": []}',
        as_json(TaskSequence("x", "simple", "test", 1, 0, (InstructedTask("eat", "EAT(apple)\n"),))),
        as_json(
            TaskSequence("x", "simple", "test", 1, 0, (InstructedTask("wash", WASH.goal, {"Cup\n": GoalReferent(0)}),))
        ),
        '{"tasks": [{"instruction": "a", "goal": "STATE(mug, clean)", "means": {"Mug": {"states": ["\\n"]}}}]}',
    ],
)
def test_a_line_of_a_file_that_is_no_sequence_says_why(line: str) -> None:
    with pytest.raises(HouseholdError, match="line 2") as raised:
        list(read_sequences([as_json(SHIPPED[0]), line]))
    assert in_one_line(raised.value)


def test_the_document_shows_an_example_of_each_kind_as_it_is() -> None:
    text = (DOCS / "symbolic_home.md").read_text(encoding="utf-8")
    assert {each.kind for each in SHIPPED if str(each) in text} == set(KINDS)


@pytest.mark.nightly
def test_the_oracle_does_every_shipped_task_and_needs_what_the_document_says() -> None:
    assert table(SHIPPED) in (DOCS / "symbolic_home.md").read_text(encoding="utf-8")


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(HouseholdError, match="there is no sequence") as raised:
        sequence("nonsense\n")
    assert in_one_line(raised.value)
    assert as_json(sequence("composite-test-003")).isprintable()


def test_a_task_that_means_a_thing_of_a_later_one_is_refused() -> None:
    world = build_scene(1)
    with pytest.raises(HouseholdError, match="earlier"):
        Referee((InstructedTask("wash it", WASH.goal, {"Mug": GoalReferent(0)}),)).begin(world)
