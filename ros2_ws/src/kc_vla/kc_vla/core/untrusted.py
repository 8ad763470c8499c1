"""Files that others wrote: read, and taken for JSON, YAML or the name of a file, without harm whatever is in them.

Every error is a `ValueError` whose text says in one line what is wrong, to be put behind the name of the file.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

MOST_BYTES = 1 << 28
"""Of a file that is read at once."""
_MOST_YAML, _MOST_DEPTH, _MOST_PLAIN = 1 << 20, 32, 10_000
_MOST_TOLD = 300
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def open_ordinary(path: Path, flags: int) -> int:
    """Open a file, and no link, device or pipe, and return its descriptor, which is to be closed.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is something else than an ordinary file.
    """
    try:
        return _opened(path, flags | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError("is a link: put the file itself in its place") from None
        raise


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """The text of an ordinary file; links to one are followed.

    Raises:
        OSError: it cannot be read.
        ValueError: it is a device or a pipe, larger than `most` bytes, or no UTF-8.
    """
    data = read_open(_opened(path, os.O_RDONLY), most)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"is no text in UTF-8: {error.reason} at byte {error.start}") from None


def read_open(descriptor: int, most: int = MOST_BYTES) -> bytes:
    """The bytes of an open file, from where it stands; it is closed. ValueError where they are more than `most`."""
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"is larger than {most / 1e6:.0f} MB")
    return data


def _opened(path: Path, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)  # a pipe would wait for its other end
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise ValueError("is no ordinary file")


def parsed_json(text: str) -> Any:
    """The content of a JSON text; ValueError where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def parsed_yaml(text: str, aliases: bool = False) -> Any:
    """The content of a YAML text of one document.

    Args:
        text: the text.
        aliases: take them, too: then what is returned, written out, can be more than any memory holds.

    Raises:
        ValueError: it is none, is too long, is nested too deeply, or has aliases.
    """
    if len(text) > _MOST_YAML:
        raise ValueError(f"has more than {_MOST_YAML} letters")
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_DEPTH:
                raise ValueError("is nested too deeply")
            if isinstance(event, yaml.AliasEvent) and not aliases:
                raise ValueError(f"has the alias *{event.anchor}: write out what it stands for")
            if aliases and isinstance(event, yaml.ScalarEvent) and event.value == "<<":
                raise ValueError("has a merge key <<")  # it copies what an alias stands for
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and len(event.value) > _MOST_PLAIN:
                raise ValueError(f"has a word of {len(event.value)} letters")  # as a number it would take minutes
        return yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, TypeError, OverflowError) as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        said = error.problem if isinstance(error, yaml.MarkedYAMLError) and error.problem else str(error)
        where = f" at line {mark.line + 1}" if mark else ""
        raise ValueError(f"is no YAML{where}: {' '.join(said.split())[:_MOST_TOLD]}") from error


def inner_path(folder: Path, name: str) -> Path:
    """The file called `name`, a path with /, in a folder.

    Raises:
        ValueError: it leads out of the folder, or can be no path.
    """
    if not name or not name.isprintable() or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise ValueError(f"the path {name[:_MOST_TOLD]!r} leads out of {folder}: only files in there can be named")
    return folder / name
