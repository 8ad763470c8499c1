"""The expert's plans of the last few frames, for a policy that asks about a frame which the simulator has left."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.protocol import Expert

RECENT_FRAMES = 16


class PlanRefusal(ValueError):  # noqa: N818  # a refusal, told to the caller, not a fault
    """There is no such plan; the text says why and what to do."""


class RecentPlans:
    """Plans by the frame that they start from; bounded."""

    def __init__(self, horizon: int) -> None:
        """Begin without a plan.

        Args:
            horizon: of every plan, control steps.
        """
        self._horizon = horizon
        self.episode_id = ""
        self._plans: OrderedDict[int, tuple[NDArray[np.float32], str]] = OrderedDict()

    def begin(self, episode_id: str) -> None:
        """Forget everything: a new episode begins."""
        self.episode_id = episode_id
        self._plans.clear()

    def make(self, frame: int, expert: Expert) -> None:
        """Let the expert plan from the present state, which is that of `frame`."""
        self._plans[frame] = expert.plan(self._horizon)
        while len(self._plans) > RECENT_FRAMES:
            self._plans.popitem(last=False)

    def find(self, frame: int, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the first `horizon` actions planned from `frame`, (horizon, 7) tool deltas, and the expert's phase.

        Raises:
            PlanRefusal: the frame is not a recent one, or the horizon is out of bounds.
        """
        if not 1 <= horizon <= self._horizon:
            raise PlanRefusal(
                f"a horizon of {horizon} is outside 1..{self._horizon}: raise expert_horizon of maniskill_bridge"
            )
        if frame not in self._plans:
            raise PlanRefusal(f"no plan from frame {frame}: the simulator is elsewhere")
        actions, phase = self._plans[frame]
        return actions[:horizon], phase
