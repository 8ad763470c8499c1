"""The Piper in ManiSkill: its body, the motors that move it, and the camera on its hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sapien
import torch
from mani_skill.agents.base_agent import BaseAgent
from mani_skill.agents.controllers.pd_joint_pos import PDJointPosController, PDJointPosControllerConfig
from mani_skill.agents.registration import register_agent
from mani_skill.sensors.camera import CameraConfig
from mani_skill.utils.structs import Actor

from kc_vla.core.robot import load_robot
from kc_vla_sim.robots.panda import WRIST_CAMERA
from kc_vla_sim.robots.piper_description import FINGER_JOINTS, LEFT, RIGHT, TIP_FRAME, simulated_urdf
from kc_vla_sim.robots.stations import PIPER
from kc_vla_sim.shaders import camera_shader

FORCE_PER_TORQUE = 20.0
"""N of each finger for each N m of the gripper's motor: no document of the vendor's has it. The spindle that this means
has a radius of 50 mm."""
_STIFFNESS, _DAMPING = 2e4, 4e2
"""N m/rad and N m s/rad of the arm's joints: the body follows the bus, whose arm has the dynamics."""
_FINGER_STIFFNESS, _FINGER_DAMPING = 8e3, 1e2
"""N/m and N s/m."""
_TOUCH_N = 1.0
"""A finger presses on a thing with at least this force, N."""
_CAMERA_AT, _CAMERA_TILT, _CAMERA_FOV = (-0.075, 0.0, 0.03), np.radians(28), 1.2
"""Place of the wrist camera in the frame of the tool, m, how far it leans towards the fingers, and its field of view,
rad: as on the bracket of the vendor's, above the hand."""


class FollowingController(PDJointPosController):
    """Drives joints along a straight line from the last target to the next, in the time of a control step."""

    sets_target_qvel = True

    def set_action(self, action: Any) -> None:
        """Take the next targets (N, joints), rad or m."""
        began = self._target_qpos.clone()
        super().set_action(action)
        self._start_qpos = began
        self._step_size = (self._target_qpos - began) / self._sim_steps

    def before_simulation_step(self) -> None:
        """Move the targets on, with their velocity: a drive without it stays behind."""
        super().before_simulation_step()
        velocities = self._step_size * (self._sim_steps * self._control_freq)
        self.articulation.set_joint_drive_velocity_targets(velocities, self.joints, self.active_joint_indices)


@dataclass
class FollowingControllerConfig(PDJointPosControllerConfig):
    """The joints of a `FollowingController`, and their drives."""

    controller_cls = FollowingController


def _following(joints: tuple[str, ...], stiffness: float, damping: float, force: Any) -> FollowingControllerConfig:
    return FollowingControllerConfig(
        list(joints), None, None, stiffness, damping, force, interpolate=True, normalize_action=False
    )


@register_agent()
class SimulatedPiper(BaseAgent):
    """An AgileX Piper with its two-finger gripper."""

    uid = PIPER
    disable_self_collisions = True
    urdf_config = {
        "_materials": {"rubber": {"static_friction": 1.0, "dynamic_friction": 1.0, "restitution": 0.0}},
        "link": {name: {"material": "rubber", "patch_radius": 0.1, "min_patch_radius": 0.1} for name in (LEFT, RIGHT)},
    }

    @cached_property
    def urdf_path(self) -> str:
        """Return the path of the description of this robot, in the user's cache."""
        return str(simulated_urdf(load_robot(PIPER)))

    @property
    def _controller_configs(self) -> dict[str, Any]:
        robot = load_robot(PIPER)
        assert robot.compliance is not None
        arm = _following(robot.joints, _STIFFNESS, _DAMPING, robot.compliance.torque)
        fingers = _following(FINGER_JOINTS, _FINGER_STIFFNESS, _FINGER_DAMPING, FORCE_PER_TORQUE)
        return {"pd_joint_pos": {"arm": arm, "gripper": fingers}}

    @property
    def _sensor_configs(self) -> list[CameraConfig]:
        turn = (_CAMERA_TILT - np.pi / 2) / 2
        return [
            CameraConfig(
                uid=WRIST_CAMERA,
                pose=sapien.Pose(p=_CAMERA_AT, q=[np.cos(turn), 0, np.sin(turn), 0]),
                width=256,
                height=256,
                fov=_CAMERA_FOV,
                near=0.01,
                far=10,
                mount=self.robot.links_map[load_robot(PIPER).tool_frame],
                shader_config=camera_shader(),
            )
        ]

    def _after_init(self) -> None:
        self.tcp = self.robot.links_map[TIP_FRAME]
        self.fingers = tuple(self.robot.links_map[name] for name in (LEFT, RIGHT))

    def limit_fingers(self, force: float) -> None:
        """Let each finger press with no more than `force`, N."""
        for name in FINGER_JOINTS:
            joint = self.robot.joints_map[name]
            joint.set_drive_properties(_FINGER_STIFFNESS, _FINGER_DAMPING, force_limit=force, mode="force")

    def is_grasping(self, object: Actor | None = None) -> torch.Tensor:
        """Return whether both fingers press on `object`, or on anything, (N,)."""
        if object is None:
            return self._pressed([finger.get_net_contact_forces() for finger in self.fingers])
        return self._pressed([self.scene.get_pairwise_contact_forces(finger, object) for finger in self.fingers])

    def _pressed(self, forces: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return whether forces (N, 3) on the left and the right finger, N, press both outwards, as they open (N,)."""
        across = self.tcp.pose.to_transformation_matrix()[:, :3, 1]
        left, right = ((force * across).sum(dim=1) for force in forces)
        pressed: torch.Tensor = (left > _TOUCH_N) & (-right > _TOUCH_N)
        return pressed
