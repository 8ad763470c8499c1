"""Expert for identity: stay out of the way until the shuffle has ended, then lift the cube that was in the middle.

Every step is decided from the present state alone. It does not know when the shuffle will end: a plan made before
it moves waits throughout.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.envs.identity import MIDDLE
from kc_vla_sim.experts.grasping import Step, Tempo, fetch, go
from kc_vla_sim.experts.hand import HandScene, facing, see_scene
from kc_vla_sim.experts.plan_ahead import plan_ahead
from kc_vla_sim.experts.tool import Vector

if TYPE_CHECKING:
    from kc_vla_sim.envs.teacher_arm_shuffle import TeacherArmShuffleEnv

LIFT_HEIGHT = 0.15
"""Height to which it lifts the cube's center, m; success comes before."""
_FULL_SPEED = Tempo(travel=0.02, lower=0.012, lift=0.02, settling=0.15)


class TeacherArmShuffleExpert:
    """Plans tool deltas from the state of `world`."""

    def __init__(self, world: TeacherArmShuffleEnv) -> None:
        self._world = world

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the next `horizon` tool deltas (horizon, 7) and the present phase: see `Expert.plan`."""
        world = self._world
        scene = see_scene(world.agent, world.cubes)
        may_move = int(world.elapsed_steps[0]) >= int(world.go_frame[0])
        return plan_ahead(horizon, scene, self._lift if may_move else self._wait, _after)

    def _wait(self, scene: HandScene) -> Step:
        """Stay at home, or go back there."""
        x, y, z, yaw = self._world.home[0].tolist()
        _, action = go(scene, np.array([x, y, z]), facing(yaw), _FULL_SPEED)
        return "wait", action

    def _lift(self, scene: HandScene) -> Step:
        """Fetch the right cube."""
        share = float(self._world.expert_speed[0])
        full = _FULL_SPEED
        tempo = replace(full, travel=share * full.travel, lower=share * full.lower, lift=share * full.lift)
        return fetch(scene, MIDDLE, LIFT_HEIGHT, tempo)


def _after(scene: HandScene, action: Vector) -> HandScene:
    """Return the scene one step on, after the action (7,) as the plan holds it: in single precision."""
    return scene.after(action.astype(np.float32).astype(float))
