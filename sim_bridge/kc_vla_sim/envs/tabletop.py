"""What all tasks share: a table, the robot at its end, two cameras, the light.

World frame: origin on the table top, x away from the robot, z up. The robot's base stands at x = -0.615 m.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import sapien
import torch
from mani_skill.envs.sapien_env import BaseEnv
from mani_skill.sensors.camera import CameraConfig
from mani_skill.utils import sapien_utils

from kc_vla_sim.envs.distractors import PLACES, Distractors, Places, numbers_of_chance
from kc_vla_sim.envs.looks import TABLE_COLOUR, matte
from kc_vla_sim.frame import Detection, Image
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.robots.panda import LightPandaWristCam
from kc_vla_sim.shaders import camera_shader, set_picture_formats
from kc_vla_sim.variants import STANDARD, check_variant

THIRD_PERSON_CAMERA = "third_person"
ROBOT_BASE = sapien.Pose(p=[-0.615, 0, 0])
"""Pose of the robot's base in the world."""
START_POSTURE = (0.0, np.pi / 8, 0.0, -np.pi * 5 / 8, 0.0, np.pi * 3 / 4, np.pi / 4, 0.0, 0.0)
"""Seven arm joints (rad) and two fingers (m), gripper closed."""

_CAMERA_POSE = sapien_utils.look_at(eye=[0.62, 0.62, 0.62], target=[-0.24, -0.08, 0.24])
_CAMERA_FOV = 0.86
_TABLE_HALF_SIZE = (0.6, 0.75, 0.02)
_TABLE_CENTRE = (-0.2, 0.0, -0.02)
_FLOOR_HEIGHT = -0.75


