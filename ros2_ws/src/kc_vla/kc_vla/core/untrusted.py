"""What others wrote: files that are read and taken for JSON, YAML or a name, and texts that people are shown.

It does no harm, whatever is in it. Every error is a `ValueError` whose text says in one line what is wrong, to be put
behind the name of the file.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

MOST_BYTES = 1 << 28
"""Largest size of a file that is read as a whole, bytes."""
_MOST_YAML, _MOST_DEPTH, _MOST_PLAIN = 1 << 20, 32, 10_000
_MOST_TOLD = 300
_ESCAPE = re.compile(
    r"(?:\x1b[\[]|\x9b)[0-?]*[ -/]*[@-~]?"  # colors, cursor, screen
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90-\x9f]*(?:\x07|\x1b\\|\x9c)"  # titles, links, commands
    r"|\x1b[#%(-/]?[0-~]?"  # not a blank: a person's text goes on behind it
)
"""Sequences that a terminal obeys, in seven and in eight bits; one that is cut off, too."""
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_LOADER):  # type: ignore[valid-type,misc]
    """Takes no mapping that has a key twice: which of the two is meant?"""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} is there twice", key.start_mark
                )
            seen.add((key.tag, key.value if isinstance(key, yaml.ScalarNode) else id(key)))
        return super().construct_mapping(node, deep)


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
    """Return the text of an ordinary file; links to one are followed.

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
    """Return the bytes of an open file, from where it stands, and close it.

    Raises:
        ValueError: they are more than `most`.
    """
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
    """Return the content of a JSON text; ValueError where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def parsed_yaml(text: str, aliases: bool = False) -> Any:
    """Return the content of a YAML text of one document.

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
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, TypeError, OverflowError) as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        said = error.problem if isinstance(error, yaml.MarkedYAMLError) and error.problem else str(error)
        where = f" at line {mark.line + 1}" if mark else ""
        raise ValueError(f"is no YAML{where}: {' '.join(said.split())[:_MOST_TOLD]}") from error


def one_line(text: str) -> str:
    """Return a third-party text as one line that can be shown anywhere.

    Escape sequences of terminals are left out whole, other characters that cannot be seen (controls, marks that change
    the direction of writing, halves of letters) become spaces, and so do ends of lines.
    """
    plain = _ESCAPE.sub("", text)
    return " ".join("".join(letter if letter.isprintable() else " " for letter in plain).split())


def without_controls(text: str) -> str:
    """Return a part of a third-party text that a terminal cannot take for a command; its lines and tabs stay."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")


def inner_path(folder: Path, name: str) -> Path:
    """Return the file called `name`, a path with /, in a folder.

    Raises:
        ValueError: it leads out of the folder, or can be no path.
    """
    if not name or not name.isprintable() or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise ValueError(f"the path {name[:_MOST_TOLD]!r} leads out of {folder}: only files in there can be named")
    return folder / name


def has_half_letters(text: str) -> bool:
    """Return whether a text has surrogates, which no text in UTF-8 can."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
