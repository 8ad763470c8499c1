"""The numbers of an episode: its Parquet file as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import FOLLOWING, Column


def read_columns(
    path: Path, told: str, length: int, only: Sequence[str] | None = None, episode: int | None = None
) -> dict[str, NDArray[Any]]:
    """All numeric columns of a Parquet file, each (length,) or (length, D); others are left out.

    Args:
        path: of the file.
        told: what an error calls the episode.
        length: frames that it must have.
        only: names of the columns to read; all by default.
        episode: index of the episode whose rows are wanted, in a file of several.

    Raises:
        DataSetError: it cannot be read, has another length, or holds a number that is missing or not finite.
    """
    try:
        of_episode = None if episode is None else [("episode_index", "==", episode)]
        table = pq.read_table(path, columns=only, filters=of_episode)
    except FileNotFoundError:
        raise DataSetError(f"{told}: its columns {path} are missing") from None
    except (OSError, pa.ArrowException) as error:
        raise DataSetError(f"{told}: its columns {path} cannot be read: {error}") from error
    if table.num_rows != length:
        raise DataSetError(f"{told}: {path} has {table.num_rows} rows, the episode has {length} frames")
    arrays = {name: _array(table.column(name), f"{told}, column {name}") for name in table.column_names}
    return {name: array for name, array in arrays.items() if array is not None}


def write_columns(path: Path, columns: Mapping[str, NDArray[Any]], recorded: Sequence[Column]) -> None:
    """Write a Parquet file of those of `recorded` and `FOLLOWING` that are in `columns`, each (T,) or (T, D).

    Raises:
        OSError: it cannot be written; what is there then is not whole.
    """
    arrays = {}
    for column in (*recorded, *FOLLOWING):
        if column.key in columns:
            flat = pa.array(np.ascontiguousarray(columns[column.key], column.dtype).ravel())
            arrays[column.key] = flat if column.scalar else pa.FixedSizeListArray.from_arrays(flat, len(column.names))
    pq.write_table(pa.table(arrays), path)


def _array(column: pa.ChunkedArray, told: str) -> NDArray[Any] | None:
    """A column as an array, or None if it does not hold numbers."""
    kind, width = column.type, 0
    nested = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    values = kind.value_type if nested else kind
    if not (pa.types.is_integer(values) or pa.types.is_floating(values) or pa.types.is_boolean(values)):
        return None
    whole = column.combine_chunks()
    if nested:
        sizes = whole.value_lengths().to_numpy(zero_copy_only=False)
        width = int(sizes[0]) if len(sizes) else 0
        different = np.flatnonzero(sizes != width)
        if len(different):
            frame = int(different[0])
            raise DataSetError(f"{told}, frame {frame}: {sizes[frame]} numbers, {width} in frame 0")
        whole = whole.flatten()
    array = whole.to_numpy(zero_copy_only=False)
    if whole.null_count:
        array = np.where(whole.is_null().to_numpy(zero_copy_only=False), np.nan, array.astype(float))
    array = array.reshape(-1, width) if nested else array
    bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
    if len(bad):
        raise DataSetError(f"{told}, frame {bad[0]}: a number is missing or not finite")
    return np.asarray(array)
