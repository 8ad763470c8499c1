"""Your own tasks, from a YAML file: the tasks of a data set, or tasks for the simulator.

```yaml
pour:
  instruction: Pour the water into the cup.      # or a list of them
  keyframes: [start, cup grasped, cup full]      # labels in order, the first for frame 0
```

An entry may also have the other fields of `kc_vla.core.task.Task`, under the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kc_vla.core.errors import StackError
from kc_vla.core.task import Task, plain
from kc_vla.core.untrusted import parsed_yaml, read_text

_LISTS = ("cues", "stages", "choices")
_NAMES = ("environment", "expert")
_FIELDS = ("instruction", "keyframes", *_LISTS, *_NAMES, "decisions")


class TaskFileError(StackError):
    """A file of tasks that cannot be read or is not as it should be."""


def read_tasks(path: Path) -> dict[str, Task]:
    """Return the tasks of a file by their names.

    Raises:
        TaskFileError: it cannot be read or is not as it should be.
    """
    try:
        return parse_tasks(read_text(path), str(path))
    except (OSError, ValueError) as error:
        raise TaskFileError(f"the tasks in {path} cannot be read: {error}") from error


def parse_tasks(text: str, told: str) -> dict[str, Task]:
    """Return the tasks in a YAML text that an error calls `told`.

    Raises:
        TaskFileError: it is not as it should be.
    """
    try:
        content = parsed_yaml(text)
    except ValueError as error:
        raise TaskFileError(f"{told} {error}") from error
    tasks = tasks_from(content, told)
    owner: dict[str, str] = {}
    for name, task in tasks.items():
        for said in task.instructions:
            if (other := owner.setdefault(plain(said), name)) != name:
                raise TaskFileError(f"{told}: '{said}' is the instruction of two tasks, '{other}' and '{name}'")
    return tasks


def tasks_from(content: Any, told: str) -> dict[str, Task]:
    """Return tasks from plain values, as `tasks_as_dict` makes them; an error begins with `told`.

    Raises:
        TaskFileError: they are not as they should be.
    """
    if not isinstance(content, dict) or not content:
        raise TaskFileError(f"{told}: the name of each task with its instruction and keyframes is wanted")
    tasks = {}
    for name, row in content.items():
        if not isinstance(name, str) or not name.strip():
            raise TaskFileError(f"{told}: the name of a task must be a word, not {name!r}")
        tasks[name] = _task(name, row, f"{told}, task '{name}'")
    return tasks


def tasks_as_dict(tasks: Iterable[Task]) -> dict[str, Any]:
    """Return what a model keeps of tasks, as plain values: instructions and keyframes."""
    return {task.name: {"instruction": list(task.instructions), "keyframes": list(task.keyframes)} for task in tasks}


def _task(name: str, row: Any, told: str) -> Task:
    if not isinstance(row, Mapping):
        raise TaskFileError(f"{told}: instruction and keyframes are wanted, not {row!r}")
    if others := [str(key) for key in row if key not in _FIELDS]:
        raise TaskFileError(f"{told}: there is no '{others[0]}': it has {', '.join(_FIELDS)}")
    said, labels = row.get("instruction"), row.get("keyframes")
    instructions = _texts([said] if isinstance(said, str) else said)
    keyframes = _texts(labels)
    if instructions is None:
        raise TaskFileError(f"{told}: instruction must be a text, or a list of texts, not {said!r}")
    if keyframes is None:
        raise TaskFileError(f"{told}: keyframes must be a list of labels, the first for frame 0, not {labels!r}")
    if len(set(keyframes)) < len(keyframes):
        raise TaskFileError(f"{told}: each keyframe needs a label of its own: {', '.join(keyframes)}")
    try:
        return Task(name, instructions[0], keyframes, wordings=instructions[1:], **_more(row, told))
    except ValueError as error:
        raise TaskFileError(f"{told}: {error}") from error


def _more(row: Mapping[Any, Any], told: str) -> dict[str, Any]:
    """Return the fields that need not be there."""
    more: dict[str, Any] = {}
    for key in (key for key in _LISTS if key in row):
        more[key] = _texts(row[key])
        if more[key] is None:
            raise TaskFileError(f"{told}: {key} must be a list of texts, not {row[key]!r}")
    for key in (key for key in _NAMES if key in row):
        more[key] = row[key]
        if not isinstance(row[key], str):
            raise TaskFileError(f"{told}: {key} must be a text, not {row[key]!r}")
    if "decisions" in row:
        more["decisions"] = row["decisions"]
        if type(row["decisions"]) is not int or row["decisions"] < 0:
            raise TaskFileError(f"{told}: decisions must be a whole number from 0, not {row['decisions']!r}")
    return more


def _texts(values: Any) -> tuple[str, ...] | None:
    """Return a list of texts, or None where it is something else."""
    if not isinstance(values, list) or not values:
        return None
    return tuple(values) if all(isinstance(value, str) and value.strip() for value in values) else None
