"""A policy that holds the robot still, e.g. to record a scene or to try cameras."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.core.options import option
from kc_vla.core.robot import Robot
from kc_vla.policy.backends import PolicyContext, PolicyKind
from kc_vla.policy.interface import PolicyInput


@dataclass(frozen=True)
class StillOptions:
    """The options of the policy."""

    follow: bool = option("hold where the robot is now, as after a push, not where the episode began", False)


class StillBackend:
    """See `kc_vla.policy.interface.Backend`."""

    name = "still"
    needs_keyframes = False
    needs_images = False
    needs_plan = False
    action_type = ActionType.JOINT_POSITION

    def __init__(self, robot: Robot, horizon: int, follow: bool) -> None:
        self.names = Codec(robot, self.action_type).action_names
        self._horizon, self._follow = horizon, follow
        self._held: NDArray[np.float64] | None = None

    def reset(self, episode: Episode) -> str:
        """See `Backend`."""
        self._held = None
        return ""

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """See `Backend`: joint positions are targets in the space of the state."""
        if self._held is None or self._follow:
            self._held = given.state
        return np.tile(self._held.astype(np.float32), (self._horizon, 1))


def _make(context: PolicyContext, options: StillOptions) -> StillBackend:
    return StillBackend(context.robot, context.horizon, options.follow)


STILL = PolicyKind("holds still", StillOptions, _make, inline=True)
