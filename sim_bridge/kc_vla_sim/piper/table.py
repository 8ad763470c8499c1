"""A table in ManiSkill with a Piper whose joints follow those of the emulated arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import torch

from kc_vla.arm.emulator.gripper import GRIPPER_SPEED
from kc_vla.arm.emulator.simulated_body import SimulatedBody
from kc_vla.core.robot import Robot, Vector
from kc_vla.core.tasks import Task, find_task
from kc_vla_sim import envs as envs  # registers the tasks
from kc_vla_sim.choices import PIPER_TASKS, STANDARD, STANDARD_LOOKS
from kc_vla_sim.envs.tabletop import TabletopEnv
from kc_vla_sim.errors import UnplayedTaskError
from kc_vla_sim.frame import CameraModel, Capture
from kc_vla_sim.geometry import camera_model
from kc_vla_sim.piper.arm_track import ArmSample
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.robots.piper import FORCE_PER_TORQUE, SimulatedPiper
from kc_vla_sim.robots.stations import PIPER

STEP_S = 1.0 / CONTROL_RATE
"""Duration of a control step, s."""
_BLOCKED = 0.05
"""Something is in the way of a joint that is further from the arm's than this, rad."""


def find_piper_task(name: str) -> Task:
    """Return a task that a simulated Piper can have on its table.

    Raises:
        UnplayedTaskError: it has none of that name.
    """
    if name not in PIPER_TASKS:
        raise UnplayedTaskError(
            f"a simulated Piper has no task '{name}' on its table: there are {', '.join(PIPER_TASKS)}"
        )
    return find_task(name)


class PiperTable:
    """The scene of one task, with the body of a Piper in it."""

    def __init__(
        self,
        task: str,
        robot: Robot,
        image_size: int = 256,
        renderer: str = "auto",
        variant: str = STANDARD,
        looks: str = STANDARD_LOOKS,
    ) -> None:
        """Make the scene; `begin` puts everything in its place.

        Args:
            task: a name in `kc_vla_sim.choices.PIPER_TASKS`.
            robot: the robot file's content, whose views are published.
            image_size: px, width and height of every camera.
            renderer: "auto" (a GPU when there is one), "gpu" or "cpu".
            variant: of the task, a name in `kc_vla_sim.choices.VARIANTS`.
            looks: of the room, a name in `kc_vla_sim.choices.LOOKS`.

        Raises:
            UnplayedTaskError: a simulated Piper does not have this task.
            BadVariantError, BadLooksError: there are none of that name.
            RendererError: no usable Vulkan driver, no such renderer.
            RobotMeshError, MeshCacheError: the meshes of the arm cannot be had.
        """
        self._task, self._robot = find_piper_task(task), robot
        self._env = gymnasium.make(
            self._task.environment,
            robot_uids=PIPER,
            control_mode="pd_joint_pos",
            obs_mode="none",
            reward_mode="none",
            sim_backend="physx_cpu",
            render_backend=choose_renderer(renderer),
            sensor_configs={"width": image_size, "height": image_size},
            variant=variant,
            looks=looks,
        )
        self._info: Mapping[str, Any] = {}

    @torch.no_grad()
    def begin(self, seed: int, angles: Vector, width: float) -> None:
        """Begin an episode with the arm where it is.

        Args:
            seed: of the episode.
            angles: joint angles (6,), rad.
            width: of the gripper, m.
        """
        self._env.reset(seed=seed)
        posture = torch.as_tensor([*angles, width / 2, width / 2], dtype=torch.float32)[None]
        self._piper.reset(posture)
        self._piper.controller.reset()
        self._info = {}

    @torch.no_grad()
    def advance(self, state: ArmSample) -> SimulatedBody:
        """Move the body on by one control step, to where the arm is at its end; return what it touches then."""
        target = self.width
        if state.drive is not None:
            way = GRIPPER_SPEED * STEP_S
            target += float(np.clip(state.drive.width - target, -way, way))
            self._piper.limit_fingers(FORCE_PER_TORQUE * state.drive.torque)
        action = np.array([*state.angles, target / 2, target / 2], np.float32)
        _, _, _, _, self._info = self.world.step(action)
        touch = bool(self._piper.is_grasping()[0])
        return SimulatedBody(self.width, touch, np.abs(self.angles - state.angles) > _BLOCKED)

    @property
    def world(self) -> TabletopEnv:
        """Return the environment of the task."""
        world = self._env.unwrapped
        assert isinstance(world, TabletopEnv)
        return world

    @property
    def angles(self) -> Vector:
        """Return the angles of the body's joints (6,), rad."""
        return np.asarray(self._piper.robot.get_qpos()[0, :-2].numpy(), np.float64)

    @property
    def width(self) -> float:
        """Return the width between the body's fingers, m."""
        return float(self._piper.robot.get_qpos()[0, -2:].sum())

    @property
    def cameras(self) -> dict[str, CameraModel]:
        """Return the camera of each view of the robot."""
        frames = self._robot.cameras
        return {view: replace(camera_model(self.world, view), frame=frames[view]) for view in frames}

    @torch.no_grad()
    def draw(self) -> dict[str, Capture]:
        """Return what the camera of each view of the robot sees now."""
        return self.world.captures(tuple(self._robot.cameras))

    @property
    def verdict(self) -> str:
        """Return what the task says of the episode so far: how many stages are done, success, or the failure."""
        if self._info.get("success", False):
            return "success"
        if self._info.get("fail", False):
            return self.world.failure_reason
        return f"{int(self._info.get('completed_stages', 0))} of {len(self._task.stages)} stages"

    def close(self) -> None:
        """Release the scene."""
        self._env.close()

    @property
    def _piper(self) -> SimulatedPiper:
        agent = self.world.agent
        assert isinstance(agent, SimulatedPiper)
        return agent
