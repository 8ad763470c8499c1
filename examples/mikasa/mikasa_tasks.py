"""MIKASA-Robo's RememberColor 3, 5 and 9 and ChainOfColors3 as tasks of the stack, each with an expert.

`mikasa.yaml`, beside this file, is their task table. Everything of a task is MIKASA-Robo's: scene, camera, chance, time
limit and what success is. Added is what the stack asks of an environment, see docs/your_own_task.md.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from mani_skill.utils.registration import register_env
from mikasa_robo_suite.vla.memory_envs.chain_of_colors_vla import ChainOfColors3LongVLAEnv, ChainOfColors3VLAEnv
from mikasa_robo_suite.vla.memory_envs.remember_color_vla import (
    RememberColor3VLAEnv,
    RememberColor5VLAEnv,
    RememberColor9VLAEnv,
)

from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.stepwise import StepwiseExpert
from kc_vla_sim.experts.tool import POINTING_DOWN, Tool, Vector
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.wrapping import WrappedTask

TOUCH = 0.03
"""A cube counts as touched when the tool rests within 0.05 m of its centre: it goes so far above it, m."""
HOVER = 0.1
"""How far above what it touches next the tool travels, m."""
NEAR, SLOPE = 0.01, 2.0
"""It goes down a funnel: as far as it is off in the plane, less the one (m), times the other above what it touches."""
LOW = 0.02
"""Where it is so much lower than that it rises first, m."""
SPEED, SLOW = 0.03, 0.02
"""Largest move of the tool, m per step: in 25 steps for one cube, in 400 for three that have to be met within 2 cm."""


class OfMikasa(WrappedTask):
    """What the tasks of MIKASA-Robo share. Nothing fails before the time is up."""

    AS_ROBOT = "panda_wristcam"  # they ask for this name; the arm is the same

    @property
    def cubes_are_back(self) -> bool:
        """Whether cue and wait are over."""
        return bool(self.elapsed_steps[0] >= self.cue_steps_per_env[0] + self.empty_steps_per_env[0])

    def detections(self) -> tuple[GroundTruthObject, ...]:
        """The cubes that are on the table."""
        size = (2 * self.CUBE_HALFSIZE,) * 3
        names = {key: self.COLOR_MAPPING[key][0].lower() for key in self.cubes}
        there = [(key, cube) for key, cube in self.cubes.items() if float(cube.pose.p[0, 2]) < 1]
        return tuple(
            GroundTruthObject(f"{names[key]} cube", "cube", names[key], to_pose(cube.pose), size) for key, cube in there
        )


class RemembersColor(OfMikasa):
    """What is remembered is seen in frame 0; the one stage is that the cube is touched."""


class RemembersChain(OfMikasa):
    """A keyframe for each cube that is shown, for each that is touched in its turn, and for the button.

    No picture tells which have been touched already, nor whether the button has been down.
    """

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        super()._initialize_episode(env_idx, options)
        self._done_at: list[int] = []

    def evaluate(self) -> dict[str, Any]:
        """See `WrappedTask.evaluate`; the frames in which something is done first are noted."""
        told = super().evaluate()
        done = int(self._touched_in_turn()[0])
        done += int(done == self.SEQUENCE_LENGTH and bool(self.pending_press[0] | self.button_pressed[0]))
        self._done_at += [int(self.elapsed_steps[0])] * (done - len(self._done_at))
        return told

    def stages(self, told: dict[str, Any]) -> torch.Tensor:
        """Cubes touched in order from the first, then the button."""
        right = self._touched_in_turn()
        return (right + (right == self.SEQUENCE_LENGTH) * self.button_pressed).int()

    def _touched_in_turn(self) -> torch.Tensor:
        return (self.touched_cubes_idx == self.true_color_indices).cumprod(dim=1).sum(dim=1)

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Frames in which the next cube of the chain is seen first, or something is done first."""
        lasts = int(self.cue_step_duration_per_env[0])
        shown = [number * lasts for number in range(self.SEQUENCE_LENGTH) if number * lasts <= self.elapsed_steps[0]]
        return list(enumerate(shown + self._done_at))


