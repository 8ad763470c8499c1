from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.tasks import TASKS
from kc_vla.keyframes.instructions import InstructionMatcher, UnknownInstructionError, known_tasks

# Written after threshold and wordings were fixed.
OTHER_WORDS = {
    "counting": (
        "The lamp will flash; after two flashes push the cube into the target zone.",
        "do not move until the light has flashed twice, then push the cube to the target",
    ),
    "identity": (
        "Watch the teacher swap the cubes, then pick up the one that was in the middle at first.",
        "pick the cube originally in the middle once the swapping is over",
    ),
    "spatial": (
        "Please swap the bottom cube and the middle cube of the stack",
        "exchange the positions of the middle and bottom blocks",
    ),
    "temporal": (
        "First the red cube: pick it up and put it back. Then green, then blue.",
        "pick up and place back the red cube, next the green cube and at last the blue cube",
    ),
}


@pytest.fixture(scope="module")
def matcher() -> InstructionMatcher:
    return known_tasks()


@pytest.mark.parametrize("task", TASKS)
def test_the_instruction_of_the_task_table_means_its_task(matcher, task):
    assert matcher.find(TASKS[task].instruction) == task


@pytest.mark.parametrize(("task", "text"), [(task, text) for task, texts in OTHER_WORDS.items() for text in texts])
def test_other_words_mean_the_same_task(matcher, task, text):
    assert matcher.find(text) == task


@pytest.mark.parametrize(
    "text",
    [
        "Open the drawer and put the spoon in it.",
        "Make a cup of coffee.",
        "Press the button on the lamp.",
        "Sort the blocks by size.",
        "Good morning!",
        "...",
    ],
)
def test_what_is_no_known_task_is_rejected(matcher, text):
    with pytest.raises(UnknownInstructionError, match="no known task has an instruction like"):
        matcher.find(text)


def test_what_may_mean_two_tasks_is_rejected(matcher):
    with pytest.raises(UnknownInstructionError, match="may mean 'identity' or 'temporal': say it more clearly"):
        matcher.find("pick up the cube")


@given(st.text(max_size=200))
def test_whatever_is_said_the_answer_is_a_task_or_one_line(text):
    matcher = known_tasks()
    assert all(0 <= alike <= 1 + 1e-9 for alike in matcher.likeness(text).values())
    with suppress(UnknownInstructionError):
        assert matcher.find(text) in TASKS
        return
    with pytest.raises(UnknownInstructionError) as raised:
        matcher.find(text)
    assert len(str(raised.value).splitlines()) == 1
