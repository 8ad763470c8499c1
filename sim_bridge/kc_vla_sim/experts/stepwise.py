"""An expert that decides one step at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.plan_ahead import plan_ahead
from kc_vla_sim.experts.tool import Tool


class StepwiseExpert:
    """Plans by deciding one step, imagining the tool after it, and deciding the next; a sub-class has `decide`.

    It does `kc_vla_sim.protocol.Expert`.

    Attributes:
        world: the environment of the episode.
    """

    def __init__(self, world: Any) -> None:
        """Begin an episode in the environment `world`."""
        self.world = world

    @property
    def tool(self) -> Tool:
        """Return the tool as it is now, in the world's axes."""
        pose = self.world.agent.tcp.pose.sp
        return Tool(np.asarray(pose.p, float), Rotation.from_quat(np.roll(pose.q, -1)))

    def decide(self, tool: Tool) -> Step:
        """Return what to do where the tool is at `tool`, which may be imagined: all else is as the simulator has it.

        Returns:
            the name of the phase, see `kc_vla_sim.experts.phases`, and an action (7,): the tool delta that
            `Tool.delta_towards` gives, and the gripper, 0 closed to 1 open.
        """
        raise NotImplementedError

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Plan ahead by deciding step by step for the tool as it would have moved by then."""
        return plan_ahead(horizon, self.tool, self.decide, lambda tool, action: tool.after(action[:6]))
