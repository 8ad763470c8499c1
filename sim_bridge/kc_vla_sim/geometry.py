"""From the simulator's poses (world frame, quaternion w first) to the stack's (base frame, w last), and its cameras."""

from __future__ import annotations

import sapien
from mani_skill.utils.structs import Pose as BatchedPose

from kc_vla_sim.envs.tabletop import THIRD_PERSON_CAMERA, TabletopEnv
from kc_vla_sim.frame import CameraModel, Pose
from kc_vla_sim.robots.panda import WRIST_CAMERA
from kc_vla_sim.robots.stations import PANDA_STATION, ROBOT_BASE

VIEWS = (THIRD_PERSON_CAMERA, WRIST_CAMERA)
"""The cameras that every environment has."""

_OPTICAL = sapien.Pose(q=[0.5, -0.5, 0.5, -0.5])
"""The optical frame (x right, y down, z forward) in SAPIEN's camera frame (x forward, y left, z up)."""


def to_pose(pose: BatchedPose | sapien.Pose, base: sapien.Pose = ROBOT_BASE) -> Pose:
    """Return the first (or only) of `pose`, given in the world, in the frame of the robot's `base`."""
    single = pose if isinstance(pose, sapien.Pose) else pose.sp
    return plain_pose(base.inv() * single)


def plain_pose(pose: sapien.Pose) -> Pose:
    """Return `pose` in the form of the stack, in the frame that it was given in."""
    w, x, y, z = (float(value) for value in pose.q)
    px, py, pz = (float(value) for value in pose.p)
    return Pose((px, py, pz), (x, y, z, w))


def camera_model(world: TabletopEnv, name: str) -> CameraModel:
    """Return the model of the camera called `name`; a camera on the robot is given relative to the tool."""
    sensor, station = world.scene.sensors[name], getattr(world, "station", PANDA_STATION)
    mounted = sensor.config.mount is not None
    if mounted:
        parent = station.robot.tool_frame
        origin = world.agent.robot.links_map[parent].pose.sp
        camera = sensor.config.mount.pose.sp * sensor.config.pose.sp
    else:
        parent, origin = station.robot.base_frame, station.base
        camera = sensor.config.pose.sp
    k = sensor.camera.get_intrinsic_matrix()[0].tolist()
    return CameraModel(
        width=sensor.config.width,
        height=sensor.config.height,
        frame=station.robot.cameras[name],
        parent=parent,
        pose=plain_pose(origin.inv() * camera * _OPTICAL),
        k=tuple((a, b, c) for a, b, c in k),
    )
