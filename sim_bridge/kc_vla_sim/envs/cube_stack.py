"""What stands on what among three cubes, as plain functions on batches of N environments. World frame, meters.

The cubes are numbered by the level at which they began: 0 bottom, 1 middle, 2 top.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE

BOTTOM, MIDDLE, TOP = range(3)
LEVELS = 3
TABLE = 3
"""What a cube stands on is the level of another cube, the table, or nothing that bears it flat."""
NOTHING = 4
NEIGHBOUR_LIMIT = 0.02
"""Neighbors in a stack are closer than this in the plane, m."""
HEIGHT_LIMIT = 0.005
"""Heights are those of exact stacking to within this, m."""
_BORNE = 0.03
"""No cube lies flat on another with its center further aside than this, m."""
_UPRIGHT = 0.995
"""Cosine of the largest tilt (6 degrees) of a cube that lies flat."""
_REACH = 0.045
"""A cube whose center is further than this from the tool center point is out of the fingers' reach, m."""
_OPEN = 0.06
"""A wider gap between the fingers holds nothing: a cube's diagonal is 57 mm, m."""


@dataclass(frozen=True)
class Cubes:
    """The three cubes in one frame.

    Attributes:
        position: centers (N, 3, 3), by level.
        upright: whether a face points up (N, 3).
        held: whether the fingers are about it (N, 3).
    """

    position: Tensor
    upright: Tensor
    held: Tensor

    @property
    def support(self) -> Tensor:
        """Return what each cube stands on (N, 3): the level of a cube, `TABLE` or `NOTHING`."""
        aside = self._distance_in_plane
        rise = self.position[:, :, None, 2] - self.position[:, None, :, 2]
        borne = ((rise - 2 * CUBE_HALF_SIZE).abs() < HEIGHT_LIMIT) & (aside < _BORNE)
        nearest = torch.where(borne, aside, torch.inf).argmin(dim=2)
        support = torch.where(borne.any(dim=2), nearest, NOTHING)
        on_table = (self.position[:, :, 2] - CUBE_HALF_SIZE).abs() < HEIGHT_LIMIT
        return torch.where(self.upright, torch.where(on_table, TABLE, support), NOTHING)

    def neighbours(self, one: int, other: int) -> Tensor:
        """Return whether two cubes are as close in the plane as neighbors in a stack must be (N,)."""
        return self._distance_in_plane[:, one, other] < NEIGHBOUR_LIMIT

    @property
    def _distance_in_plane(self) -> Tensor:
        """Return the distance in the plane between every two cubes (N, 3, 3), m."""
        plane = self.position[:, :, :2]
        distance: Tensor = torch.linalg.norm(plane[:, :, None] - plane[:, None], dim=3)
        return distance


def a_face_is_up(quaternion: Tensor) -> Tensor:
    """Return whether cubes of turn `quaternion` (..., 4), w first, have one of their axes upright (...)."""
    w, x, y, z = quaternion.unbind(-1)
    heights = torch.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], dim=-1)
    return heights.abs().amax(dim=-1) > _UPRIGHT


def within_fingers(position: Tensor, tool: Tensor, gap: Tensor) -> Tensor:
    """Return whether the fingers are about each of the cubes at `position` (N, 3, 3): (N, 3).

    Args:
        position: centers of the cubes, m.
        tool: tool center point (N, 3), m.
        gap: between the fingers (N,), m.
    """
    distance: Tensor = torch.linalg.norm(position - tool[:, None], dim=2)
    return (distance < _REACH) & (gap < _OPEN)[:, None]
