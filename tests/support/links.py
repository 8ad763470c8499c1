"""Lays a file out as people do: itself, behind symbolic links of all kinds, with hard links, in a folder to read."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

_NOBODY = 65534


class Layout(NamedTuple):
    """How a file lies.

    Attributes:
        links: of each symbolic link between the name and the file whether it is relative.
        hard: whether the file has another name, a hard link.
        taken: what stands at the name that a damaged file would be kept under, if anything.
    """

    links: tuple[bool, ...]
    hard: bool
    taken: str


LAYOUTS = st.builds(
    Layout,
    st.lists(st.booleans(), max_size=3).map(tuple),
    st.booleans(),
    st.sampled_from(["", "file", "dangling link", "link to the file"]),
)


class Laid(NamedTuple):
    """Where it is: the `name` to give to a command, the `real` file, and its other name `hard` if it has one."""

    name: Path
    real: Path
    hard: Path | None


def lay_out(folder: Path, file_name: str, content: bytes, layout: Layout) -> Laid:
    """Write the file into folders below `folder`, the name that is given in one of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    places = [folder / f"place{k}" for k in range(len(layout.links) + 1)]
    for place in places:
        place.mkdir(parents=True)
    real = places[-1] / file_name
    real.write_bytes(content)
    hard = folder / "other_name" if layout.hard else None
    if hard is not None:
        hard.hardlink_to(real)
    kept = real.with_name(f"{file_name}.damaged")
    if layout.taken == "file":
        kept.write_text("of an earlier repair")
    elif layout.taken:
        kept.symlink_to(real.name if layout.taken == "link to the file" else "nowhere")
    for number, relative in reversed(list(enumerate(layout.links))):
        link, target = places[number] / file_name, places[number + 1] / file_name
        link.symlink_to(os.path.relpath(target, link.parent) if relative else target)
    return Laid(places[0] / file_name, real, hard)


@contextmanager
def read_only(name: str, content: bytes) -> Iterator[Path]:
    """Give a file in a folder that this process, of no rights beyond a user's, may read and not write."""
    folder = Path(tempfile.mkdtemp(prefix="kc_vla-read-only-"))
    path = folder / name
    path.write_bytes(content)
    was = os.geteuid()
    try:
        if was == 0:
            os.chown(folder, _NOBODY, -1)
            os.chown(path, _NOBODY, -1)
        folder.chmod(0o555)
        if was == 0:
            os.seteuid(_NOBODY)
        try:
            yield path
        finally:
            os.seteuid(was)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
