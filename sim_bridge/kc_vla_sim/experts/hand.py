"""Hand and cubes as the picking experts think of them, and where an action will bring them.

Positions are in the world frame (m, z up from the table's surface), turns in axes parallel to it. A cube's yaw counts
modulo 90 degrees: all four of its sides look the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan2, cos, pi, sin
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.experts.tool import POINTING_DOWN, REACHED_SHARE, Tool, Vector
from kc_vla_sim.robot import CONTROL_RATE

READY = 0.034
"""Finger position for a grasp, m: wide enough for a cube, and no wider because of its neighbors."""
GRIPPED = 0.0205
"""A finger that is no further out than this while a cube is between the fingers holds the cube, m."""
_PRESSING = 0.019
"""Fingers that would come so far in a step if nothing were between them press on it at its end, m."""
_CLOSED, _WIDEST = -0.01, 0.04
"""Where the drives of a closing and of an opening gripper pull the fingers, m."""
READY_GRIPPER = (READY - _CLOSED) / (_WIDEST - _CLOSED)
"""Gripper command for `READY`."""
LOOSE_GRIPPER = (0.0215 - _CLOSED) / (_WIDEST - _CLOSED)
"""Gripper command that takes the pressure off a held cube; fingers that spring open at once throw it aside."""
_FINGERS = (0.05, 0.009)
"""Half the extent of both fingers, ready to grasp, along the line between them and across, m."""
_PALM = (0.105, 0.045)
"""The same of the hand above the fingers, with its camera."""
_PALM_HEIGHT = 0.035
"""Height of the palm's underside above the tool center point, m."""
_COASTING = np.array([[0.11, 0.0, 0.24], [0.0, 0.74, 0.0], [0.0, 0.0, 0.5]])
"""How far (m) the tool still goes after a stop for each m per step of its speed; fitted to 2,400 random steps."""
_SWINGING = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.03], [0.0, 1.36, 0.0]])
"""How far (rad) it still turns: speeding up turned it the other way."""
_GRIP_REACH = 0.012
"""The fingers enclose a cube whose center is closer to the tool center point than this in the plane, m."""


@dataclass(frozen=True)
class Cube:
    """A cube: center (3,), m, and yaw, rad, in -pi/4..pi/4."""

    position: Vector
    yaw: float


@dataclass(frozen=True)
class HandScene:
    """The hand and all cubes that it must not run into.

    Attributes:
        tool: tool center point and turn.
        opening: finger position, m; 0 closed, 0.04 wide open.
        cubes: every cube, also the held one.
        held: index of the cube that is in the grip, or None.
    """

    tool: Tool
    opening: float
    cubes: tuple[Cube, ...]
    held: int | None

    def after(self, action: Vector) -> HandScene:
        """Return the scene one step after the tool delta with gripper, (7,), if all goes as it should."""
        tool = self.tool.after(action[:6])
        target = _CLOSED + float(action[6]) * (_WIDEST - _CLOSED)
        # Fingers press a little into what they hold; they have left that behind as soon as they let go.
        opening = self.opening if self.held is None else max(self.opening, CUBE_HALF_SIZE)
        opening += REACHED_SHARE * (target - opening)
        if self.held is not None:
            if opening > GRIPPED:
                return replace(self, tool=tool, opening=opening, held=None)
            return replace(self, tool=tool, cubes=self.carried(tool))
        between = self.between_fingers() if target < GRIPPED else None
        if between is None:
            return replace(self, tool=tool, opening=max(opening, 0.0))
        held = between if opening < _PRESSING else None
        return replace(self, tool=tool, opening=max(opening, CUBE_HALF_SIZE), held=held)

    def between_fingers(self) -> int | None:
        """Return the index of the cube whose center is in the grip of the fingers, whether they are closed or not."""
        for index, cube in enumerate(self.cubes):
            gap = self.tool.rotation.inv().apply(cube.position - self.tool.position)
            if np.hypot(gap[0], gap[1]) < _GRIP_REACH and abs(gap[2]) < CUBE_HALF_SIZE:
                return index
        return None

    def carried(self, tool: Tool) -> tuple[Cube, ...]:
        """Return the cubes, the held one moved along with the hand to `tool`; one must be held."""
        assert self.held is not None
        cube = self.cubes[self.held]
        turn = tool.rotation * self.tool.rotation.inv()
        position = tool.position + turn.apply(cube.position - self.tool.position)
        yaw = nearest_yaw(cube.yaw + float(turn.as_rotvec()[2]), 0.0)
        return tuple(Cube(position, yaw) if k == self.held else other for k, other in enumerate(self.cubes))


