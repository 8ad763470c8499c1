"""A folder of collected files, each with a number: begun in one way, gone on with after an interruption."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.core.begun import BegunError, begun
from kc_vla.datasets.lerobot.errors import DataSetError

_NUMBER = "{:06d}"


@dataclass(frozen=True)
class CollectedFolder:
    """A folder into which files are collected one by one.

    Attributes:
        path: of the folder.
        settings: with which it was begun.
        form: of the names of the files, such as "scene_{:06d}.zip".
    """

    path: Path
    settings: Mapping[str, Any]
    form: str

    def file(self, number: int) -> Path:
        """Return where the file of this number is, or will be."""
        return self.path / self.form.format(number)

    def missing(self, numbers: Iterable[int]) -> list[int]:
        """Return those of some numbers whose files are still to be made, in order."""
        return [number for number in numbers if not self.file(number).exists()]

    def files(self) -> list[Path]:
        """Return the files that are there, in order."""
        return sorted(self.path.glob(self.form.replace(_NUMBER, "[0-9]*")))


@contextmanager
def collecting(
    path: Path, name: str, settings: Mapping[str, Any], made_by: str, form: str
) -> Iterator[CollectedFolder]:
    """Begin a folder or go on with it, for this process alone.

    Args:
        path: of the folder; made if it is not there.
        name: of the JSON file in it that says how it was begun.
        settings: that it is filled with, all of them, as JSON has them.
        made_by: the command that fills such folders.
        form: see `CollectedFolder`.

    Raises:
        DataSetError: it was begun in another way, holds something else, or is being written by another process.
    """
    try:
        with begun(path, name, settings, made_by) as known:
            yield CollectedFolder(path, known, form)
    except BegunError as error:
        raise DataSetError(str(error)) from error
