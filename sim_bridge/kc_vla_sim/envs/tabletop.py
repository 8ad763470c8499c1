"""What all tasks share: a table, the robot at its end, two cameras, the light.

World frame: origin on the table top, x away from the robot, z up. `stations` says where the robot's base stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from mani_skill.envs.sapien_env import BaseEnv
from mani_skill.sensors.camera import CameraConfig
from mani_skill.utils import sapien_utils
from mani_skill.utils.structs import Pose

from kc_vla_sim.choices import STANDARD, STANDARD_LOOKS, VARIED_LOOKS, check_looks, check_variant
from kc_vla_sim.envs.distractors import PLACES, Distractors, Places, numbers_of_chance
from kc_vla_sim.envs.room import build_room, light_room
from kc_vla_sim.envs.varied_looks import STANDARD_ROOM, RoomLooks, draw_room
from kc_vla_sim.errors import BadLooksError
from kc_vla_sim.frame import Capture, GroundTruthObject, Image, VisibleObject, capture_of
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.robots.panda import LightPandaWristCam
from kc_vla_sim.robots.piper import SimulatedPiper
from kc_vla_sim.robots.stations import ROBOT_BASE as ROBOT_BASE
from kc_vla_sim.robots.stations import station_of
from kc_vla_sim.shaders import camera_shader, set_picture_formats

THIRD_PERSON_CAMERA = "third_person"
LONGEST_REST = 0.05
"""Rests of an expert that are its own are no longer than this, s: a control step."""


class TabletopEnv(BaseEnv):
    """Base of the tasks: a robot with a wrist camera at a table. Sub-classes add objects, chance and success."""

    SUPPORTED_ROBOTS = ["panda_wristcam_light", "panda_wristcam"]
    SUPPORTED_REWARD_MODES = ("sparse", "none")
    RANGES: ClassVar[Mapping[str, Any]]
    """What chance decides in each variant of the task: the task's own frozen dataclass by the variant's name."""

    DISTRACTOR_PLACES: ClassVar[Places] = PLACES
    """Those of the places for distractors that the task leaves free; as many as a variant has distractors, or more."""

    TELLS_VISIBLE: ClassVar[bool] = False
    """Whether the task says what its cameras see of its objects, see `visible`."""

    agent: LightPandaWristCam | SimulatedPiper
    room: RoomLooks
    """What the present episode looks like."""

    def __init__(
        self,
        *args: Any,
        robot_uids: str = "panda_wristcam_light",
        control_mode: str = "pd_ee_delta_pose",
        render_backend: str = "auto",
        variant: str = STANDARD,
        looks: str = STANDARD_LOOKS,
        ranges: Any = None,
        whims: bool = True,
        **kwargs: Any,
    ) -> None:
        """Take what `BaseEnv` takes; a `render_backend` of "auto" is a GPU when there is one.

        Args:
            args: of `BaseEnv`.
            robot_uids: a robot with a wrist camera.
            control_mode: of the robot.
            render_backend: what draws.
            variant: name in `kc_vla_sim.choices.VARIANTS`.
            looks: name in `kc_vla_sim.choices.LOOKS`; "varied" are drawn from the seed of each episode.
            ranges: what chance decides, in place of the variant's.
            whims: False leaves the expert nothing to draw for itself, see `without_whims`.
            kwargs: of `BaseEnv`.

        Raises:
            RendererError: no usable Vulkan driver.
            BadVariantError: there is no such variant.
            BadLooksError: there are no such looks, or varied ones in a scene that more than one episode shares.
        """
        self._varied = check_looks(looks) == VARIED_LOOKS
        self.station = station_of(robot_uids)
        self.ranges = ranges or self.RANGES[check_variant(variant)]
        self.whims = whims
        if not whims:
            self.ranges = without_whims(self.ranges)
        if kwargs.get("num_envs", 1) == 1:
            # Each episode gets a scene of its own, which takes 0.05 s. In the order of its contacts the physics engine
            # keeps traces of what touched what in earlier episodes, which change a grasp in the seventh digit.
            kwargs.setdefault("reconfiguration_freq", 1)
        if self._varied and (kwargs.get("num_envs", 1), kwargs.get("reconfiguration_freq")) != (1, 1):
            raise BadLooksError(
                f"looks '{looks}' need a scene for each episode: use num_envs=1 and leave reconfiguration_freq out"
            )
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
                pose=self._camera_pose,
                width=256,
                height=256,
                fov=self.room.camera_fov,
                near=0.1,
                far=10,
                shader_config=camera_shader(),
            )
        ]

    @property
    def _default_human_render_camera_configs(self) -> CameraConfig:
        return CameraConfig(
            "render_camera",
            pose=self._camera_pose,
            width=768,
            height=768,
            fov=self.room.camera_fov,
            near=0.1,
            far=10,
            shader_config=camera_shader(),
        )

    @property
    def _camera_pose(self) -> Pose:
        return sapien_utils.look_at(eye=self.room.camera_eye, target=self.room.camera_target)

    def _setup_sensors(self, options: dict[str, Any]) -> None:
        set_picture_formats()
        super()._setup_sensors(options)

    def _load_agent(self, options: dict[str, Any]) -> None:
        super()._load_agent(options, self.station.base)

    def _load_scene(self, options: dict[str, Any]) -> None:
        self.room = draw_room(int(self._episode_seed[0])) if self._varied else STANDARD_ROOM
        build_room(self.scene, self.room)
        solid, places = self.ranges.distractors, self.DISTRACTOR_PLACES
        seen_only = self.room.distractors_added(len(places) - solid)
        self._distractors = Distractors(self.scene, solid, places, seen_only)

    def _load_lighting(self, options: dict[str, Any]) -> None:
        light_room(self.scene, self.room, self.enable_shadow)

    def pictures(self, cameras: Sequence[str] | None = None) -> dict[str, Image]:
        """Draw what each of the `cameras` sees now, all where none are named.

        They are (height, width, 3) each, for one environment without a batch.
        """
        drawn = {
            name: sensor.get_obs(rgb=True, depth=False, position=False, segmentation=False)["rgb"]
            for name, sensor in self._rendered(cameras).items()
        }
        return {name: np.ascontiguousarray(rgb[0].cpu().numpy()) for name, rgb in drawn.items()}

    def captures(self, cameras: Sequence[str] | None = None) -> dict[str, Capture]:
        """Draw as `pictures` does, and read depth and bodies from the same rendering."""
        return {name: capture_of(sensor) for name, sensor in self._rendered(cameras).items()}

    def visible(self, captures: Mapping[str, Capture]) -> dict[str, dict[str, VisibleObject]]:
        """Return what each camera sees of the objects, by view and object; a task that does not say returns nothing.

        Args:
            captures: of the present frame, of `captures`.
        """
        return {}

    def _rendered(self, cameras: Sequence[str] | None) -> dict[str, Any]:
        self.scene.update_render(update_human_render_cameras=False)
        sensors = {name: self._sensors[name] for name in (self._sensors if cameras is None else cameras)}
        for sensor in sensors.values():  # of all, before one is waited for
            sensor.capture()
        return sensors

    @property
    def failure_reason(self) -> str:
        """Return what it is called when `evaluate` says "fail"."""
        raise NotImplementedError

    def detections(self) -> tuple[GroundTruthObject, ...]:
        """Return the objects of the task as they are now, for one environment without a batch."""
        raise NotImplementedError

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Return phase and frame of each ground-truth keyframe that is known by now, for one environment."""
        raise NotImplementedError

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Return the frame and the right choice of each moment of decision so far.

        A choice is an index into the task's `choices`.

        At such a moment the right choice depends on the past alone. For one environment.
        """
        raise NotImplementedError

    def _draw(self, env_idx: torch.Tensor, *ranges: tuple[float, float]) -> torch.Tensor:
        """Return one number out of each range for each environment in `env_idx`.

        The result is (len(env_idx), len(ranges)), float32.
        """
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
        """Put the arm near the posture of its station, each arm joint off by up to `noise` (rad), gripper closed."""
        posture = np.tile(self.station.posture, (len(env_idx), 1))
        joints = posture.shape[1] - 2
        posture[:, :joints] += self._batched_episode_rng[env_idx].uniform(-noise, noise, size=joints)
        self.agent.reset(torch.as_tensor(posture, dtype=torch.float32, device=self.device))


def without_whims(ranges: Any) -> Any:
    """Return the same ranges of chance without the expert variation that nothing in the images shows.

    A policy that learns such a wait learns to stand still for good, and one that learns to go to places drawn at
    random, one after the other, creeps between them. The ranges of a task name theirs: `HIDDEN_WAITS`, fields in s,
    which become as short as they may be, and `HIDDEN_CHOICES`, fields whose middle is taken. Waits for a lamp or
    another arm stay.
    """
    waits = {name: _shortest(getattr(ranges, name)) for name in getattr(ranges, "HIDDEN_WAITS", ())}
    choices = {name: _middle(getattr(ranges, name)) for name in getattr(ranges, "HIDDEN_CHOICES", ())}
    return replace(ranges, **waits, **choices) if waits or choices else ranges


def _shortest(span: Any) -> Any:
    """Return the least of a range as a range; of a tuple of ranges, that of each."""
    if isinstance(span[0], tuple):
        return tuple(map(_shortest, span))
    least = min(span[0], LONGEST_REST)
    return least, least


def _middle(span: tuple[float, float]) -> tuple[float, float]:
    return (sum(span) / 2,) * 2
