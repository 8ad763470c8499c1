"""Expert for counting: stand behind the cube, wait for the second flash to end, push.

Every step is decided from the present state alone: where tool, cube and target are, and how many flashes are over.
It does not know when the lamp will change. A plan assumes that the lamp stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.plan_ahead import plan_ahead
from kc_vla_sim.experts.tool import POINTING_DOWN, Tool, Vector

if TYPE_CHECKING:
    from kc_vla_sim.envs.push_cube_with_signal import PushCubeWithSignalEnv

TRAVEL_HEIGHT = 0.12
"""Height of the tool above the table while it moves past the cube, m."""
PUSH_HEIGHT = 0.025
BEHIND = 0.065
"""Distance from the cube's center at which the tool waits, m."""
CONTACT = 0.032
"""Distance from the cube's center at which the tool touches it, m."""
TRAVEL_SPEED = 0.012
"""m per step."""
DESCENT_SPEED = 0.01
PUSH_SPEED = 0.008
CLOSE = 0.012
"""The tool is above its place when it is closer than this in the plane, m."""
STRAY = 0.025
"""Further than this from its line or its place, a low tool goes up and comes again, m."""
ARRIVED = 0.02
"""The push is over when the cube is closer to the target's center than this, m."""


@dataclass(frozen=True)
class _State:
    """All that the next action depends on; positions in the plane are x, y in m."""

    tool: Tool
    cube: Vector
    goal: Vector
    may_push: bool

    @property
    def direction(self) -> Vector:
        """Return the unit vector from the cube to the target; away from the robot where the cube has arrived."""
        gap = self.goal - self.cube
        distance = np.linalg.norm(gap)
        return gap / distance if distance > ARRIVED else np.array([1.0, 0.0])


class PushCubeExpert:
    """Plans tool deltas from the state of `world`."""

    def __init__(self, world: PushCubeWithSignalEnv) -> None:
        self._world = world

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the next `horizon` tool deltas (horizon, 7) and the present phase: see `Expert.plan`."""
        return plan_ahead(horizon, self._present(), _decide, _after)

    def _present(self) -> _State:
        """Read the simulator."""
        world = self._world
        tool = world.agent.tcp.pose.sp
        return _State(
            tool=Tool(np.asarray(tool.p, float), Rotation.from_quat(np.roll(tool.q, -1))),
            cube=world.cube.pose.p[0, :2].numpy().astype(float),
            goal=world.goal.pose.p[0, :2].numpy().astype(float),
            may_push=world.flashes_ended == 2,
        )


def _decide(state: _State) -> Step:
    """Return phase and action (7,) for one step."""
    phase, delta = _move(state)
    return phase, np.append(delta, 0.0)  # the gripper stays closed


def _move(state: _State) -> tuple[str, Vector]:
    """Return phase and tool delta (6,) for one step."""
    tool, direction = state.tool, state.direction
    facing = Rotation.from_rotvec([0, 0, np.arctan2(direction[1], direction[0])]) * POINTING_DOWN
    position, height = tool.position[:2], tool.position[2]
    low = height < TRAVEL_HEIGHT - 0.02

    if state.may_push:
        if np.linalg.norm(state.goal - state.cube) <= ARRIVED:
            return "stop", np.zeros(6)
        along = float((position - state.cube) @ direction)
        aside = (position - state.cube) - along * direction
        behind = -BEHIND - STRAY < along < 0
        if behind and np.linalg.norm(aside) < STRAY and height < PUSH_HEIGHT + CLOSE:
            ahead = position - aside + PUSH_SPEED * direction
            return "push", tool.delta_towards(np.append(ahead, PUSH_HEIGHT), facing, PUSH_SPEED)

    place = state.cube - BEHIND * direction
    distance = float(np.linalg.norm(position - place))
    if low and distance > STRAY:
        return "rise", tool.delta_towards(np.append(position, TRAVEL_HEIGHT), tool.rotation, TRAVEL_SPEED)
    if not low and distance > CLOSE:
        return "approach", tool.delta_towards(np.append(place, TRAVEL_HEIGHT), facing, TRAVEL_SPEED)
    target = np.append(place, PUSH_HEIGHT)
    phase = "wait" if np.linalg.norm(target - tool.position) < CLOSE else "descend"
    return phase, tool.delta_towards(target, facing, DESCENT_SPEED)


def _after(state: _State, action: Vector) -> _State:
    """Return the state one step on, if the tool moves as commanded and a touched cube goes along."""
    tool = state.tool.after(action[:6])
    direction = state.direction
    offset = tool.position[:2] - state.cube
    along = float(offset @ direction)
    low = tool.position[2] < 2 * PUSH_HEIGHT
    touching = low and -CONTACT < along < 0 and np.linalg.norm(offset - along * direction) < STRAY
    cube = state.cube + (along + CONTACT) * direction if touching else state.cube
    return replace(state, tool=tool, cube=cube)
