from collections.abc import Iterator
from pathlib import Path

import pytest

from kc_vla.core.task_file import TaskFileError
from kc_vla.core.tasks import (
    TASKS,
    AmbiguousTaskError,
    Task,
    UnknownTaskError,
    add_tasks,
    find_task,
    find_task_of_instruction,
    meant_among,
    played_tasks,
    simulated_tasks,
)
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.imported import task_and_instruction
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.keyframes.instructions import known_tasks
from kc_vla.keyframes.rules import RULES
from kc_vla.learning.common.data_tasks import known_task
from kc_vla.learning.common.errors import DataError


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
    assert played_tasks() == (*simulated_tasks(), "kitchen")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("counting: {instruction: Count., keyframes: [start]}", "there is a task 'counting' already: choose another"),
        ("pour: water", "instruction and keyframes are wanted"),
    ],
)
def test_a_file_that_is_at_odds_with_the_table_changes_nothing(file: Path, text: str, told: str) -> None:
    before = dict(TASKS)
    file.write_text("wipe: {instruction: Wipe the table., keyframes: [start]}\n" + text)
    with pytest.raises(TaskFileError, match=told):
        add_tasks(file)
    assert before == TASKS


def test_an_instruction_of_a_shipped_task_is_allowed_and_only_data_without_a_name_asks_which(file: Path) -> None:
    spatial, counting = TASKS["spatial"], TASKS["counting"]
    file.write_text(
        "tower:\n  instruction: [swap the lower two cubes of the tower, Turn the tower.]\n  keyframes: [start, end]\n"
        f"blink:\n  instruction: {counting.instruction}\n  keyframes: [start]\n"
    )
    add_tasks(file)
    assert find_task("tower").keyframes == ("start", "end")
    told = "is the instruction of the tasks 'spatial' and 'tower'"
    with pytest.raises(AmbiguousTaskError, match=told):
        find_task_of_instruction("Swap the lower two cubes of the tower.")
    assert find_task_of_instruction("Turn the tower") is find_task("tower")
    assert find_task_of_instruction(spatial.instruction) is spatial
    # a model that has learnt either is meant, whichever task has it
    learnt = [spatial.instruction, counting.instruction]
    assert meant_among("swap the lower two cubes of the tower", learnt) == spatial.instruction
    assert meant_among(find_task("blink").instruction, learnt) == counting.instruction
    assert meant_among("Turn the tower.", learnt) is None
    assert (
        meant_among(find_task("tower").instruction, [find_task("tower").instruction]) == find_task("tower").instruction
    )
    # the selector that comes with the stack takes the instruction for the task that it has learnt
    assert known_tasks({"spatial": spatial}).find("swap the lower two cubes of the tower") == "spatial"


def test_data_that_name_no_task_are_refused_where_two_have_their_instruction(file: Path) -> None:
    counting = TASKS["counting"]
    file.write_text(f"blink: {{instruction: '{counting.instruction}', keyframes: [start]}}\n")
    add_tasks(file)
    row = {"episode_index": 3, "length": 9, "tasks": [counting.instruction]}
    nameless, named = EpisodeInfo.from_row(row, "rows"), EpisodeInfo.from_row({**row, "task": "blink"}, "rows")
    assert (nameless.task, named.task) == ("", "blink")
    assert known_task(named, {}) is find_task("blink")
    assert known_task(nameless, {"counting": counting}) is counting  # as a model or --tasks knows it
    with pytest.raises(DataError, match=r"episode 3 does not name its task, and .* 'counting' and 'blink': name it"):
        known_task(nameless, {})
    with pytest.raises(ExchangeError, match="'counting' and 'blink': give --task"):
        task_and_instruction(None, counting.instruction, "video.mp4")
    assert task_and_instruction("blink", "", "video.mp4") == ("blink", counting.instruction)
