from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.task_file import TaskFileError, parse_tasks, read_tasks, tasks_as_dict
from kc_vla.core.tasks import Task

POUR = """
pour:
  instruction: Pour the water into the cup.
  keyframes: [start, cup grasped, cup full]
wipe:
  instruction: [Wipe the table., Clean the table.]
  keyframes: [start]
"""
TEXTS = st.text(st.characters(codec="ascii", categories=["L", "Zs"]), min_size=1, max_size=9).filter(str.strip)


def test_a_file_tells_name_instructions_and_labels(tmp_path: Path) -> None:
    (tmp_path / "tasks.yaml").write_text(POUR)
    assert read_tasks(tmp_path / "tasks.yaml") == {
        "pour": Task("pour", "Pour the water into the cup.", ("start", "cup grasped", "cup full")),
        "wipe": Task("wipe", "Wipe the table.", ("start",), wordings=("Clean the table.",)),
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the name of each task with its instruction and keyframes is wanted"),
        ("- pour", "the name of each task"),
        ("pour: [", "f.yaml is no YAML at line"),
        ("a: &a {instruction: go, keyframes: [s]}\nb: *a", r"f.yaml has the alias \*a"),
        ("3: {instruction: a, keyframes: [b]}", "the name of a task must be a word, not 3"),
        ("pour: water", "task 'pour': instruction and keyframes are wanted, not 'water'"),
        ("pour: {keyframes: [start]}", "task 'pour': instruction must be a text, or a list of texts, not None"),
        ("pour: {instruction: [], keyframes: [start]}", r"task 'pour': instruction must be a text, .* not \[\]"),
        ("pour: {instruction: a}", "task 'pour': keyframes must be a list of labels, the first for frame 0, not None"),
        ("pour: {instruction: a, keyframes: 3}", "keyframes must be a list of labels, .* not 3"),
        ("pour: {instruction: a, keyframes: [a, a]}", "each keyframe needs a label of its own: a, a"),
        (
            "pour: {instruction: a, keyframes: [a], phases: 2}",
            "there is no 'phases': it has instruction, keyframes, cues, ",
        ),
        (
            "pour: {instruction: a, keyframes: [a], cues: first_frame}",
            "cues must be a list of texts, not 'first_frame'",
        ),
        ("pour: {instruction: a, keyframes: [a, b], cues: [c]}", "task 'pour': 1 cues for 2 keyframes: one for each"),
        ("pour: {instruction: a, keyframes: [a], expert: [b]}", r"expert must be a text, not \['b'\]"),
        ("pour: {instruction: a, keyframes: [a], environment: b}", "an environment, but no expert that plays it"),
        ("pour: {instruction: a, keyframes: [a], decisions: -1}", "decisions must be a whole number from 0, not -1"),
        ("pour: {instruction: a, keyframes: [a], decisions: 1}", "moments of decision: 1, but no two choices"),
        (
            "a: {instruction: Go., keyframes: [s]}\nb: {instruction: go, keyframes: [s]}",
            "'go' is the instruction of two tasks, 'a' and 'b'",
        ),
    ],
)
def test_a_bad_file_is_one_line_that_says_what_is_wrong(text: str, told: str) -> None:
    with pytest.raises(TaskFileError, match=told) as raised:
        parse_tasks(text, "f.yaml")
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("f.yaml")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match=r"the tasks in .*none\.yaml cannot be read"):
        read_tasks(tmp_path / "none.yaml")


NESTED = st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(TEXTS, x))


@given(st.text() | NESTED)
def test_anything_is_read_or_refused(content: object) -> None:
    with suppress(TaskFileError):
        parse_tasks(content if isinstance(content, str) else yaml.safe_dump(content), "f.yaml")


@given(st.dictionaries(TEXTS, st.lists(TEXTS, min_size=1, max_size=12, unique=True), min_size=1, max_size=4))
def test_tasks_survive_the_file(drawn: dict[str, list[str]]) -> None:
    tasks = {name: Task(name, f"do number {k}", tuple(labels)) for k, (name, labels) in enumerate(drawn.items())}
    assert parse_tasks(yaml.safe_dump(tasks_as_dict(tasks.values())), "f.yaml") == tasks
