"""The result of an import, and the task of each imported episode."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.tasks import TASKS, UnknownTaskError, find_task_of_instruction
from kc_vla.datasets.exchange.errors import ExchangeError


@dataclass(frozen=True)
class Imported:
    """What became of a source.

    Attributes:
        folders: of the episodes, each with its bag in it.
        frames: in all.
        notes: what a person should know, a line each.
    """

    folders: tuple[Path, ...]
    frames: int
    notes: tuple[str, ...]


def task_and_instruction(task: str | None, instruction: str, told: str) -> tuple[str, str]:
    """Return the name of the task and the instruction of an episode, each from the other where it is not given.

    Args:
        task: name; need not be in the task table.
        instruction: in words; may be empty.
        told: what an error calls the episode.

    Raises:
        ExchangeError: neither tells the task.
    """
    if task:
        known = TASKS.get(task)
        text = instruction or (known.instruction if known else "")
        if not text:
            raise ExchangeError(f"{told}: '{task}' is not in the task table: give its --instruction, too")
        return task, text
    if not instruction:
        raise ExchangeError(f"{told}: it does not say what its task is: give --task, one of {', '.join(TASKS)}")
    try:
        return find_task_of_instruction(instruction).name, instruction
    except UnknownTaskError as error:
        raise ExchangeError(f"{told}: {error}: give --task") from error
