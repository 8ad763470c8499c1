"""The numbers of an episode: its Parquet file as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import FOLLOWING, Column
from kc_vla.datasets.lerobot.tables import array_of, episode_table, is_numeric


class Columns(Mapping[str, NDArray[Any]]):
    """The numeric columns of an episode, each (length,) or (length, D), by name.

    A column is checked when it is asked for: a missing number in one that nobody uses harms nobody. Asking raises
    DataSetError where a number is missing or not finite, or where the rows have different sizes.

    Attributes:
        without_numbers: names of the other columns of the table.
    """

    def __init__(self, table: pa.Table, told: str) -> None:
        """Offer the numeric columns of a table; `told` is what an error calls the episode."""
        self._table, self._told = table, told
        self._names = [name for name in table.column_names if is_numeric(table.schema.field(name).type)]
        self._known: dict[str, NDArray[Any]] = {}
        self.without_numbers = frozenset(table.column_names) - set(self._names)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._known:
            array = self.unchecked(name)
            bad = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
            if len(bad):
                raise DataSetError(f"{self._told}, column {name}, frame {bad[0]}: a number is missing or not finite")
            self._known[name] = array
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def unchecked(self, name: str) -> NDArray[Any]:
        """Return a column with NaN where a number is missing; KeyError, DataSetError as when it is asked for."""
        if name not in self._names:
            raise KeyError(name)
        return array_of(self._table.column(name), f"{self._told}, column {name}")


def read_columns(
    path: Path,
    told: str,
    length: int,
    only: Sequence[str] | None = None,
    episode: int | None = None,
    note: Callable[[str], None] = lambda what: None,
) -> Columns:
    """Return the numeric columns of an episode, its rows in the order of `frame_index`.

    Args:
        path: of the Parquet file.
        told: what an error calls the episode.
        length: frames that it must have.
        only: names of the columns to read; all by default.
        episode: index of the episode whose rows are wanted, in a file of several.
        note: takes a word where the rows were in another order.

    Raises:
        DataSetError: it cannot be read, has another length, or `frame_index` does not number its rows.
    """
    table = episode_table(path, told, only, episode, note)
    if table.num_rows != length and table.num_columns:
        raise DataSetError(f"{told}: {path} has {table.num_rows} rows, the episode has {length} frames")
    return Columns(table, told)


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
