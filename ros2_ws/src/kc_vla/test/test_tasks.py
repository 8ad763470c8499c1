from collections.abc import Iterator
from pathlib import Path

import pytest

from kc_vla.core.task_file import TaskFileError
from kc_vla.core.tasks import (
    TASKS,
    Task,
    UnknownTaskError,
    add_tasks,
    find_task,
    find_task_of_instruction,
    simulated_tasks,
)
from kc_vla.keyframes.instructions import known_tasks
from kc_vla.keyframes.rules import RULES


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_task_is_whole(task: Task) -> None:
    assert find_task(task.name) is task
    assert len(task.keyframes) == len(set(task.keyframes)) >= 1
    if task.cues:
        assert len(task.cues) == len(task.keyframes)
        assert task.cues[0] == "first_frame"
        assert set(task.cues) <= set(RULES)
    assert task.stages
    assert task.instruction


def test_counting_has_the_keyframes_of_the_paper() -> None:
    assert find_task("counting").keyframes == ("start", "flash 1 on", "flash 1 off", "flash 2 on", "flash 2 off")


@pytest.mark.parametrize("name", ["", "Counting", "juggling"])
def test_an_unknown_task_is_refused_with_those_that_exist(name: str) -> None:
    with pytest.raises(UnknownTaskError, match=f"unknown task '{name}': choose one of counting"):
        find_task(name)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_is_found_by_its_instruction(task: Task) -> None:
    assert find_task_of_instruction(task.instruction) is task
    assert find_task_of_instruction(f"  {task.instruction.upper().replace(' ', '  ').rstrip('.')}") is task


@pytest.mark.parametrize("instruction", ["", "Swap the position of the top and middle cubes."])
def test_an_unknown_instruction_is_refused(instruction: str) -> None:
    with pytest.raises(UnknownTaskError, match=f"no task has the instruction '{instruction}'"):
        find_task_of_instruction(instruction)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A file for tasks; what is added to the table is taken out again."""
    before = dict(TASKS)
    yield tmp_path / "tasks.yaml"
    TASKS.clear()
    TASKS.update(before)


def test_a_task_of_a_file_is_one_of_the_table(file: Path) -> None:
    file.write_text("""
pour:
  instruction: [Pour the water into the cup., Fill the cup.]
  keyframes: [start, cup full]
  cues: [first_frame, standstill]
  environment: pouring:Pour-v1
  expert: pouring:Expert
  stages: [cup filled]
  choices: [left, right]
  decisions: 1
wipe: {instruction: Wipe the table., keyframes: [start]}
""")
    add_tasks(file)
    assert find_task("pour") == Task(
        name="pour",
        instruction="Pour the water into the cup.",
        keyframes=("start", "cup full"),
        wordings=("Fill the cup.",),
        cues=("first_frame", "standstill"),
        environment="pouring:Pour-v1",
        expert="pouring:Expert",
        stages=("cup filled",),
        choices=("left", "right"),
        decisions=1,
    )
    assert find_task_of_instruction("fill the cup").name == "pour"
    assert known_tasks().find("please fill that cup") == "pour"
    assert simulated_tasks() == ("counting", "identity", "spatial", "temporal", "pour")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("counting: {instruction: Count., keyframes: [start]}", "there is a task 'counting' already: choose another"),
        ("swap: {instruction: swap the lower two cubes of the tower, keyframes: [a]}", "instruction of task 'spatial'"),
        ("pour: water", "instruction and keyframes are wanted"),
    ],
)
def test_a_file_that_is_at_odds_with_the_table_changes_nothing(file: Path, text: str, told: str) -> None:
    before = dict(TASKS)
    file.write_text("wipe: {instruction: Wipe the table., keyframes: [start]}\n" + text)
    with pytest.raises(TaskFileError, match=told):
        add_tasks(file)
    assert before == TASKS
