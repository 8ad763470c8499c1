"""Expert for the kitchen: it stays where it is."""

from __future__ import annotations

import numpy as np

from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.stepwise import StepwiseExpert
from kc_vla_sim.experts.tool import Tool


class KitchenTourExpert(StepwiseExpert):
    """Looks around."""

    def decide(self, tool: Tool) -> Step:
        """Return a step without motion."""
        return "wait", np.zeros(7)
