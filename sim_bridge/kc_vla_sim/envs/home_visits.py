"""The hand's visits to a home pose between two actions, at the end of which it is decided what comes next.

Plain functions on batches of N environments. A visit begins when the hand has come to rest at home and lasts as long
as was drawn for it; its last frame is the moment of decision.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kc_vla_sim.envs.batches import with_rows

AT_HOME = 0.004
"""The tool is at home when its center point is closer than this to it, m ..."""
FACING_HOME = 0.99995
"""... and it is turned to within 0.02 rad: cosine of half that angle."""


@dataclass(frozen=True)
class HomeVisits:
    """The visits of an episode so far.

    Attributes:
        since: frame in which the present visit began, (N,), int32; -1 while there is none.
        decided: last frame of the visit before each action, (N, K), int32; -1 for those that did not end yet.
    """

    since: Tensor
    decided: Tensor

    @classmethod
    def start(cls, batch: int, deeds: int, device: torch.device) -> HomeVisits:
        """Return the state before any visit in each of `batch` environments, with `deeds` actions each."""
        since = torch.full((batch,), -1, dtype=torch.int32, device=device)
        return cls(since, since[:, None].repeat(1, deeds))

    def restarted(self, index: Tensor) -> HomeVisits:
        """Return the same with the environments in `index` at their start again."""
        deeds = self.decided.shape[1]
        return with_rows(self, index, HomeVisits.start(len(index), deeds, index.device))

    def after(self, frame: Tensor, at_home: Tensor, done: Tensor, busy: Tensor, waits: Tensor) -> HomeVisits:
        """Return the visits in `frame`.

        Args:
            frame: (N,).
            at_home: the hand rests at the home pose of the action that comes next, (N,).
            done: actions done so far, (N,).
            busy: an action has begun, (N,): a visit before the next one cannot begin.
            waits: frames that the visit before each action lasts, (N, K).
        """
        deeds = waits.shape[1]
        starts = at_home & ~busy & (self.since < 0) & (done < deeds)
        since = torch.where(starts, frame, self.since)
        since = torch.where(busy, -1, since).to(torch.int32)
        next_deed = torch.arange(deeds, device=frame.device) == done[:, None]
        ends = (since >= 0)[:, None] & next_deed & (frame[:, None] - since[:, None] == waits)
        return HomeVisits(since, torch.where(ends, frame[:, None], self.decided).to(torch.int32))


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
