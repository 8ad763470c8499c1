"""A kitchen of drawers, doors, devices and things around one fixed arm, for memories that cameras fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sapien
import torch
from mani_skill.sensors.camera import CameraConfig
from mani_skill.utils import sapien_utils
from mani_skill.utils.structs import Pose
from scipy.spatial.transform import Rotation

from kc_vla_sim.choices import STANDARD_ASSETS
from kc_vla_sim.envs.kitchen_bodies import build_fixed, entity_of
from kc_vla_sim.envs.kitchen_stock import Kitchen
from kc_vla_sim.envs.kitchen_tour import LOOKED, STAGES, KitchenTour
from kc_vla_sim.envs.registering import register_ours
from kc_vla_sim.envs.room import build_room, light_room
from kc_vla_sim.envs.tabletop import ROBOT_BASE, TabletopEnv
from kc_vla_sim.envs.varied_looks import STANDARD_ROOM, draw_room
from kc_vla_sim.envs.visibility import visible_objects
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.experts.tool import Tool
from kc_vla_sim.frame import Capture, GroundTruthObject, VisibleObject
from kc_vla_sim.kitchen.asset_sets import find_assets
from kc_vla_sim.kitchen.bodies import Part
from kc_vla_sim.kitchen.events import KitchenEvent
from kc_vla_sim.kitchen.layout import REACH, DrawLayout, draw_layout
from kc_vla_sim.kitchen.meshes import box

START_POSTURE = (0.0, -np.pi / 4, 0.0, -np.pi * 3 / 4, 0.0, np.pi / 2, np.pi / 4, 0.0, 0.0)
"""Seven arm joints (rad) and two fingers (m): the hand is above the middle of the worktop, gripper closed."""
CAMERA_EYE = (-1.15, 0.85, 1.22)
"""Place of the third-person camera in the world, at the arm's left behind it, m ..."""
CAMERA_TARGET = (-0.23, -0.03, -0.02)
"""... what it looks at, m ..."""
CAMERA_FOV = 0.95
"""... and its field of view, rad."""
_WALL_OFF = 0.04
"""Walls are by so much further away than the arm reaches, m."""
_LEFT_WALL = 1.6
"""y of the wall behind the third-person camera, m."""
LONGEST_EPISODE = 2400
"""Steps; the expert takes about 1,200."""


@dataclass(frozen=True)
class KitchenRanges:
    """What chance decides beside the layout, see `kc_vla_sim.kitchen.layout`.

    Attributes:
        start_noise: each arm joint is off its start posture by up to this, rad.
        reach: of the arm, m.
        distractors: there are none.
    """

    start_noise: float = 0.02
    reach: float = REACH
    distractors: int = 0


