import pytest

from kc_vla.core.tasks import TASKS, Task, UnknownTaskError, find_task, find_task_of_instruction
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