def see_scene(agent: Any, cubes: Sequence[Any]) -> HandScene:
    """Read the first environment: `agent` is a ManiSkill Panda, `cubes` are actors of `build_cube`.

    Hand and held cube are given where they would come to rest if the hand stopped now, up to 2 cm ahead of
    where they are. That pose follows every tool delta exactly, however the mass of the arm delays the motion itself.
    """
    pose = agent.tcp.pose.sp
    tool = Tool(np.asarray(pose.p, float), Rotation.from_quat(np.roll(pose.q, -1)))
    opening = float(agent.robot.get_qpos()[0, -2:].mean())
    scene = HandScene(tool, opening, tuple(_see_cube(cube) for cube in cubes), None)
    near = scene.between_fingers()
    # Contact forces are asked for one cube at most: each question costs as much as a planned step.
    held = near if near is not None and bool(agent.is_grasping(cubes[near])[0]) else None
    velocity = np.asarray(agent.tcp.linear_velocity[0], float) / CONTROL_RATE
    resting = Tool(tool.position + _COASTING @ velocity, Rotation.from_rotvec(_SWINGING @ velocity) * tool.rotation)
    scene = replace(scene, held=held)
    return replace(scene, tool=resting, cubes=scene.cubes if held is None else scene.carried(resting))


def _see_cube(actor: Any) -> Cube:
    """Return the pose of a cube, whichever side it lies on."""
    pose = actor.pose.sp
    axes = Rotation.from_quat(np.roll(pose.q, -1)).as_matrix()
    level = axes[:, int(np.argmin(np.abs(axes[2])))]
    return Cube(np.asarray(pose.p, float), nearest_yaw(atan2(level[1], level[0]), 0.0))


def nearest_yaw(yaw: float, to: float) -> float:
    """Return the yaw that is the same as `yaw` modulo 90 degrees and lies nearest to `to`, rad."""
    quarter = pi / 2
    return yaw + quarter * round((to - yaw) / quarter)


def hand_yaw(rotation: Rotation) -> float:
    """Return the yaw of a hand that points about down, rad; 0 with its camera ahead."""
    ahead = rotation.apply([1.0, 0.0, 0.0])
    return atan2(ahead[1], ahead[0])


def facing(yaw: float) -> Rotation:
    """Turn of a hand that points down with its camera towards `yaw`, rad."""
    return Rotation.from_rotvec([0.0, 0.0, yaw]) * POINTING_DOWN


def grasp_clearance(yaw: float, target: Cube, others: Sequence[Cube]) -> float:
    """Free space (m) around a hand with `yaw` that grasps `target` among `others`; negative if it would hit one."""
    along_x, along_y = -sin(yaw), cos(yaw)  # the line between the fingers
    free = 1.0
    for other in others:
        x, y, z = (float(value) for value in other.position - target.position)
        if z < -1.5 * CUBE_HALF_SIZE:
            continue  # below the fingertips
        length, width = _PALM if z > _PALM_HEIGHT - CUBE_HALF_SIZE else _FINGERS
        turn = other.yaw - yaw
        half = CUBE_HALF_SIZE * (abs(cos(turn)) + abs(sin(turn)))
        gap_along = abs(x * along_x + y * along_y) - length - half
        gap_across = abs(x * along_y - y * along_x) - width - half
        free = min(free, max(gap_along, gap_across))
    return free
