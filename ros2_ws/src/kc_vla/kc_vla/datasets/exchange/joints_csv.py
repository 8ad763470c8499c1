"""Joints over time from a CSV file: a header row, the time in s in the first column, then a joint in each."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.robot import unit_of
from kc_vla.datasets.exchange.errors import ExchangeError

MOST = {"rad": 4 * math.pi, "m": 4.0}
"""No joint turns further, no finger goes further."""


@dataclass(frozen=True, eq=False)
class JointTable:
    """Joints over time.

    Attributes:
        names: of the joints, (D,).
        times_s: (N,), ascending.
        positions: (N, D), as the file has them: rad and m are meant.
    """

    names: tuple[str, ...]
    times_s: NDArray[np.float64]
    positions: NDArray[np.float64]


def read_joints(path: Path) -> JointTable:
    """Read a CSV file of joints.

    Raises:
        ExchangeError: it cannot be read or is not as it should be; the message names the line.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return parse_joints(file.read(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ExchangeError(f"{path} cannot be read: {error}") from error


def parse_joints(text: str, told: str) -> JointTable:
    """Return the joints in the text of a CSV file, which an error calls `told`.

    Raises:
        ExchangeError: it is not as it should be; the message names the line.
    """
    reader = csv.reader(text.splitlines(), strict=True)
    names: tuple[str, ...] | None = None
    rows: list[list[float]] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{told}, line {reader.line_num}"
            if names is None:
                names = _header(cells, where)
                continue
            rows.append(_row(cells, len(names) + 1, where))
            if len(rows) > 1 and rows[-1][0] <= rows[-2][0]:
                raise ExchangeError(f"{where}: times must ascend, {rows[-1][0]:g} s follows {rows[-2][0]:g} s")
    except csv.Error as error:
        raise ExchangeError(f"{told}, line {reader.line_num}: {error}") from error
    if names is None or not rows:
        raise ExchangeError(f"{told} has no {'header row' if names is None else 'rows'}: time in s, then joint columns")
    values = np.array(rows, np.float64)
    if far := too_far(names, values[:, 1:]):
        raise ExchangeError(f"{told}: {far[0]} goes to {far[1]:g}: rad and m are wanted, not degrees or mm")
    return JointTable(names, values[:, 0], values[:, 1:])


def too_far(names: Sequence[str], positions: NDArray[np.float64]) -> tuple[str, float] | None:
    """Return which of the joints (D,) goes further than any can, and how far.

    The positions (N, D) are meant in rad and m.
    """
    largest = np.abs(positions).max(axis=0, initial=0.0)
    share = largest / np.array([MOST[unit_of(name)] for name in names])
    if not (share > 1).any():
        return None
    column = int(share.argmax())
    return names[column], float(largest[column])


def _header(cells: list[str], where: str) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in cells)
    if all(_number(name) is not None for name in names):
        raise ExchangeError(f"{where}: a header row is wanted first: time, then the names of the joints")
    if len(names) < 2:
        raise ExchangeError(f"{where}: at least two columns are wanted, with commas between: time, then joints")
    if not all(names[1:]) or len(set(names[1:])) < len(names) - 1:
        raise ExchangeError(f"{where}: each joint needs a name of its own: {', '.join(names[1:])}")
    return names[1:]


def _row(cells: list[str], width: int, where: str) -> list[float]:
    if len(cells) != width:
        raise ExchangeError(f"{where}: {len(cells)} columns, the header has {width}")
    values = []
    for column, cell in enumerate(cells, start=1):
        value = _number(cell)
        if value is None or not math.isfinite(value):
            raise ExchangeError(f"{where}, column {column}: '{cell.strip()}' is no finite number")
        values.append(value)
    return values


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
