"""The joints of an arm from its base to its tool: where each one stands on the one before, and what it turns about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chain:
    """N revolute joints, each on the one before.

    Attributes:
        origins: Pose of each joint's frame at angle 0, in the frame of the joint before or in the base frame (N, 4, 4),
            m. Fixed joints in between are folded in.
        axes: Unit vector that each joint turns about, in its own frame (N, 3).
        end: Pose of the flange in the frame of the last joint (4, 4), m.
    """

    origins: Matrix
    axes: Matrix
    end: Matrix

    def __len__(self) -> int:
        return len(self.axes)

    def shifted(self, offsets: Sequence[float] | Matrix) -> Chain:
        """Return the chain of an arm that reads 0 where this one reads `offsets` (N,), rad."""
        turned = self.origins.copy()
        turned[:, :3, :3] = self.origins[:, :3, :3] @ turns(self.axes, np.asarray(offsets, float))
        return replace(self, origins=turned)

    @classmethod
    def of_table(cls, table: Matrix) -> Chain:
        """Return the chain of a modified Denavit-Hartenberg table (Craig).

        Args:
            table: a(i-1) m, alpha(i-1) rad, d m, offset of theta rad, (N, 4).
        """
        a, alpha, d, offset = table.T
        x, z = np.tile([1.0, 0.0, 0.0], (len(table), 1)), np.tile([0.0, 0.0, 1.0], (len(table), 1))
        origins = np.tile(np.eye(4), (len(table), 1, 1))
        origins[:, :3, :3] = turns(x, alpha) @ turns(z, offset)
        origins[:, :3, 3] = np.stack([a, -d * np.sin(alpha), d * np.cos(alpha)], axis=1)
        return cls(origins, z, np.eye(4))


def turns(axes: Matrix, angles: Matrix) -> Matrix:
    """Return the rotations (N, 3, 3) by angles (N,), rad, about unit vectors (N, 3): Rodrigues' formula."""
    across = cross_matrices(axes)
    sines, rests = np.sin(angles)[:, None, None], (1.0 - np.cos(angles))[:, None, None]
    return np.asarray(np.eye(3) + sines * across + rests * (across @ across))


def cross_matrices(axes: Matrix) -> Matrix:
    """Return the cross products with vectors (N, 3), as matrices (N, 3, 3)."""
    x, y, z = axes.T
    none = np.zeros_like(x)
    rows = [[none, -z, y], [z, none, -x], [-y, x, none]]
    return np.moveaxis(np.array(rows), 2, 0)