@register_env("RememberColor3-Stack-v0", max_episode_steps=25)
class RememberColor3(RemembersColor, RememberColor3VLAEnv):
    """Of three colors."""


@register_env("RememberColor5-Stack-v0", max_episode_steps=25)
class RememberColor5(RemembersColor, RememberColor5VLAEnv):
    """Of five colors."""


@register_env("RememberColor9-Stack-v0", max_episode_steps=25)
class RememberColor9(RemembersColor, RememberColor9VLAEnv):
    """Of nine colors."""


@register_env("ChainOfColors3-Stack-v0", max_episode_steps=400)
class ChainOfColors3(RemembersChain, ChainOfColors3VLAEnv):
    """A new cube every 1 to 5 frames: keyframes closer than the six frames that a selector tells apart."""


@register_env("ChainOfColors3Long-Stack-v0", max_episode_steps=800)
class ChainOfColors3Long(RemembersChain, ChainOfColors3LongVLAEnv):
    """A new cube every 10 to 100 frames."""


class _Touches(StepwiseExpert):
    """Goes to what is to be touched next, from above, and rests there. Before, it waits above the middle."""

    speed: ClassVar[float] = SPEED
    settling: ClassVar[float] = 1.0
    travels: ClassVar[str] = "touch"
    """Phase of its way: in 25 steps there is no time to be pushed off it, as `kc-vla collect --plans` does in "go"."""

    def decide(self, tool: Tool) -> Step:
        """See `StepwiseExpert.decide`."""
        phase, way = "wait", np.array([-0.05, 0, 0.2])
        if self.world.cubes_are_back:
            way = self._next(tool)
            phase = self.travels if np.linalg.norm(way - tool.position) > 2 * NEAR else "touch"
        return phase, np.append(tool.delta_towards(way, POINTING_DOWN, self.speed, self.settling), 0.0)

    def _next(self, tool: Tool) -> Vector:
        raise NotImplementedError

    def _above(self, key: int, height: float) -> Vector:
        """The place `height` (m) above the centre of a cube."""
        return np.asarray(self.world.cubes[key].pose.p[0], float) + np.array([0.0, 0.0, height])


class TouchesTheColor(_Touches):
    """Expert of RememberColor: goes straight to the cube."""

    def _next(self, tool: Tool) -> Vector:
        return self._above(int(self.world.true_color_indices[0]), TOUCH)


class TouchesTheChain(_Touches):
    """Expert of ChainOfColors: travels above the cubes, touches those of the chain in order, presses the button."""

    speed, settling, travels = SLOW, 0.5, "go"  # a cube that is hit is tossed

    def _next(self, tool: Tool) -> Vector:
        world = self.world
        touched = int(world.stages({})[0])
        if touched > world.SEQUENCE_LENGTH:
            return tool.position
        if bool(world.pending_press[0]):  # a press counts once the tool has risen again
            risen = float(world.press_start_tcp_z[0]) + world.REQUIRED_LIFT_HEIGHT + 0.02
            return np.append(tool.position[:2], risen)
        if touched < world.SEQUENCE_LENGTH:
            top = self._above(int(world.true_color_indices[0, touched]), world.CUBE_HALFSIZE + 0.015)
        else:
            top = np.append(np.asarray(world.button_xy[0], float), float(world.button_top_z[0]) + 0.01)
        off = float(np.linalg.norm(tool.position[:2] - top[:2]))
        above = min(HOVER, SLOPE * max(0.0, off - NEAR))
        rises = tool.position[2] < top[2] + above - LOW
        return np.append(tool.position[:2] if rises else top[:2], top[2] + (HOVER if rises else above))
