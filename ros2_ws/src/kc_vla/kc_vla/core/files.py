"""Files that are written whole or not at all, and YAML to write into them."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import yaml

PART_OF = re.compile(r"^\.(.+)\.part$")
"""How a file is called while it is written, and its name; a process that is killed leaves such a file behind."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; what was written takes the place of `path` at the end, nothing does after an error.

    What was committed outlives a loss of power: it is on the disk before it takes its place. Of a link it is the file
    that it leads to.

    Raises:
        OSError: `path` is a folder, a device or the like, which nothing takes the place of; or its folder is missing.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder: name a file", str(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "is no ordinary file, and is left alone", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a text, in place of what `path` held before."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def yaml_text(content: object, width: int = 80) -> str:
    """Return `content` as block-style YAML in its own order, without aliases: readers of ours refuse them."""
    return yaml.dump(
        content, Dumper=_PlainDumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=width
    )


class _PlainDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # ten times as fast
    def ignore_aliases(self, data: object) -> bool:
        return True


def copy_whole(source: Path, path: Path) -> None:
    """Copy a file, in place of what `path` held before."""
    with replacing(path) as part:
        shutil.copyfile(source, part)


def locks(file: int | IO[Any], how: int = fcntl.LOCK_EX) -> bool:
    """Have an open file or folder for this process alone, until it is closed, however that comes about.

    Returns:
        whether nobody else has it; nobody is waited for.
    """
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
