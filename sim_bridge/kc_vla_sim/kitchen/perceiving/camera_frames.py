"""The images of a simulated moment, as perception takes them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.core.mounted_camera import Pose, pose_matrix
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla_sim.frame import BASE_FRAME, CameraModel, SimulatedFrame
from kc_vla_sim.scorer_inputs import PERIOD_NS
from kc_vla_sim.simulator import Simulator

START_NS = 1_000_000_000
"""Stamp of frame 0: a stamp of 0 is none."""


def camera_frames(simulator: Simulator, frame: SimulatedFrame, depth: bool) -> Iterator[CameraFrame]:
    """Yield the image of each camera, its pose in the frame of the robot's base.

    Args:
        simulator: that drew the frame, with depth.
        frame: the moment.
        depth: whether the depth images are given, too.
    """
    tool = pose_matrix(frame.tool_pose.position, frame.tool_pose.quaternion)
    for view, model in zip(frame.views, simulator.cameras, strict=True):
        yield CameraFrame(
            camera=view,
            stamp_ns=START_NS + frame.index * PERIOD_NS,
            image=frame.views[view],
            matrix=np.array(model.k, float),
            pose=placed(model, tool),
            depth_m=frame.depth[view] if depth else None,
            stands=model.parent == BASE_FRAME,
        )


def placed(model: CameraModel, tool: Pose) -> Pose:
    """Return the pose of a camera's optical frame (4, 4) in the base frame, m, given that of the tool."""
    pose = pose_matrix(model.pose.position, model.pose.quaternion)
    return pose if model.parent == BASE_FRAME else np.asarray(tool @ pose)
