"""Parquet files of data sets: the rows of one episode, in the order of their frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.errors import DataSetError

ORDER = "frame_index"
"""The column that numbers the frames of an episode."""
_REORDERED = "its rows are not in the order of frame_index, and are taken in that order"


def schema_of(path: Path, told: str) -> pa.Schema:
    """Return the columns of a Parquet file; DataSetError, beginning with `told`, where it cannot be read."""
    try:
        return pq.read_schema(path)
    except FileNotFoundError:
        raise DataSetError(f"{told}: its columns {path} are missing") from None
    except (OSError, pa.ArrowException) as error:
        raise DataSetError(f"{told}: its columns {path} cannot be read: {error}") from error


def whole_table(path: Path, names: list[str]) -> pa.Table:
    """Return those columns of a Parquet file; DataSetError where it cannot be read."""
    try:
        return pq.read_table(path, columns=names)
    except (OSError, pa.ArrowException) as error:
        raise DataSetError(f"{path} cannot be read: {error}") from error


def episode_table(
    path: Path,
    told: str,
    names: Sequence[str] | None = None,
    episode: int | None = None,
    note: Callable[[str], None] = lambda what: None,
) -> pa.Table:
    """Return the rows of an episode, in the order that `frame_index` says where there is that column.

    Args:
        path: of the file.
        told: what an error calls the episode.
        names: of the columns to read; all by default.
        episode: its index, in a file of several.
        note: takes a word where the rows were in another order.

    Raises:
        DataSetError: it cannot be read, or `frame_index` does not number the rows.
    """
    there = schema_of(path, told).names
    wanted = [name for name in (there if names is None else names) if name in there]
    if doubled := next((name for name in (*wanted, ORDER) if there.count(name) > 1), ""):
        raise DataSetError(f"{told}: {path} has the column {doubled} more than once: leave one out")
    numbered = [ORDER] if ORDER in there and ORDER not in wanted else []
    try:
        of_episode = None if episode is None else [("episode_index", "==", episode)]
        table = pq.read_table(path, columns=[*wanted, *numbered], filters=of_episode)
    except (OSError, pa.ArrowException) as error:
        raise DataSetError(f"{told}: its columns {path} cannot be read: {error}") from error
    order = _order(table.column(ORDER), told) if ORDER in there else None
    if order is not None:
        note(_REORDERED)
        table = table.take(pa.array(order))
    return table.select(wanted)


def _values(kind: pa.DataType) -> tuple[pa.DataType, bool]:
    """Return the type of the numbers in a column, and whether a row is a list of them."""
    nested = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return (kind.value_type if nested else kind), nested


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a column of that type holds numbers, or lists of them."""
    values, _ = _values(kind)
    return bool(pa.types.is_integer(values) or pa.types.is_floating(values) or pa.types.is_boolean(values))


def array_of(column: pa.ChunkedArray, told: str) -> NDArray[Any]:
    """Return a numeric column as an array (T,) or (T, D), NaN where a number is missing.

    Raises:
        DataSetError: its rows have different sizes; the message begins with `told`.
    """
    _, nested = _values(column.type)
    width = 0
    whole = column.combine_chunks()
    if nested:
        if whole.null_count:
            raise DataSetError(f"{told}: {whole.null_count} rows have no list of numbers")
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
    return np.asarray(array.reshape(-1, width) if nested else array)


def _order(column: pa.ChunkedArray, told: str) -> NDArray[np.int64] | None:
    """Return which row comes first, second and so on; None where they follow each other already."""
    told = f"{told}, column {ORDER}"
    advice = "number the rows of each episode one by one, or leave the column out where it means nothing"
    values = np.ravel(array_of(column, told)) if is_numeric(column.type) else np.array([np.nan])
    if len(values) != len(column) or not np.isfinite(values).all() or (values != np.floor(values)).any():
        raise DataSetError(f"{told}: it must have a whole number in each row: {advice}")
    order = np.argsort(values, kind="stable")
    numbers = values[order].astype(np.int64)
    steps = np.diff(numbers)
    if len(wrong := np.flatnonzero(steps != 1)):
        at = int(wrong[0])
        before, after = int(numbers[at]), int(numbers[at + 1])
        missing = f"{before + 1} is missing" if after == before + 2 else f"{before + 1} to {after - 1} are missing"
        raise DataSetError(f"{told}: {f'{before} is there twice' if after == before else missing}: {advice}")
    return None if (order == np.arange(len(order))).all() else np.asarray(order, np.int64)
