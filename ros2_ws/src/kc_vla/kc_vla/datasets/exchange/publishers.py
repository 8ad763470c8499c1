"""Several publishers of one state: what they say leaps to and fro as nothing that moves does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.robot import robot_of, unit_of
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.joints_csv import MOST

Rows = NDArray[np.float64]
_NS = 1_000_000_000
_LAGS = 8
"""One publisher may say so much more often something than the other."""
_FASTER = 3.0
"""Than nearly all of the motion: that is a leap."""
_BY_UNIT = {"rad": (0.03, 0.5, 10.0), "m": (0.008, 0.05, 2.0)}
"""Steps that are never a leap, and velocities that are none and that always are one where no robot says them."""
_ROBOT_SHARE = 2.0
_FEW = 0.05
_TURNS, _TURNS_SHARE = 4, 0.5
_MOST_TRACKS = 32
_MOSTLY = 90
"""Percent of the rows; what the others say may be a glitch."""


@dataclass(frozen=True)
class Cleaned:
    """What one publisher said.

    Attributes:
        keep: (N,) which rows those are.
        notes: what a person should know, without the topic, each with which rows it is about.
    """

    keep: NDArray[np.bool_]
    notes: tuple[tuple[str, NDArray[np.bool_]], ...]


def one_publisher(
    what: str,
    names: Sequence[str],
    stamps: NDArray[np.int64],
    rows: Rows,
    *,
    targets: bool = False,
    units: Sequence[str] = (),
) -> Cleaned:
    """Leave out zeros that a second publisher says in between, and a few rows that no motion leads to.

    Args:
        what: the rows are, for an error, such as "joint positions".
        names: of the numbers in a row.
        stamps: of the rows (N,), ns, ascending.
        rows: (N, D).
        units: of the numbers, "rad" or "m"; by default they follow from the names of joints.
        targets: whether they are where something shall be: they may leap, and are wrong only where they do in turn.

    Raises:
        ExchangeError: two publishers speak in turn, and nothing tells which of them is right; or what they say leaps
            because it is in other units.
    """
    keep = np.ones(len(rows), bool)
    notes: list[tuple[str, NDArray[np.bool_]]] = []
    units = units or [unit_of(name) for name in names]
    far = _too_far(names, units, rows)
    if far:
        notes.append((f"{far}, and no robot can use it so", np.ones(len(rows), bool)))
    reach = _Reach(names, units, stamps, rows)
    zero = (rows == 0).all(axis=1) if rows.shape[1] > 1 else np.zeros(len(rows), bool)
    alien = _leapt_to(zero, stamps, rows, reach) if zero.any() and not zero.all() else np.zeros(len(rows), bool)
    if targets and int((np.diff(alien.astype(np.int8)) == 1).sum()) < _TURNS // 2:
        alien[:] = False
    if alien.any():
        keep &= ~alien
        notes.append(("are all zeros, to which no joint leaps: a second publisher's, or of before any was read", alien))
    kept = np.flatnonzero(keep)
    labels = _tracks(stamps[kept], rows[kept], reach)
    sizes = np.bincount(labels)
    if len(sizes) > 1:
        minor = labels != int(np.argmax(sizes))
        turns = int((np.diff(labels) != 0).sum())
        mask = np.zeros(len(rows), bool)
        mask[kept[minor]] = True
        returns = turns - (len(sizes) - 1)  # to a motion that was left before: without, something leaps on and on
        in_turn = turns >= max(_TURNS, _TURNS_SHARE * minor.sum()) and returns >= _TURNS // 2
        if in_turn and minor.sum() > _FEW * len(kept):
            if far:
                raise ExchangeError(f"{what} {far}")
            raise ExchangeError(
                f"two publishers tell {what} in turn: {int(minor.sum())} of {len(kept)} messages, from "
                f"{_seconds(stamps, mask)}, are where no joint gets from the others"
            )
        if targets:
            return Cleaned(keep, tuple(notes))
        if minor.sum() <= max(1, _FEW * len(kept)):
            keep &= ~mask
            notes.append(("are where no joint gets in that time: glitches, or a second publisher", mask))
        else:
            mask[:] = False
            mask[kept[np.flatnonzero(np.diff(labels)) + 1]] = True
            notes.append(("come behind a leap that no joint makes, and are kept: look whether it is one episode", mask))
    return Cleaned(keep, tuple(notes))


def _too_far(names: Sequence[str], units: Sequence[str], rows: Rows) -> str:
    """Say which number is mostly further than anything gets in its unit; empty for none."""
    usual = np.percentile(np.abs(rows), _MOSTLY, axis=0) if len(rows) else np.zeros(len(names))
    share = usual / np.array([MOST[unit] for unit in units])
    if not (share > 1).any():
        return ""
    at = int(share.argmax())
    meant = "rad, not degrees" if units[at] == "rad" else "m, not millimeters or percent"
    return f"have {names[at]} at {usual[at]:g}, where {meant}, are meant"


class _Reach:
    """How far something gets in a time."""

    def __init__(self, names: Sequence[str], units: Sequence[str], stamps: NDArray[np.int64], rows: Rows) -> None:
        self._floor, least, most = np.array([_BY_UNIT[unit] for unit in units]).T
        robot = robot_of(names)
        if robot is not None:
            most[: len(robot.joints)] = _ROBOT_SHARE * robot.limits.speed
        moving = (rows != 0).any(axis=1)
        self._speed = np.clip(_FASTER * _usual_speed(stamps[moving], rows[moving], len(names)), least, most)
        self._turns = np.array([unit == "rad" for unit in units])

    def within(self, before: Rows, after: Rows, seconds: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether each row of `after` can be reached from that of `before`, (N, D) each, in so many s (N,)."""
        away = np.abs(after - before)
        away = np.where(self._turns, np.minimum(away, np.abs(away - 2 * np.pi)), away)  # a joint may turn on and on
        return np.asarray((away <= np.maximum(self._floor, self._speed * seconds[:, None])).all(axis=1))


