"""What the network of a policy sees of a robot's state, and in what units it says places and actions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Numbers = NDArray[np.float32]
_CENTRE, _SPAN = np.array([0.55, 0.0, 0.15]), 0.25
"""m, roughly the middle of what the arm reaches, and how far it goes from there."""
_FAR, _NEAR = 0.2, 0.04
"""m, the units of a place far from the tool and close to it."""
_AHEAD = 30.0
"""Control steps, the unit of how far ahead a place is."""
_LEAST_SPREAD = 1e-3
"""m or rad: what hardly moves is not blown up."""


def state_numbers(states: Numbers) -> Numbers:
    """Tool states (N, 8) as numbers about 1: position, two columns of the rotation, gripper; (N, 10)."""
    turn = Rotation.from_quat(states[:, 3:7]).as_matrix()
    position = (states[:, :3] - _CENTRE) / _SPAN
    return np.concatenate([position, turn[:, :, 0], turn[:, :, 1], states[:, 7:8]], 1).astype(np.float32)


def place_numbers(states: Numbers, places: Numbers, ahead: NDArray[np.int64]) -> Numbers:
    """Places (N, 8) relative to the tool: far (3), near (3) where it is exact, turn about the vertical, time; (N, 8).

    A parallel gripper turned by half a turn grips as well: the turn is that of the plan, and never far.
    """
    gap = places[:, :3] - states[:, :3]
    turn = (Rotation.from_quat(places[:, 3:7]) * Rotation.from_quat(states[:, 3:7]).inv()).as_rotvec()[:, 2:3]
    time = np.minimum(ahead, 60)[:, None] / _AHEAD
    return np.concatenate([gap / _FAR, np.tanh(gap / _NEAR), turn, time], 1).astype(np.float32)


def near_gap(numbers: Numbers) -> Numbers:
    """The way to the place that `place_numbers` (N, 8) tell, m, (N, 3): exact where it is near, else cut."""
    return np.asarray(np.arctanh(np.clip(numbers[:, 3:6], -0.98, 0.98)) * _NEAR, np.float32)


@dataclass(frozen=True)
class ActionScale:
    """Actions in units about 1: what they spread, and the gripper from -1 closed to 1 open.

    Attributes:
        mean: (A,), in the actions' own units.
        spread: (A,).
        lowest: (A,), of what was learnt from: nothing below it is ever asked for, whatever the noise.
        highest: (A,), the same above.
    """

    mean: tuple[float, ...]
    spread: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    @classmethod
    def of(cls, plans: Numbers) -> ActionScale:
        """Of all `plans` (N, H, 7), tool deltas and gripper."""
        spread = np.maximum(plans.reshape(-1, plans.shape[-1]).std(axis=0), _LEAST_SPREAD)
        spread[-1] = 0.5
        mean = np.zeros(len(spread))
        mean[-1] = 0.5
        rows = plans.reshape(-1, plans.shape[-1])
        bounds = rows.min(axis=0), rows.max(axis=0)
        return cls(*(tuple(each.tolist()) for each in (mean, spread, *bounds)))

    def scaled(self, plans: Numbers) -> Numbers:
        """Actions (..., A) in these units."""
        return np.asarray((plans - np.array(self.mean)) / np.array(self.spread), np.float32)

    def actions(self, scaled: Numbers) -> Numbers:
        """The inverse of `scaled`, within the bounds."""
        return np.asarray(
            np.clip(scaled * np.array(self.spread) + np.array(self.mean), self.lowest, self.highest), np.float32
        )
