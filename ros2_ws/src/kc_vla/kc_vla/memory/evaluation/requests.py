"""Sequences of requests: traces from files, and what household tasks one after the other ask a memory for."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


class RequestsError(ValueError):
    """A file of requests cannot be read; the message is one line for people."""


def read_trace(path: Path) -> list[int]:
    """Return the requests of a trace: one integer a line, lines that begin with * are left out; `.gz` is unpacked.

    Raises:
        RequestsError: a line is no integer, or there is none.
        OSError: it cannot be read.
    """
    requests = []
    try:
        lines = _lines(path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RequestsError(f"{path} is no file that gzip made, or a part of one: {error}") from error
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("*"):
            continue
        try:
            requests.append(int(text))
        except ValueError as error:
            raise RequestsError(f"{path}, line {number}: '{text[:40]}' is no integer: one is wanted a line") from error
    if not requests:
        raise RequestsError(f"{path} has no requests: one integer a line is wanted")
    return requests


@dataclass(frozen=True)
class HouseholdTask:
    """What one annotated task asks for.

    Attributes:
        scene: in which it takes place.
        types: of the objects that it is about, each once.
    """

    scene: str
    types: tuple[str, ...]


def read_household(path: Path) -> list[HouseholdTask]:
    """Return the tasks of a file of annotated ALFRED tasks, one JSON object a line.

    It reads `scene` and `pddl` of them.

    Raises:
        RequestsError: it is something else.
        OSError: it cannot be read.
    """
    tasks = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            about = json.loads(line)
            tasks.append(HouseholdTask(str(about["scene"]), _types(about["pddl"])))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RequestsError(f"{path}, line {number}: no annotated task: 'scene' and 'pddl' are wanted") from error
    if not tasks:
        raise RequestsError(f"{path} has no tasks")
    return tasks


def household_stream(tasks: Sequence[HouseholdTask], count: int, seed: int) -> list[HouseholdTask]:
    """Return `count` of the tasks, drawn at random with `seed`, one after the other."""
    return [tasks[int(index)] for index in np.random.default_rng(seed).integers(len(tasks), size=count)]


def requests_of(stream: Iterable[HouseholdTask]) -> list[str]:
    """Return what tasks ask a memory for: the type of each object, task after task."""
    return [each for task in stream for each in task.types]


def _types(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types of the object, what it is put into, where it goes, and what is switched on.

    A knife comes first where the object is sliced.
    """
    named = (about.get(key, "") for key in ("object_target", "mrecep_target", "parent_target", "toggle_target"))
    knife = ("Knife",) if about.get("object_sliced") else ()
    return tuple(dict.fromkeys(str(each) for each in (*knife, *named) if each))


def _lines(path: Path) -> list[str]:
    packed = path.suffix == ".gz"
    with gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as file:
        return file.readlines()