def _usual_speed(stamps: NDArray[np.int64], rows: Rows, width: int) -> NDArray[np.float64]:
    """Return the velocity that nearly all rows of one publisher have (D,).

    It goes from each row to the nearest of a few ahead of it.
    """
    least = np.full((len(rows), width), np.inf)
    for lag in range(1, min(_LAGS, len(rows) - 1) + 1):
        seconds = np.maximum((stamps[lag:] - stamps[:-lag]) / _NS, 1e-3)
        least[lag:] = np.minimum(least[lag:], np.abs(rows[lag:] - rows[:-lag]) / seconds[:, None])
    known = least[1:]
    return np.percentile(known, 99, axis=0) if len(known) else np.zeros(width)


def _leapt_to(zero: NDArray[np.bool_], stamps: NDArray[np.int64], rows: Rows, reach: _Reach) -> NDArray[np.bool_]:
    """Return which rows of zeros have a leap on each side on which there are others."""
    near = reach.within(rows[:-1], rows[1:], np.diff(stamps) / _NS)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], zero, [False]]).astype(np.int8)))
    alien = np.zeros(len(rows), bool)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        before, behind = begin > 0 and near[begin - 1], end < len(rows) and near[end - 1]
        alien[begin:end] = not before and not behind
    return alien


def _tracks(stamps: NDArray[np.int64], rows: Rows, reach: _Reach) -> NDArray[np.int64]:
    """Number the motions (N,) that the rows belong to.

    Each goes on with the last row from which it can be reached.
    """
    labels = np.zeros(len(rows), np.int64)
    if len(rows) < 2 or reach.within(rows[:-1], rows[1:], np.diff(stamps) / _NS).all():
        return labels
    newest = [0]  # row of each motion
    for at in range(1, len(rows)):
        seconds = (stamps[at] - stamps[newest]) / _NS
        near = reach.within(rows[newest], rows[[at]], seconds)
        if near.any():
            label = int(np.flatnonzero(near)[np.argmin(seconds[near])])
            if len(newest) > 1 and near.sum() > 1:
                label = int(np.argmin(np.where(near, np.abs(rows[newest] - rows[at]).max(axis=1), np.inf)))
            newest[label] = at
        elif len(newest) < _MOST_TRACKS:
            label = len(newest)
            newest.append(at)
        else:
            label = int(np.abs(rows[newest] - rows[at]).max(axis=1).argmin())
            newest[label] = at
        labels[at] = label
    return labels


def _seconds(stamps: NDArray[np.int64], mask: NDArray[np.bool_]) -> str:
    inside = (stamps[mask] - stamps[0]) / _NS
    return f"{inside[0]:.2f} s to {inside[-1]:.2f} s"
