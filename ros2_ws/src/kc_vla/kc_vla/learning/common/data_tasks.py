"""The tasks of recorded episodes: from a file of tasks, from the task table, or as the data sets themselves tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from kc_vla.core.tasks import TASKS, AmbiguousTaskError, Task, UnknownTaskError, find_task_of_instruction
from kc_vla.datasets.lerobot.reader import DataSet, EpisodeInfo
from kc_vla.learning.common.errors import DataError

_LETTERS = 48
"""Most letters of a task's name that is made from an instruction."""
Tell = Callable[[str], object]


def tasks_of(
    data_sets: Iterable[DataSet], own: Mapping[str, Task], tell: Tell
) -> list[tuple[DataSet, EpisodeInfo, Task]]:
    """Return every episode with its task: of `own`, else of the task table, else one that only its data set knows.

    Such a task has as many keyframes as the most that an episode has of it, with the labels of
    `meta/annotations.jsonl`, or numbers where there are none.

    Raises:
        DataError: an episode has no instruction, or one of several tasks and no name.
    """
    episodes = [(data_set, info) for data_set in data_sets for info in data_set.episodes]
    found = {(data_set.folder, info.index): known_task(info, own) for data_set, info in episodes}
    unknown = [(data_set, info) for data_set, info in episodes if found[data_set.folder, info.index] is None]
    for data_set, info in unknown:
        if not info.instruction.strip():
            raise DataError(f"{data_set.folder.name} episode {info.index}: it has no instruction, which tells its task")
    unknown.sort(key=lambda row: _name(row[1]))
    for name, group in groupby(unknown, key=lambda row: _name(row[1])):
        rows = list(group)
        task = _own_task(name, rows)
        tell(
            f"'{rows[0][1].instruction}' is in no task table: task '{name}' of {len(task.keyframes)} keyframes, as its "
            f"data set has them ({', '.join(task.keyframes)}); --tasks FILE gives others"
        )
        found.update({(data_set.folder, info.index): task for data_set, info in rows})
    resolved = [(data_set, info, found[data_set.folder, info.index]) for data_set, info in episodes]
    return [(data_set, info, task) for data_set, info, task in resolved if task is not None]


def known_task(info: EpisodeInfo, own: Mapping[str, Task]) -> Task | None:
    """Return the task of an episode, by its name or its instruction; None if it has none.

    It is one of `own`, else of the task table.

    Raises:
        DataError: the episode names no task, and several have its instruction.
    """
    for table in (own, TASKS):
        if info.task in table:
            return table[info.task]
        try:
            return find_task_of_instruction(info.instruction, table.values())
        except AmbiguousTaskError as error:
            raise DataError(
                f"episode {info.index} does not name its task, and {error}: "
                "name it in the data ('task' in meta/episodes), or give the one that is meant with --tasks FILE"
            ) from error
        except UnknownTaskError:
            continue
    return None


def _name(info: EpisodeInfo) -> str:
    return info.task or "_".join(re.findall(r"[^\W_]+", info.instruction.casefold()))[:_LETTERS]


def _own_task(name: str, rows: Sequence[tuple[DataSet, EpisodeInfo]]) -> Task:
    count = max(1, *(len(data_set.keyframes(info.index)) for data_set, info in rows))
    indices = {(data_set.folder, info.index) for data_set, info in rows}
    labels: dict[int, str] = {0: "start"}
    for data_set in {data_set.folder: data_set for data_set, _ in rows}.values():
        for row in data_set.annotations():
            if (data_set.folder, row.episode) in indices and row.label:
                labels[row.phase] = row.label
    wordings = list(dict.fromkeys(info.instruction for _, info in rows))
    keyframes = tuple(labels.get(phase, f"keyframe {phase}") for phase in range(count))
    if len(set(keyframes)) < count:  # labels that do not tell them apart are none
        keyframes = ("start", *(f"keyframe {phase}" for phase in range(1, count)))
    return Task(name, wordings[0], keyframes, wordings=tuple(wordings[1:]))
