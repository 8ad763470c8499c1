"""The Panda with a camera on its hand, drawn with light meshes."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import sapien
from mani_skill.agents.registration import register_agent
from mani_skill.agents.robots.panda.panda_wristcam import PandaWristCam
from mani_skill.sensors.camera import CameraConfig

from kc_vla_sim.robots.light_meshes import light_urdf
from kc_vla_sim.shaders import camera_shader

WRIST_CAMERA = "wrist"


@register_agent()
class LightPandaWristCam(PandaWristCam):
    """ManiSkill's `panda_wristcam` with the same physics and controllers, and light visual meshes."""

    uid = "panda_wristcam_light"

    @cached_property
    def urdf_path(self) -> str:
        """Return the path of the description of this robot, in the user's cache."""
        return str(light_urdf(Path(PandaWristCam.urdf_path)))

    @property
    def _sensor_configs(self) -> list[CameraConfig]:
        return [
            CameraConfig(
                uid=WRIST_CAMERA,
                pose=sapien.Pose(),
                width=256,
                height=256,
                fov=np.pi / 2,
                near=0.01,
                far=10,
                mount=self.robot.links_map["camera_link"],
                shader_config=camera_shader(),
            )
        ]
