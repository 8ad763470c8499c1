"""What the rows of an episode say of their time and task, beside what the tables in `meta` say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIMESTAMP, TASK_INDEX, EPISODE_INDEX = "timestamp", "task_index", "episode_index"
_OFF = 0.25
"""Share of a frame's time by which a stamp may be early or late."""
_REGULAR = 0.25
"""Share of the usual gap by which one between two stamps may differ."""
_MOST_RATE = 1000.0
_NAMED = 8


def timestamp_doubt(stamps: NDArray[Any], fps: float) -> tuple[str, str, str]:
    """Say where time stamps contradict the rate of a data set.

    Args:
        stamps: (T,) of the column `timestamp`, s, NaN where one is missing.
        fps: frames per second that the data set declares.

    Returns:
        What is wrong, the same words for all episodes, empty where nothing is; details; and what an import can do.
    """
    times = np.ravel(stamps).astype(np.float64)
    declared = f"meta/info.json says {fps:g} frames a second, and this rate is taken"
    if bad := int((~np.isfinite(times)).sum()):
        return f"timestamp is not a number in some rows; {declared}", f"{bad} of {len(times)} rows", ""
    since = times - times[0]
    if (np.abs(since - np.arange(len(times)) / fps) <= _OFF / fps).all():
        if abs(times[0]) > 0.5 / fps:
            return "timestamp does not begin at 0 s", f"at {times[0]:.3f} s", ""
        return "", "", ""
    gaps = np.diff(times)
    usual = float(np.median(gaps))
    if usual <= 0 or not 1 <= 1 / usual <= _MOST_RATE:
        wrong = f"timestamp is not in seconds, or does not ascend; {declared}"
        return wrong, f"usual gap {usual:g}, smallest {gaps.min():g}", ""
    if (np.abs(gaps - usual) <= _REGULAR * usual).all():
        rate = round(float(len(gaps) / since[-1]), 2)
        return f"timestamp says {rate:g} frames a second, {declared}", "", f"--rate {rate:g} takes the other"
    detail = f"gaps from {gaps.min():.3f} to {gaps.max():.3f} s, mostly {usual:.3f} s"
    return f"timestamp is irregular; {declared}", detail, f"--rate {1 / usual:.4g} takes the usual gap"


def segments_of(indices: NDArray[Any] | None, tasks: Mapping[int, str]) -> tuple[tuple[int, str], ...]:
    """Return the first row and the instruction of each segment of an episode that has one task.

    Args:
        indices: (T,) of the column `task_index`, NaN where one is missing; None where there is no such column.
        tasks: the data set's instructions by index; a row whose index is not there says nothing.
    """
    if indices is None or not len(indices):
        return ()
    values = np.ravel(indices).astype(np.float64)
    told = [tasks.get(int(value)) if np.isfinite(value) else None for value in values]
    starts = [0, *(row for row, (one, other) in enumerate(pairwise(told), start=1) if one != other)]
    return tuple((row, text) for row in starts if (text := told[row]) is not None)


def segments_in_words(segments: Sequence[tuple[int, str]]) -> str:
    """Return segments as "frames from 0 'A', from 15 'B'"."""
    named = ", ".join(f"from {row} '{text}'" for row, text in segments[:_NAMED])
    return f"frames {named}{', ...' if len(segments) > _NAMED else ''}"