class TabletopEnv(BaseEnv):
    """Base of the tasks: a Panda with a wrist camera at a table. Sub-classes add objects, chance and success."""

    SUPPORTED_ROBOTS = ["panda_wristcam_light", "panda_wristcam"]
    SUPPORTED_REWARD_MODES = ("sparse", "none")
    RANGES: ClassVar[Mapping[str, Any]]
    """What chance decides in each variant of the task: the task's own frozen dataclass by the variant's name."""

    DISTRACTOR_PLACES: ClassVar[Places] = PLACES
    """Those of the places for distractors that the task leaves free; no fewer than there are kinds."""

    agent: LightPandaWristCam

    def __init__(
        self,
        *args: Any,
        robot_uids: str = "panda_wristcam_light",
        control_mode: str = "pd_ee_delta_pose",
        render_backend: str = "auto",
        variant: str = STANDARD,
        ranges: Any = None,
        **kwargs: Any,
    ) -> None:
        """Take what `BaseEnv` takes; a `render_backend` of "auto" is a GPU when there is one.

        Args:
            args: of `BaseEnv`.
            robot_uids: a robot with a wrist camera.
            control_mode: of the robot.
            render_backend: what draws.
            variant: name in `kc_vla_sim.variants`.
            ranges: what chance decides, in place of the variant's.
            kwargs: of `BaseEnv`.

        Raises:
            RendererError: no usable Vulkan driver.
            BadVariantError: there is no such variant.
        """
        self.ranges = ranges or self.RANGES[check_variant(variant)]
        if kwargs.get("num_envs", 1) == 1:
            # Each episode gets a scene of its own, which takes 0.3 s. In the order of its contacts the physics engine
            # keeps traces of what touched what in earlier episodes, which change a grasp in the seventh digit.
            kwargs.setdefault("reconfiguration_freq", 1)
        super().__init__(
            *args,
            robot_uids=robot_uids,
            control_mode=control_mode,
            render_backend=choose_renderer() if render_backend == "auto" else render_backend,
            **kwargs,
        )

    @property
    def _default_sensor_configs(self) -> list[CameraConfig]:
        return [
            CameraConfig(
                THIRD_PERSON_CAMERA,
                pose=_CAMERA_POSE,
                width=256,
                height=256,
                fov=_CAMERA_FOV,
                near=0.1,
                far=10,
                shader_config=camera_shader(),
            )
        ]

    @property
    def _default_human_render_camera_configs(self) -> CameraConfig:
        return CameraConfig(
            "render_camera",
            pose=_CAMERA_POSE,
            width=768,
            height=768,
            fov=_CAMERA_FOV,
            near=0.1,
            far=10,
            shader_config=camera_shader(),
        )

    def _setup_sensors(self, options: dict[str, Any]) -> None:
        set_picture_formats()
        super()._setup_sensors(options)

    def _load_agent(self, options: dict[str, Any]) -> None:
        super()._load_agent(options, ROBOT_BASE)

    def _load_scene(self, options: dict[str, Any]) -> None:
        table = self.scene.create_actor_builder()
        table.add_box_collision(half_size=_TABLE_HALF_SIZE)
        table.add_box_visual(half_size=_TABLE_HALF_SIZE, material=matte(TABLE_COLOUR))
        table.initial_pose = sapien.Pose(p=_TABLE_CENTRE)
        table.build_static(name="table")
        room = self.scene.create_actor_builder()
        room.add_box_visual(
            sapien.Pose(p=[0, 0, _FLOOR_HEIGHT]), half_size=(4, 4, 0.01), material=matte((0.3, 0.32, 0.35))
        )
        room.add_box_visual(sapien.Pose(p=[-2, 0, 0]), half_size=(0.01, 4, 2), material=matte((0.62, 0.66, 0.7)))
        room.add_box_visual(sapien.Pose(p=[0, -2, 0]), half_size=(4, 0.01, 2), material=matte((0.62, 0.66, 0.7)))
        room.initial_pose = sapien.Pose()
        room.build_static(name="room")
        self._distractors = Distractors(self.scene, self.ranges.distractors, self.DISTRACTOR_PLACES)

    def _load_lighting(self, options: dict[str, Any]) -> None:
        self.scene.set_ambient_light([0.36, 0.36, 0.38])
        self.scene.add_directional_light(
            direction=[-0.35, -0.55, -1.0],
            color=[1.5, 1.47, 1.4],
            shadow=self.enable_shadow,
            shadow_scale=1.1,
            shadow_near=-2.0,
            shadow_far=2.0,
            shadow_map_size=1024,
        )

    def pictures(self) -> dict[str, Image]:
        """Draw what each camera sees now: (height, width, 3) each, for one environment without a batch."""
        self.scene.update_render(update_human_render_cameras=False)
        self.capture_sensor_data()
        drawn = {
            name: sensor.get_obs(rgb=True, depth=False, position=False, segmentation=False)["rgb"]
            for name, sensor in self._sensors.items()
        }
        return {name: np.ascontiguousarray(rgb[0].cpu().numpy()) for name, rgb in drawn.items()}

    @property
    def failure_reason(self) -> str:
        """What it is called when `evaluate` says "fail"."""
        raise NotImplementedError

    def detections(self) -> tuple[Detection, ...]:
        """The objects of the task as they are now, for one environment without a batch."""
        raise NotImplementedError

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Phase and frame of each ground-truth keyframe that is known by now, for one environment."""
        raise NotImplementedError

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Frame and right choice (index into the task's `choices`) of each moment of decision so far.

        At such a moment the right choice depends on the past alone. For one environment.
        """
        raise NotImplementedError

    def _draw(self, env_idx: torch.Tensor, *ranges: tuple[float, float]) -> torch.Tensor:
        """One number out of each range for each environment in `env_idx`: (len(env_idx), len(ranges)), float32."""
        low, high = np.array(ranges).T
        drawn = self._batched_episode_rng[env_idx].uniform(low, high)
        return torch.as_tensor(drawn, dtype=torch.float32, device=self.device)

    def _place_distractors(self, env_idx: torch.Tensor) -> None:
        """Put the distractors of the variant on the table: the last chance that `_initialize_episode` draws.

        Drawn last, and always with as many numbers, they leave everything else in an episode as it is without them.
        """
        chance = self._batched_episode_rng[env_idx].uniform(size=numbers_of_chance())
        self._distractors.place(chance, self.device)

    def _set_start_posture(self, env_idx: torch.Tensor, noise: float) -> None:
        """Put the arm near `START_POSTURE`, each arm joint off by up to `noise` (rad), gripper closed."""
        posture = np.tile(START_POSTURE, (len(env_idx), 1))
        posture[:, :7] += self._batched_episode_rng[env_idx].uniform(-noise, noise, size=7)
        self.agent.reset(torch.as_tensor(posture, dtype=torch.float32, device=self.device))
