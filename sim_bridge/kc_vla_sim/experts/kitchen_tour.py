"""Expert for the kitchen: it follows the legs of the tour, as `kc_vla_sim.envs.kitchen_tour` has them at present."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.plan_ahead import plan_ahead
from kc_vla_sim.experts.tool import Tool, Vector
from kc_vla_sim.kitchen.legs import TourLeg, TourProgress

if TYPE_CHECKING:
    from kc_vla_sim.envs.kitchen import KitchenEnv

_SETTLING = 0.5
"""Largest share of the way left that one step covers."""


@dataclass(frozen=True)
class _State:
    tool: Tool
    progress: TourProgress


class KitchenTourExpert:
    """Plans tool deltas along the legs of the tour in `world`."""

    def __init__(self, world: KitchenEnv) -> None:
        self._world = world

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the next `horizon` tool deltas (horizon, 7) and the present phase: see `Expert.plan`."""
        pose = ROBOT_BASE.inv() * self._world.agent.tcp.pose.sp
        tool = Tool(np.asarray(pose.p, float), Rotation.from_quat(np.roll(pose.q, -1)))
        legs, progress = self._world.tour.legs, self._world.tour.progress

        def decide(state: _State) -> Step:
            return _decide(legs, state)

        def after(state: _State, action: Vector) -> _State:
            moved = state.tool.after(action[:6])
            return _State(moved, state.progress.after(legs, moved.position, moved.rotation))

        return plan_ahead(horizon, _State(tool, progress), decide, after)


def _decide(legs: list[TourLeg], state: _State) -> Step:
    """Return phase and action (7,) for one step: the present leg's, or staying at the end of the last."""
    if not legs:
        return "wait", np.zeros(7)
    over = state.progress.leg >= len(legs)
    leg = legs[min(state.progress.leg, len(legs) - 1)]
    delta = state.tool.delta_towards(leg.position, leg.rotation, leg.speed, _SETTLING)
    return "wait" if over else leg.phase, np.append(delta, leg.gripper)
