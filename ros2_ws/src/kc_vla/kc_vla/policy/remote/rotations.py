"""The forms in which others write a rotation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.policy.remote.wire import WireError

Numbers = NDArray[np.float64]
_LEAST = 1e-6


class RotationForm(NamedTuple):
    """A form: how many numbers, and the way there and back; both take and give (H, size)."""

    size: int
    written: Callable[[Rotation], Numbers]
    read: Callable[[Numbers], Rotation]


def _unit(values: Numbers) -> Numbers:
    length = np.linalg.norm(values, axis=-1, keepdims=True)
    if (length < _LEAST).any():
        raise WireError("a rotation is all zeros")
    return np.asarray(values / length)


def _wxyz(values: Numbers) -> Numbers:
    return values[:, [3, 0, 1, 2]]


def _six(values: Numbers) -> Rotation:
    """Return two axes (H, 6), made upright to one another, as columns (Zhou et al., arXiv 1812.07035)."""
    first = _unit(values[:, :3])
    second = values[:, 3:] - (first * values[:, 3:]).sum(axis=1, keepdims=True) * first
    second = _unit(second)
    return Rotation.from_matrix(np.stack([first, second, np.cross(first, second)], axis=-1))


FORMS = {
    "axis_angle": RotationForm(3, Rotation.as_rotvec, Rotation.from_rotvec),
    "rpy": RotationForm(3, lambda turns: turns.as_euler("xyz"), lambda values: Rotation.from_euler("xyz", values)),
    "rpy_moving": RotationForm(
        3, lambda turns: turns.as_euler("XYZ"), lambda values: Rotation.from_euler("XYZ", values)
    ),
    "quaternion_xyzw": RotationForm(
        4, lambda turns: turns.as_quat(canonical=True), lambda values: Rotation.from_quat(_unit(values))
    ),
    "quaternion_wxyz": RotationForm(
        4,
        lambda turns: _wxyz(turns.as_quat(canonical=True)),
        lambda values: Rotation.from_quat(_unit(values)[:, [1, 2, 3, 0]]),
    ),
    "6d_columns": RotationForm(
        6,
        lambda turns: np.concatenate([turns.as_matrix()[:, :, k] for k in (0, 1)], axis=1),
        lambda values: _six(values),
    ),
    "6d_rows": RotationForm(
        6,
        lambda turns: np.concatenate([turns.as_matrix()[:, k, :] for k in (0, 1)], axis=1),
        lambda values: _six(values).inv(),
    ),
}
"""axis_angle: rotation vector, rad. rpy: about the fixed axes x, y, z, in this order, rad; rpy_moving: about those that
turn along. 6d: two columns of the matrix (Zhou et al.), or two rows (PyTorch3D and GR00T)."""
IN_RADIANS = ("axis_angle", "rpy", "rpy_moving")


def chained(first: Rotation, steps: Rotation, in_tool: bool) -> Rotation:
    """Return where steps (H,) lead, one after the other, from `first` on.

    They are about the base's axes, or those of the tool.
    """
    reached, found = first, []
    for step in steps:
        reached = reached * step if in_tool else step * reached
        found.append(reached)
    return Rotation.concatenate(found)


def unchained(first: Rotation, reached: Rotation, in_tool: bool) -> Rotation:
    """Return the inverse of `chained`."""
    before = Rotation.concatenate([first, reached[:-1]]) if len(reached) > 1 else Rotation.concatenate([first])
    return before.inv() * reached if in_tool else reached * before.inv()
