"""From the simulator's poses (world frame, quaternion w first) to those of the stack (base frame, w last)."""

from __future__ import annotations

import sapien
from mani_skill.utils.structs import Pose as BatchedPose

from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.frame import Pose


def to_pose(pose: BatchedPose | sapien.Pose) -> Pose:
    """Return the first (or only) of `pose`, given in the world, in the robot's base frame."""
    single = pose if isinstance(pose, sapien.Pose) else pose.sp
    return plain_pose(ROBOT_BASE.inv() * single)


def plain_pose(pose: sapien.Pose) -> Pose:
    """Return `pose` in the form of the stack, in the frame that it was given in."""
    w, x, y, z = (float(value) for value in pose.q)
    px, py, pz = (float(value) for value in pose.p)
    return Pose((px, py, pz), (x, y, z, w))
