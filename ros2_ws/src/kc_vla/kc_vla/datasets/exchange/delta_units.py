"""Whether actions that are called tool deltas are in m and rad: they are compared with the poses beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.datasets.exchange.errors import ExchangeError

Numbers = NDArray[np.float64]
_WINDOW = 5
"""Steps over which motions are summed: an arm follows its commands late."""
_LEAST = {"position": 0.005, "rotation": 0.02}
"""Motion, m or rad, below which nothing is concluded."""
_FASTEST = {"position": 5.0, "rotation": 15.0}
"""m/s and rad/s; no arm moves its tool faster."""
_UNITS = {"position": "m", "rotation": "rad"}
_WRONG = 5.0
"""Commanded and done differ by this factor only where the unit is another one."""
_REVERSED = -0.5
_BEYOND = 0.05
"""By which a gripper share may leave 0..1."""


@dataclass(frozen=True)
class DeltaUnits:
    """The meaning of the numbers of a tool delta, as the user says.

    Attributes:
        position: m that a 1 means.
        rotation: rad that a 1 means.
        closed: number of a closed gripper.
        opened: number of an open gripper.
        moves_said: whether the user has given the units of position and rotation; they are not doubted then.
    """

    position: float = 1.0
    rotation: float = 1.0
    closed: float = 0.0
    opened: float = 1.0
    moves_said: bool = False

    def converted(self, actions: Numbers) -> Numbers:
        """Return tool deltas (T, 7) in m, rad and the gripper's share, 0 closed .. 1 open."""
        share = (actions[:, 6:] - self.closed) / (self.opened - self.closed)
        return np.hstack([actions[:, :3] * self.position, actions[:, 3:6] * self.rotation, share])


METERS_AND_RADIANS = DeltaUnits()


def said_units(deltas: str | None, gripper: str | None) -> DeltaUnits:
    """Return what `--delta-units M,RAD` and `--gripper CLOSED,OPEN` say; without, m, rad and 0 closed .. 1 open.

    Raises:
        ExchangeError: one is not two finite numbers, or a unit is 0, or both numbers of the gripper are the same.
    """
    position, rotation = _pair(deltas, "--delta-units", "1,1")
    closed, opened = _pair(gripper, "--gripper", "0,1")
    if not position or not rotation:
        raise ExchangeError(f"--delta-units {deltas}: a unit of 0 moves nothing")
    if closed == opened:
        raise ExchangeError(f"--gripper {gripper}: closed and open must be two numbers")
    return DeltaUnits(position, rotation, closed, opened, deltas is not None)


def check_deltas(told: str, fps: float, episodes: Iterable[tuple[Numbers, Numbers | None]], units: DeltaUnits) -> None:
    """Check that tool deltas are in m, rad and shares of the gripper.

    Args:
        told: what an error calls the data set.
        fps: frames per second.
        episodes: actions (T, 7) and poses (T, 7) or None of each: x, y, z (m), quaternion x, y, z, w.
        units: that the actions have been converted by.

    Raises:
        ExchangeError: they are not; the message says which units the poses suggest.
    """
    sums = {kind: _Sums() for kind in _UNITS}
    low, high = 0.0, 1.0
    for actions, pose in episodes:
        low, high = min(low, float(actions[:, 6].min())), max(high, float(actions[:, 6].max()))
        done = (None, None) if pose is None or len(pose) < 2 else _motions(pose)
        for kind, columns, moved in zip(_UNITS, (slice(0, 3), slice(3, 6)), done, strict=True):
            sums[kind].add(actions[:, columns], moved)
    wrong = [text for kind in _UNITS if (text := sums[kind].wrong(kind, fps))]
    if wrong and not units.moves_said:
        guess = ",".join(f"{each.unit(kind):.2g}" for kind, each in sums.items())
        raise ExchangeError(
            f"{told}: its actions are no tool deltas in m and rad: {'; '.join(wrong)}: give --delta-units M,RAD, what "
            f"a 1 means, about {guess}; 1,1 takes them as they are"
        )
    if low < -_BEYOND or high > 1 + _BEYOND:
        raise ExchangeError(
            f"{told}: the gripper of its actions goes from {low:.3g} to {high:.3g}, 0 closed to 1 open is wanted: "
            "give --gripper=CLOSED,OPEN, as --gripper=-1,1"
        )


class _Sums:
    """Commanded and done motions of one kind."""

    def __init__(self) -> None:
        self._product = self._commanded = self._done = self._largest = self._fastest = 0.0

    def add(self, commanded: Numbers, done: Numbers | None) -> None:
        self._fastest = max(self._fastest, float(np.linalg.norm(commanded, axis=1).max(initial=0.0)))
        if done is None:
            return
        window = min(_WINDOW, len(done))
        said, moved = (_windows(each, window) for each in (commanded[: len(done)], done))
        self._product += float((said * moved).sum())
        self._commanded += float((said * said).sum())
        self._done += float((moved * moved).sum())
        largest = [np.linalg.norm(each, axis=1).max(initial=0.0) for each in (said, moved)]
        self._largest = max(self._largest, *map(float, largest))

    def wrong(self, kind: str, fps: float) -> str:
        """Return what contradicts the unit, empty if nothing does."""
        unit = _UNITS[kind]
        if self._fastest * fps > _FASTEST[kind]:
            return f"a {kind} of {self._fastest:.3g} {unit} in one frame is {self._fastest * fps:.3g} {unit}/s"
        if self._largest < _LEAST[kind] or not self._commanded:
            return ""
        ratio = (self._done / self._commanded) ** 0.5
        if not 1 / _WRONG <= ratio <= _WRONG:
            return f"the tool's {kind} changes {ratio:.2g} times as much as they say"
        if self._done and self._product / (self._done * self._commanded) ** 0.5 < _REVERSED:
            return f"the tool's {kind} changes the other way"
        return ""

    def unit(self, kind: str) -> float:
        """Return what a 1 seems to mean."""
        if self._largest < _LEAST[kind] or not self._commanded or not self._done:
            return 1.0
        ratio = (self._done / self._commanded) ** 0.5
        likeness = self._product / (self._done * self._commanded) ** 0.5
        return float(-ratio if likeness < _REVERSED else ratio)


def _motions(pose: Numbers) -> tuple[Numbers, Numbers]:
    """Return how the tool moved between frames: (T - 1, 3) in m, and rotation vectors (T - 1, 3) in rad."""
    turns = Rotation.from_quat(pose[:, 3:])
    return np.diff(pose[:, :3], axis=0), (turns[1:] * turns[:-1].inv()).as_rotvec()


def _windows(values: Numbers, window: int) -> Numbers:
    """Return sums over so many rows."""
    total = np.vstack([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    return np.asarray(total[window:] - total[:-window])


def _pair(text: str | None, option: str, usual: str) -> tuple[float, float]:
    try:
        one, other = (float(number) for number in (usual if text is None else text).split(","))
    except ValueError:
        raise ExchangeError(f"{option} {text}: two numbers are wanted, as {option} {usual}") from None
    if not np.isfinite([one, other]).all():
        raise ExchangeError(f"{option} {text}: two finite numbers are wanted")
    return one, other
