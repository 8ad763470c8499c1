"""The parameters of the node `perception`, and what follows from them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.calibration.reading import load_camera
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import MountedCamera
from kc_vla.core.options import options_in
from kc_vla.perception.detectors import DETECTORS
from kc_vla.perception.localization import LocalizerSettings
from kc_vla.perception.view_stream import StreamSettings
from kc_vla.ros.base import StartError
from kc_vla.ros.parameters import parameter
from kc_vla.ros.robot import RobotParameters


@dataclass(frozen=True)
class PerceptionParameters(RobotParameters):
    """Parameters of the node."""

    detector: str = parameter("vision_msgs", f"what finds objects: {', '.join(DETECTORS.names())}", check=DETECTORS.get)
    options: str = parameter("", "options of the detector, e.g. '{boxes: [/yolo/detections]}'")
    frame: str = parameter("", "frame of positions, e.g. map; empty: that of the robot's base")
    hand_eye: str = parameter(
        "", f"files with the cameras' poses, separated by '{os.pathsep}'; they precede /tf; empty: only /tf"
    )
    rate: float = parameter(10.0, "most images per second of each camera that the detector gets", low=0.1, high=100.0)
    sync_tolerance: float = parameter(0.03, "s between an image and its depth", low=0.0, high=1.0)
    patience: float = parameter(0.3, "s that an image waits for its depth and its pose", low=0.0, high=10.0)
    stale_after: float = parameter(2.0, "s without an image after which its camera is reported", low=0.1, high=60.0)
    answer_timeout: float = parameter(
        30.0,
        "s without an answer for an image after which the detector is opened again; choose more than a server's "
        "time-out",
        low=0.5,
        high=3600.0,
    )
    support: float = parameter(0.0, "height of the surface that things stand on, m", low=-100.0, high=100.0)
    support_known: bool = parameter(
        True, "false: the height of the surface is unknown, and no place is computed from it"
    )
    below_support: float = parameter(
        0.05, "m that the middle of a thing may lie below the support surface, as in a drawer", low=0.0, high=100.0
    )
    farthest: float = parameter(
        4.0, "distance from the camera up to which an object counts as seen, m", low=0.1, high=100.0
    )
    sizes: str = parameter("", "known sizes of things, m, which help without depth: '{mug: [0.08, 0.08, 0.1]}'")
    camera_check: bool = parameter(
        True, "ignore the images of a camera that was moved while its published pose stayed the same"
    )
    crop_longest: int = parameter(128, "px of the longest side of the image of an object", low=8, high=512)

    def given_options(self) -> Mapping[str, Any]:
        """Return the options of the detector; OptionError where they are no mapping."""
        return options_in(self.options, "parameter 'options'")

    def target_frame(self) -> str:
        """Return the frame that objects are located in."""
        return self.frame or self.loaded_robot().base_frame

    def streams(self) -> StreamSettings:
        """Return what holds for the images of each camera."""
        return StreamSettings(self.target_frame(), self.sync_tolerance, self.patience, self.stale_after)

    def localizer(self) -> LocalizerSettings:
        """Return what is known of the place.

        Raises:
            StartError: the known sizes are none.
        """
        support = self.support if self.support_known else None
        lowest = None if support is None else support - self.below_support
        sizes = {}
        for name, size in options_in(self.sizes, "parameter 'sizes'").items():
            right = isinstance(size, list) and len(size) == 3
            if not right or not all(type(each) in (int, float) and 0.0 < each < 10.0 for each in size):
                raise StartError(f"parameter 'sizes' gives '{name}' the size {size}: give three lengths, m")
            x, y, z = map(float, size)
            sizes[str(name)] = (x, y, z)
        return LocalizerSettings(support, lowest, farthest_m=self.farthest, sizes=sizes)

    def cameras(self) -> list[MountedCamera]:
        """Return the cameras of the hand-eye files.

        Raises:
            StartError: a file is missing, or holds something that cannot be.
        """
        try:
            return [load_camera(Path(each).expanduser()) for each in filter(None, self.hand_eye.split(os.pathsep))]
        except (CalibrationError, StackError) as error:
            raise StartError(str(error)) from error
