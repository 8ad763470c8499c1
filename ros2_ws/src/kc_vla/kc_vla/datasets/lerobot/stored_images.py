"""Images that a data set keeps among its numbers: the file itself in a cell, or the path of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kc_vla.core.untrusted import inner_path, open_ordinary, read_open
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.media.images import ImageError, file_pixels, is_depth

_FOLDER = "images"
"""LeRobot's name of the folder in which single images lie."""
_MOST_BYTES = 64 << 20


def stored_images(folder: Path, column: pa.ChunkedArray, told: str, table: Path) -> Iterator[NDArray[np.uint8]]:
    """Return the images of a column, each (H, W, 3), RGB.

    Args:
        folder: of the data set, in which paths are looked up.
        column: cells of LeRobot's images, `{"bytes": ..., "path": ...}`, or of paths.
        told: what an error calls the episode and the camera.
        table: the file that the column is in.

    Raises:
        DataSetError: one is missing or cannot be read; the message names the frame, and the file where there is one.
    """
    for frame, cell in enumerate(column):
        place = f"{told}, frame {frame}"
        where, data = _content(folder, cell.as_py(), place, table)
        if not isinstance(data, bytes) or not data:
            raise DataSetError(f"{place}: its image cannot be read from {where}")
        if is_depth(data):
            raise DataSetError(f"{place}: its image in {where} has one channel of 16 bits: depth, and no color image")
        try:
            yield file_pixels(data)
        except ImageError as error:
            raise DataSetError(f"{place}: its image cannot be read from {where}: it {error}") from error


def holds_depth(folder: Path, column: pa.ChunkedArray, told: str, table: Path) -> bool:
    """Return whether the first image of a column is depth: PNG of 16 bits of gray; arguments and errors as above."""
    data = _content(folder, column[0].as_py(), told, table)[1] if len(column) else None
    return isinstance(data, bytes) and is_depth(data)


def _content(folder: Path, content: Any, told: str, table: Path) -> tuple[Path, Any]:
    """Return the file of an image, or the table that it is in, and the image's bytes."""
    data, path = (content.get("bytes"), content.get("path")) if isinstance(content, dict) else (None, content)
    return _read(folder, path, told) if not data and isinstance(path, str) and path else (table, data)


def _read(folder: Path, path: str, told: str) -> tuple[Path, Any]:
    """Return the file that a path names, and what is in it.

    A set that has moved to another machine names its images where they were: they are looked for by the part of the
    path from `images` on.
    """
    parts = (PureWindowsPath(path) if "\\" in path else PurePath(path)).parts
    names = [path] if not PurePath(path).is_absolute() else []
    names += ["/".join(parts[at:]) for at, part in enumerate(parts) if part == _FOLDER and at]
    names += [f"{_FOLDER}/{path}"] if names[:1] == [path] else []
    for name in names:
        try:
            place = inner_path(folder, name)
            if not place.resolve().is_relative_to(folder.resolve()) or not place.exists():
                continue
            return place, read_open(open_ordinary(place.resolve(), 0), _MOST_BYTES)
        except (OSError, ValueError) as error:
            raise DataSetError(f"{told}: its image {path[:300]!r} cannot be used: {error}") from error
    raise DataSetError(
        f"{told}: the table names its image by the path {path[:300]!r}, and {folder} has no such file: copy the folder "
        f"'{_FOLDER}' of the data set into it, or save the set anew with the images in the table"
    )
