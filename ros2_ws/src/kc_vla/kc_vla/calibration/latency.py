"""How late a camera is against the joints: by which shift its image's motion fits theirs best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.calibration.board import Array
from kc_vla.calibration.errors import PoorCalibrationError

_STEP_S = 0.001
_LONGEST_S = 1.0
_LEAST = 0.7
_SHORTEST_S = 3.0


@dataclass(frozen=True)
class Latency:
    """A delay.

    Attributes:
        seconds: so much later the second signal shows what the first did.
        likeness: correlation of both at that shift, -1..1.
    """

    seconds: float
    likeness: float


def measure_latency(times: Array, speeds: Array, late_times: Array, late_speeds: Array) -> Latency:
    """Return the delay of one signal against another by their cross-correlation.

    Args:
        times, speeds: when (N,), s, and how fast (N,) something moved, in any unit.
        late_times, late_speeds: the same as the other saw it.

    Raises:
        PoorCalibrationError: too short a time in common, no motion, or signals that are not alike.
    """
    begin, end = max(times[0], late_times[0]), min(times[-1], late_times[-1])
    if end - begin < _SHORTEST_S + _LONGEST_S:
        raise PoorCalibrationError(f"{end - begin:.1f} s in common: record {_SHORTEST_S + _LONGEST_S:g} s and more")
    grid = np.arange(begin, end, _STEP_S)
    first, second = np.interp(grid, times, speeds), np.interp(grid, late_times, late_speeds)
    if first.std() < 1e-9 or second.std() < 1e-9:
        raise PoorCalibrationError("nothing moves: move the arm to and fro, with pauses of different length")
    reach = round(_LONGEST_S / _STEP_S)
    shifts = np.arange(-reach, reach + 1)
    likeness = np.array([_correlation(first, second, int(shift)) for shift in shifts])
    best = int(likeness.argmax())
    if likeness[best] < _LEAST:
        raise PoorCalibrationError(
            f"both signals are alike by {likeness[best]:.2f} only, {_LEAST:g} is the least: move the arm more briskly, "
            "and let nothing else move in the image"
        )
    if best in (0, len(shifts) - 1):
        raise PoorCalibrationError(f"the delay is {_LONGEST_S:g} s or more: are both clocks the same?")
    left, middle, right = likeness[best - 1 : best + 2]
    curve = left - 2 * middle + right
    peak = 0.0 if curve == 0 else 0.5 * (left - right) / curve  # of the parabola through the three
    return Latency(float((shifts[best] + peak) * _STEP_S), float(likeness[best]))


def _correlation(first: Array, second: Array, shift: int) -> float:
    """Return the correlation of `first` with `second` moved forward by `shift` samples."""
    a, b = (first[: len(first) - shift], second[shift:]) if shift >= 0 else (first[-shift:], second[:shift])
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 0 else 0.0
