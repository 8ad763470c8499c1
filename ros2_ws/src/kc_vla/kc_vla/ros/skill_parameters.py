"""The parameters of `skill_server`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kc_vla.calibration.reading import NO_CAMERA_PLACE, load_camera
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.errors import StackError
from kc_vla.core.robot import Robot
from kc_vla.ros.base import StartError
from kc_vla.ros.parameters import parameter
from kc_vla.ros.robot import RobotParameters
from kc_vla.skills.context import SkillContext
from kc_vla.skills.interface import ArmReading
from kc_vla.skills.motion_paths import MOST_SPEED, MotionPathMaker
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.skill_table import ways_of
from kc_vla.skills.station import SKILL_S, SkillStation


@dataclass(frozen=True)
class SkillParameters(RobotParameters):
    """Parameters of the node."""

    real: bool = parameter(False, "true: a real arm moves; a camera with a calibrated pose is then mandatory")
    hand_eye: str = parameter("", "files with the cameras' poses (kc-vla calibrate hand-eye), separated by ':'")
    skill_seconds: float = parameter(SKILL_S, "s of the robot's time that a skill may take", low=1.0, high=3600.0)
    max_speed: float = parameter(
        MOST_SPEED,
        "velocity limit of every joint in planned motions, rad/s; choose less than max_speed of arm_controller",
        low=0.05,
        high=3.0,
    )
    wait_timeout: float = parameter(2.0, "s to wait for a joint state, or for a policy", low=0.1, high=60.0)
    silence: float = parameter(10.0, "s without a request from arm_controller after which a skill fails", low=1.0)

    def check_camera(self) -> None:
        """See that a real arm has a calibrated camera.

        Raises:
            StartError: it has none, or its file cannot be read.
        """
        files = [each.strip() for each in self.hand_eye.split(os.pathsep) if each.strip()]
        if self.real and not files:
            raise StartError(NO_CAMERA_PLACE)
        for each in files:
            try:
                load_camera(Path(each).expanduser())
            except (CalibrationError, StackError) as error:
                raise StartError(str(error)) from error

    def station(self, robot: Robot) -> SkillStation:
        """Return the arm at its place, for one episode.

        Raises:
            RobotError, DescriptionError: the robot has no links, or no description that can be used.
            SkillError: its file names a skill that is none.
        """
        paths = MotionPathMaker(robot, self.max_speed)
        nowhere = ArmReading(0, np.array(robot.rest, float), 0.0)
        context = SkillContext(nowhere, PerceivedScene(), paths, robot.opening, robot.control_rate)
        return SkillStation(context, ways_of(robot.skills), self.skill_seconds)
