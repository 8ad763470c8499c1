"""MIKASA-Robo's RememberColor 3, 5 and 9 and ChainOfColors3 as tasks of the stack, each with an expert.

`mikasa.yaml`, beside this file, is their task table. Everything of a task is MIKASA-Robo's: scene, camera, chance, time
limit and what success is. Added is what the stack asks of an environment, see docs/your_own_task.md.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from mani_skill.sensors.camera import CameraConfig
from mani_skill.utils import sapien_utils
from mani_skill.utils.registration import register_env
from mikasa_robo_suite.vla.memory_envs.chain_of_colors_vla import ChainOfColors3LongVLAEnv, ChainOfColors3VLAEnv
from mikasa_robo_suite.vla.memory_envs.remember_color_vla import (
    RememberColor3VLAEnv,
    RememberColor5VLAEnv,
    RememberColor9VLAEnv,
)
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.tabletop import THIRD_PERSON_CAMERA, TabletopEnv
from kc_vla_sim.errors import BadLooksError, BadVariantError
from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.plan_ahead import plan_ahead
from kc_vla_sim.experts.tool import POINTING_DOWN, Tool, Vector
from kc_vla_sim.frame import Detection
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.looks import STANDARD_LOOKS, check_looks
from kc_vla_sim.shaders import camera_shader, set_picture_formats
from kc_vla_sim.variants import STANDARD, check_variant

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


class OfTheStack:
    """What the stack asks of an environment, and one of MIKASA-Robo lacks. Comes before that one among the bases."""

    SUPPORTED_ROBOTS = ["panda_wristcam_light"]
    SUPPORTED_REWARD_MODES = ("none", "sparse", "dense", "normalized_dense")

    def __init__(
        self, *args: Any, variant: str = STANDARD, looks: str = STANDARD_LOOKS, whims: bool = True, **kwargs: Any
    ) -> None:
        """Take what `BaseEnv` takes, and what the simulator of the stack asks for."""
        if check_variant(variant) != STANDARD:
            raise BadVariantError(f"no variant '{variant}': tasks of MIKASA-Robo have '{STANDARD}' alone")
        if check_looks(looks) != STANDARD_LOOKS:
            raise BadLooksError(f"no looks '{looks}': tasks of MIKASA-Robo have '{STANDARD_LOOKS}' alone")
        kwargs.setdefault("reconfiguration_freq", 1)  # the same seed is the same episode, whatever was before
        kwargs.setdefault("robot_uids", self.SUPPORTED_ROBOTS[0])
        super().__init__(*args, **kwargs)

    @property
    def _default_sensor_configs(self) -> list[CameraConfig]:
        pose = sapien_utils.look_at(eye=[0.3, 0, 0.6], target=[-0.1, 0, 0.1])  # MIKASA-Robo's base_camera
        return [CameraConfig(THIRD_PERSON_CAMERA, pose, 256, 256, np.pi / 2, 0.01, 100, shader_config=camera_shader())]

    def _setup_sensors(self, options: dict[str, Any]) -> None:
        set_picture_formats()
        super()._setup_sensors(options)

    pictures = TabletopEnv.pictures

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        ours, self.robot_uids = self.robot_uids, "panda_wristcam"  # it asks for this name; the arm is the same
        try:
            super()._initialize_episode(env_idx, options)
        finally:
            self.robot_uids = ours

    def evaluate(self) -> dict[str, Any]:
        """What MIKASA-Robo's says, and what it does not know: nothing fails before the time is up."""
        told = super().evaluate()
        return told | {"fail": torch.zeros_like(told["success"]), "completed_stages": self.stages(told)}

    @property
    def failure_reason(self) -> str:
        """Nothing fails before the time is up."""
        return "failed"

    @property
    def cubes_are_back(self) -> bool:
        """Whether cue and wait are over."""
        return bool(self.elapsed_steps[0] >= self.cue_steps_per_env[0] + self.empty_steps_per_env[0])

    def detections(self) -> tuple[Detection, ...]:
        """The cubes that are on the table."""
        size = (2 * self.CUBE_HALFSIZE,) * 3
        names = {key: self.COLOR_MAPPING[key][0].lower() for key in self.cubes}
        there = [(key, cube) for key, cube in self.cubes.items() if float(cube.pose.p[0, 2]) < 1]
        return tuple(
            Detection(f"{names[key]} cube", "cube", names[key], to_pose(cube.pose), size) for key, cube in there
        )

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """None that is probed."""
        return []


class RemembersColor(OfTheStack):
    """What is remembered is seen in frame 0."""

    def stages(self, told: dict[str, Any]) -> torch.Tensor:
        """One: the cube is touched."""
        return told["success"].int()

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """The start."""
        return [(0, 0)]


class RemembersChain(OfTheStack):
    """A keyframe for each cube that is shown, for each that is touched in its turn, and for the button.

    No picture tells which have been touched already, nor whether the button has been down.
    """

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        super()._initialize_episode(env_idx, options)
        self._done_at: list[int] = []

    def evaluate(self) -> dict[str, Any]:
        """See `OfTheStack.evaluate`; the frames in which something is done first are noted."""
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


class _Touches:
    """Goes to what is to be touched next, from above, and rests there. Before, it waits above the middle."""

    speed: ClassVar[float] = SPEED
    settling: ClassVar[float] = 1.0
    travels: ClassVar[str] = "touch"
    """Phase of its way: in 25 steps there is no time to be pushed off it, as `kc-vla collect --plans` does in "go"."""

    def __init__(self, world: Any) -> None:
        self._world = world

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """See `protocol.Expert.plan`."""
        pose = self._world.agent.tcp.pose.sp
        tool = Tool(np.asarray(pose.p, float), Rotation.from_quat(np.roll(pose.q, -1)))
        return plan_ahead(horizon, tool, self._decide, lambda tool, action: tool.after(action[:6]))

    def _decide(self, tool: Tool) -> Step:
        phase, way = "wait", np.array([-0.05, 0, 0.2])
        if self._world.cubes_are_back:
            way = self._next(tool)
            phase = self.travels if np.linalg.norm(way - tool.position) > 2 * NEAR else "touch"
        return phase, np.append(tool.delta_towards(way, POINTING_DOWN, self.speed, self.settling), 0.0)

    def _next(self, tool: Tool) -> Vector:
        raise NotImplementedError

    def _above(self, key: int, height: float) -> Vector:
        """The place `height` (m) above the centre of a cube."""
        return np.asarray(self._world.cubes[key].pose.p[0], float) + np.array([0.0, 0.0, height])


class TouchesTheColor(_Touches):
    """Expert of RememberColor: goes straight to the cube."""

    def _next(self, tool: Tool) -> Vector:
        return self._above(int(self._world.true_color_indices[0]), TOUCH)


class TouchesTheChain(_Touches):
    """Expert of ChainOfColors: travels above the cubes, touches those of the chain in order, presses the button."""

    speed, settling, travels = SLOW, 0.5, "go"  # a cube that is hit is tossed

    def _next(self, tool: Tool) -> Vector:
        world = self._world
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
