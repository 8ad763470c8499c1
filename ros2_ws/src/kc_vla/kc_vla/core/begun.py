"""Folders that a long work fills bit by bit: begun in one way, gone on with in the same, by one process at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from kc_vla.core.errors import StackError
from kc_vla.core.files import locks

_NOTED_LATELY = ("files",)
"""Setting that folders of before did not note; they go on without it."""


class BegunError(StackError):
    """A folder belongs to another run, or was begun in another way; the text says what to do."""


@contextmanager
def begun(path: Path, name: str, settings: Mapping[str, Any], made_by: str) -> Iterator[Mapping[str, Any]]:
    """Begin a folder or go on with it, for this process alone; one into which nothing has come yet is begun anew.

    Args:
        path: of the folder; made if it is not there.
        name: of the JSON file in it that says how it was begun.
        settings: that it is filled with, all of them, as JSON has them.
        made_by: the command that fills such folders.

    Yields:
        the settings that it was begun with.

    Raises:
        BegunError: it was begun in another way, holds something else, or is being written by another process.
    """
    file = path / name
    if path.exists() and not path.is_dir():
        raise BegunError(f"{path} is a file: name a folder")
    if not file.exists():
        if path.is_dir() and any(path.iterdir()):
            raise BegunError(f"{path} holds something that {made_by} has not made: choose another place")
        path.mkdir(parents=True, exist_ok=True)
        file.touch()
    with file.open("r+") as lock:
        if not locks(lock):
            raise BegunError(f"{path} is being written by another process: wait for it")
        known = _known(lock, file, settings)
        known = {**{name: settings[name] for name in _NOTED_LATELY if name in settings}, **known}
        for name, was, wanted in differences(known, settings):
            begun_so = f"without {name}" if was is None else f"with {name} '{was}'"
            asked = "none is asked for now" if wanted is None else f"not '{wanted}'"
            raise BegunError(f"{path} was begun {begun_so}, {asked}: go on as it was begun, or choose another place")
        yield known


def differences(one: Any, other: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield what two settings, or trees of settings, do not have in common.

    Each is a dotted name and both values, None for one that is missing.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            inner = f"{name}.{key}" if name else key
            if key in one and key in other:
                yield from differences(one[key], other[key], inner)
            else:
                yield inner, one.get(key), other.get(key)
    elif one != other:
        yield name, one, other


def _known(opened: IO[str], file: Path, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a folder was begun with; `settings` from now on where there is nothing in it but that."""
    if not any(each.is_file() and each != file for each in file.parent.rglob("*")):
        opened.write(json.dumps(dict(settings), indent=2) + "\n")
        opened.truncate()
        opened.flush()
        os.fsync(opened.fileno())  # what comes into the folder is worth nothing without it
        opened.seek(0)
    try:
        known = json.load(opened)
        if not isinstance(known, dict):
            raise TypeError("no settings")
    except (ValueError, TypeError) as error:
        raise BegunError(f"{file} is damaged ({error}): choose another place") from error
    return known
