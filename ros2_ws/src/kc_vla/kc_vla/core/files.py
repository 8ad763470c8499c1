"""Files that are written whole or not at all, YAML to write into them, and a digest of what they hold."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import yaml

PART_OF = re.compile(r"^\.(.+)\.part$")
"""How a file is called while it is written, and its name; a process that is killed leaves such a file behind."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; what was written takes the place of `path` at the end, nothing does after an error.

    What was committed outlives a loss of power: it is on the disk before it takes its place. Of a link it is the file
    that it leads to, see `resolved`; another hard link of that file keeps what it holds.

    Raises:
        OSError: `path` is a folder, a device or the like, which nothing takes the place of; or its folder is missing or
            cannot be written; or its links lead in a circle.
    """
    path = resolved(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder: name a file", str(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "is no ordinary file, and is left alone", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    if not os.access(path.parent, os.W_OK | os.X_OK, effective_ids=True):
        raise PermissionError(
            errno.EACCES, "this folder cannot be written: name another one, or work on a copy", str(path.parent)
        )
    part = path.with_name(f".{path.name}.part")
    if part.is_symlink() or (part.exists() and part.stat().st_nlink > 1):
        part.unlink()  # writing to it would write to another file
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def resolved(path: Path) -> Path:
    """Return the file that `path` leads to where it is a symbolic link, over any number of links; else `path` itself.

    The file need not be there: a link may point to one that is still to be made.

    Raises:
        OSError: the links lead in a circle.
    """
    if not path.is_symlink():
        return path
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise OSError(errno.ELOOP, "is a symbolic link that leads in a circle", str(path))
    return real


_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""What `os.link` says on file systems without hard links, and of files of other users or with too many of them."""


def keep_as(path: Path, kept: Path) -> None:
    """Give the bytes of the file `path` the name `kept`, before another file takes the place of `path`.

    Args:
        path: a file, no symbolic link: of one the second name would lead to the new bytes, too.
        kept: a free name in the same folder.

    Raises:
        OSError: `path` is a symbolic link, `kept` is there already, or the folder cannot be written.
    """
    if path.is_symlink():
        raise OSError(errno.EINVAL, "is a symbolic link: resolve it before its file is kept", str(path))
    try:
        os.link(path, kept)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        if os.path.lexists(kept):
            raise FileExistsError(errno.EEXIST, "is there already", str(kept)) from error
        path.rename(kept)


def by_number(path: Path) -> tuple[tuple[int, int, str], ...]:
    """Return a key that orders names by the numbers in them: a_2 before a_10, with and without zeros in front.

    Names of equal numbers, such as a_1 and a_01, are ordered as texts.
    """
    parts = re.split(r"([0-9]+)", path.name)
    key = tuple((0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part) for part in parts)
    return (*key, (2, 0, path.name))


def write_whole(path: Path, text: str) -> None:
    """Write a text, in place of what `path` held before."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def write_fresh(path: str, data: bytes) -> None:
    """Write bytes to a file whose name is new each time, of which a process writes any number.

    At a kill the file is there whole or not at all; a loss of power can leave one that is empty or cut off. A link of
    that name is replaced, not followed. The path is a text: Python 3.12.0 to 3.12.5 never frees the parts of a `Path`
    (python/cpython#113993).

    Raises:
        OSError: it cannot be written; nothing is left then.
    """
    folder, name = os.path.split(path)
    part = os.path.join(folder, f".{name}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666), "wb") as file:
            file.write(data)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def yaml_text(content: object, width: int = 80) -> str:
    """Return `content` as block-style YAML in its own order, without aliases: readers of ours refuse them."""
    return yaml.dump(
        content, Dumper=_PlainDumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=width
    )


class _PlainDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # ten times as fast
    def ignore_aliases(self, data: object) -> bool:
        return True


def copy_whole(source: Path, path: Path) -> None:
    """Copy a file to `path`, in one step that replaces a former file there."""
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


def digest(content: str | bytes) -> str:
    """Return 16 hex digits that change with any of `content`: SHA-256, cut, against chance and no enemy."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]