@register_ours("Kitchen-v1", LONGEST_EPISODE)
class KitchenEnv(TabletopEnv):
    """Two drawers, a cupboard, a microwave, a stove, a sink, a tray, and thirteen or more things in and on them."""

    RANGES = {name: KitchenRanges() for name in ("standard", "hard", "paper")}
    TELLS_VISIBLE = True
    ranges: KitchenRanges
    kitchen: Kitchen
    tour: KitchenTour

    def __init__(
        self,
        *args: Any,
        assets: str = STANDARD_ASSETS,
        tour: bool = True,
        layout: DrawLayout = draw_layout,
        **kwargs: Any,
    ) -> None:
        """Take what `TabletopEnv` takes.

        Args:
            args: of `TabletopEnv`.
            assets: what the kitchen is made of, a name in `kc_vla_sim.choices.ASSETS`.
            tour: False leaves the arm to others: the second hand moves only what it is given, and the episode ends only
                by its length.
            layout: draws the kitchen of an episode.
            kwargs: of `TabletopEnv`.

        Raises:
            BadAssetsError: there are no such assets.
            AssetsError: they are not installed.
        """
        self.assets, self._has_tour, self._draw_layout = find_assets(assets), tour, layout
        super().__init__(*args, **kwargs)

    @property
    def _camera_pose(self) -> Pose:
        eye = np.add(CAMERA_EYE, np.subtract(self.room.camera_eye, STANDARD_ROOM.camera_eye))
        target = np.add(CAMERA_TARGET, np.subtract(self.room.camera_target, STANDARD_ROOM.camera_target))
        return sapien_utils.look_at(eye=eye, target=target)

    @property
    def _default_sensor_configs(self) -> list[CameraConfig]:
        (config,) = super()._default_sensor_configs
        config.fov = CAMERA_FOV * self.room.camera_fov / STANDARD_ROOM.camera_fov
        return [config]

    def _load_scene(self, options: dict[str, Any]) -> None:
        seed = int(self._episode_seed[0])
        room = draw_room(seed) if self._varied else STANDARD_ROOM
        x, y, z = room.light_direction
        self.room = replace(room, light_direction=(-x, y, z))  # from behind the arm, as the fronts look
        build_room(self.scene, self.room)
        self._build_walls()
        self.kitchen = Kitchen(self.scene, self._draw_layout(seed, self.ranges.reach, self.assets))
        self.tour = KitchenTour(self.scene, self.kitchen, seed)

    def _build_walls(self) -> None:
        """Add a wall behind the row of furniture, one at the right, and one at the left behind the camera."""
        behind, right = ROBOT_BASE.p[0] + self.ranges.reach + _WALL_OFF, -self.ranges.reach - _WALL_OFF
        red, green, blue = self.room.walls
        shaded = (0.9 * red, 0.9 * green, 0.9 * blue)
        walls = [
            Part(box((0.02, 4.0, 4.0)).moved((behind + 0.01, 0, 0.7)), self.room.walls),
            Part(box((4.0, 0.02, 4.0)).moved((behind - 2, right - 0.01, 0.7)), shaded),
            Part(box((4.0, 0.02, 4.0)).moved((behind - 2, _LEFT_WALL, 0.7)), shaded),
        ]
        build_fixed(self.scene, "walls", walls, [], sapien.Pose())

    def _load_lighting(self, options: dict[str, Any]) -> None:
        light_room(self.scene, self.room, self.enable_shadow)

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        posture = np.array(START_POSTURE)
        noise = self.ranges.start_noise
        posture[:7] += self._batched_episode_rng[env_idx].uniform(-noise, noise, size=7)[0]
        self.agent.reset(torch.as_tensor(posture[None], dtype=torch.float32, device=self.device))
        self.kitchen.begin()
        self._fingers = [entity_of(each) for each in self.agent.robot.get_links() if "finger" in each.name]
        self._noted = 0

    def _before_control_step(self) -> None:
        self.tour.before_step()

    def evaluate(self) -> dict[str, torch.Tensor]:
        """Return the state of the tour: success, fail, completed stages; all (1,)."""
        step = int(self.elapsed_steps[0])
        if step > self._noted:
            self._noted = step
            self.kitchen.feel(self.scene.get_contacts(), self._fingers, self.scene.timestep)
            pose = ROBOT_BASE.inv() * self.agent.tcp.pose.sp
            tool = Tool(np.asarray(pose.p, float), Rotation.from_quat(np.roll(pose.q, -1)))
            if self._has_tour:
                self.tour.after_step(step, tool)
            else:
                self.tour.watch(step)
        done, over = len(self.tour.stages), self.tour.over
        return {
            "success": torch.tensor([over and done == STAGES]),
            "fail": torch.tensor([over and done < STAGES]),
            "completed_stages": torch.tensor([done]),
        }

    @property
    def events(self) -> tuple[KitchenEvent, ...]:
        """Return what has changed so far, in order."""
        return tuple(self.tour.events)

    @property
    def failure_reason(self) -> str:
        """Return why a tour that is over is not complete."""
        return "the tour left something out"

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Return frame 0, and the frame in which each stage but the first was complete."""
        return [(0, 0), *((stage, frame) for stage, frame in self.tour.stages if stage != LOOKED)]

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Return none: nothing is decided in a kitchen."""
        return []

    def visible(self, captures: Mapping[str, Capture]) -> dict[str, dict[str, VisibleObject]]:
        """Return what each camera sees of the objects."""
        ids = self.kitchen.object_ids()
        seen = {}
        for name, capture in captures.items():
            camera = self._sensors[name].camera
            matrix, extrinsic = camera.get_intrinsic_matrix()[0], camera.get_extrinsic_matrix()[0]
            projection = (matrix @ extrinsic).cpu().numpy().astype(float)
            seen[name] = visible_objects(capture.bodies, ids, self.kitchen.points_of, projection)
        return seen

    def detections(self) -> tuple[GroundTruthObject, ...]:
        """Return all objects of the kitchen, whether a camera sees them or not."""
        return self.kitchen.objects()


def kitchen_of(environment: TabletopEnv) -> KitchenEnv:
    """Return the environment of a simulator as a kitchen, whose events and tour can be asked for.

    Raises:
        BadTaskError: it is the environment of another task.
    """
    if not isinstance(environment, KitchenEnv):
        raise BadTaskError(f"{type(environment).__name__} is no kitchen: reset the simulator to the task 'kitchen'")
    return environment
