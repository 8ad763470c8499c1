"""The rhythm of an episode: how many frames a second its camera made, and which control step each of them is of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.exchange.errors import ExchangeError, RateError

_NS = 1_000_000_000
_SAME_SHARE = 0.1
"""A camera whose period is within this share of the control period keeps its time."""
_WHOLE_SHARE = 0.03
"""Cameras that make 29.97 frames a second, or a few with jitter, are taken to make a whole number."""


@dataclass(frozen=True, eq=False)
class Clock:
    """When the frames of an episode were.

    Attributes:
        stamps: (T,) int64, ns, ascending.
        fps: frames per second.
        missing: frames that the camera, or the recorder, lost between others.
        steps: (T,) the control step in force at each frame; the nearest where there is one for each frame.
        in_step: whether there is a frame for each control step.
    """

    stamps: NDArray[np.int64]
    fps: int
    missing: int
    steps: NDArray[np.int64]
    in_step: bool


def clock_of(stamps: NDArray[np.int64], start_ns: int, period_s: float) -> Clock:
    """Return the rhythm of the frames at `stamps` in an episode of control steps of `period_s` since `start_ns`.

    Raises:
        RateError: there is not a whole number of frames in a second.
        ExchangeError: there are fewer than two frames.
    """
    if len(stamps) < 2:
        raise ExchangeError(f"{len(stamps)} images of the first view in the episode: at least 2 make a data set")
    gaps = np.diff(stamps)
    between = float(np.median(gaps))
    control = period_s * _NS
    in_step = control > 0 and abs(between - control) <= _SAME_SHARE * control
    exact = _NS / (control if in_step else between)
    fps = whole_rate(exact)
    if fps is None:
        raise RateError(f"{exact:.2f} frames a second: LeRobot wants a whole number of them")
    missing = int(np.maximum(np.rint(gaps / between) - 1, 0).sum())
    return Clock(stamps, fps, missing, _steps(stamps - start_ns, control if control > 0 else between, in_step), in_step)


def whole_rate(rate: float) -> int | None:
    """Return the whole number of frames a second, at least 1, that a camera of about that rate makes; None for none."""
    whole = max(1, round(rate))
    return whole if abs(rate - whole) <= _WHOLE_SHARE * rate else None


def _steps(since: NDArray[np.int64], period: float, in_step: bool) -> NDArray[np.int64]:
    if not in_step:
        return np.floor(since / period + 1e-6).astype(np.int64)
    # A camera has a phase of its own. Rounding around it, not around 0, keeps jitter from repeating or leaving out one.
    turn = np.exp(2j * np.pi * since / period).mean()
    phase = np.angle(turn) / (2 * np.pi) * period
    return np.asarray(np.maximum(np.rint((since - phase) / period), 0), np.int64)
