"""A pose at which the hand, pointing down, waits between two actions, on batches of N environments. World frame."""

from __future__ import annotations

import torch
from torch import Tensor

AT_HOME = 0.004
"""The tool is at home when its center point is closer than this to it, m ..."""
FACING_HOME = 0.99995
"""... and it is turned to within 0.02 rad: cosine of half that angle."""


def home_pose(x: Tensor, y: Tensor, z: Tensor, yaw: Tensor) -> Tensor:
    """Return poses (..., 7) of a tool that points down: x, y, z (m) and quaternion, w first, of a turn by `yaw` (rad).

    All four arguments are (...).
    """
    zero = torch.zeros_like(x)
    return torch.stack([x, y, z, zero, torch.cos(yaw / 2), torch.sin(yaw / 2), zero], dim=-1)


def is_at_home(tool: Tensor, home: Tensor) -> Tensor:
    """Return whether the tool at `tool` (N, 7) is at the pose `home` (N, 7), and turned as there (N,)."""
    away: Tensor = torch.linalg.norm(tool[:, :3] - home[:, :3], dim=1)
    facing = (tool[:, 3:] * home[:, 3:]).sum(dim=1).abs()
    return (away < AT_HOME) & (facing > FACING_HOME)
