"""The simulator's expert as a policy: it sees what no camera shows, the simulator's own state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.policy.interface import PolicyInput


class ExpertBackend:
    """Does what the expert would do."""

    name = "expert"
    needs_keyframes = True
    needs_images = False
    needs_plan = True
    action_type = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES

    def reset(self, episode: Episode) -> str:
        """Do nothing, as the expert reads the simulator's state each time."""
        return ""

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the expert's plan from `given.frame` on."""
        assert given.plan is not None
        return given.plan
