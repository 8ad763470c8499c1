"""What is known of one episode of a data set: its row of `meta/episodes.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kc_vla.core.tasks import UnknownTaskError, find_task_of_instruction
from kc_vla.datasets.lerobot.errors import DataSetError

_OPTIONAL = {"seed": int, "variant": str, "looks": str, "attempt": int}


@dataclass(frozen=True)
class EpisodeInfo:
    """One episode of a data set.

    Attributes:
        index: in the data set.
        length: frames.
        task: its name, where the data set says it or the task table has the instruction; else empty.
        instruction: in words.
        seed: of the simulator; None if the episode was recorded elsewhere, as in the following.
        variant: of the task.
        looks: of the simulator.
        attempt: how many recordings of that seed failed before.
    """

    index: int
    length: int
    task: str
    instruction: str
    seed: int | None = None
    variant: str | None = None
    looks: str | None = None
    attempt: int | None = None

    def row(self) -> dict[str, Any]:
        """Return the row of `episodes.jsonl`: what LeRobot wants, then what is ours."""
        return {
            "episode_index": self.index,
            "tasks": [self.instruction],
            "length": self.length,
            "task": self.task,
            **{name: getattr(self, name) for name in _OPTIONAL},
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any], told: str) -> EpisodeInfo:
        """Return the episode of a row, ours or another's; an error begins with `told`.

        Raises:
            DataSetError: a field is missing or bad.
        """
        index, length, tasks = row.get("episode_index"), row.get("length"), row.get("tasks")
        if type(index) is not int or index < 0:
            raise DataSetError(f"{told}: bad episode_index {index!r}")
        told = f"{told}, episode {index}"
        if type(length) is not int or length < 1:
            raise DataSetError(f"{told}: bad length {length!r}")
        if not isinstance(tasks, list) or len(tasks) != 1 or not isinstance(tasks[0], str):
            raise DataSetError(f"{told}: tasks must be a list of one instruction, not {tasks!r}")
        for name, kind in _OPTIONAL.items():
            if row.get(name) is not None and type(row[name]) is not kind:
                raise DataSetError(f"{told}: bad {name} {row[name]!r}")
        return cls(
            index, length, _task(row.get("task"), tasks[0]), tasks[0], **{name: row.get(name) for name in _OPTIONAL}
        )


def _task(name: object, instruction: str) -> str:
    if isinstance(name, str):
        return name
    try:
        return find_task_of_instruction(instruction).name
    except UnknownTaskError:
        return ""
