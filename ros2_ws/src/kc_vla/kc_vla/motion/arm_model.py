"""The arm of a robot file for pinocchio: its joints, where the tool is, and the shapes of its links."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pinocchio

from kc_vla.arm.workspace import Workspace
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Robot, Vector
from kc_vla.motion.link_shapes import LinkShape, link_shapes

_WIDTH_STEP = 1e-4
"""m to which the width of a gripper counts."""


class ArmModel:
    """An arm of D joints, made of the same chain that the controller computes with.

    Attributes:
        robot: its robot file.
        model, data: of pinocchio; `data` belongs to the last call.
        lower, upper: limits of the joints (D,), rad.
        speed, acceleration, jerk: limits of the joints (D,), rad/s, rad/s2, rad/s3.
        workspace_low, workspace_high: corners of the box for the tool frame (3,), m.
        end: pose of the tool frame in the frame of the last joint (4, 4), m.
    """

    def __init__(self, robot: Robot, firmware: str = "", max_speed: float = np.inf) -> None:
        """Build the arm.

        Args:
            robot: a robot file.
            firmware: of an arm whose zero pose goes with it, e.g. "S-V1.5-2"; empty for the newest.
            max_speed: of every joint, rad/s, where that is less than its limit.

        Raises:
            RobotError: the robot has no links.
        """
        chain = robot.links_of(firmware)
        self.robot, self._firmware, self.end = robot, firmware, chain.end
        self.model = pinocchio.Model()
        parent = 0
        for name, origin, axis in zip(robot.joints, chain.origins, chain.axes, strict=True):
            joint = pinocchio.JointModelRevoluteUnaligned(axis)
            parent = self.model.addJoint(parent, joint, pinocchio.SE3(origin[:3, :3], origin[:3, 3]), name)
        tool = pinocchio.SE3(chain.end[:3, :3], chain.end[:3, 3])
        self.frame = self.model.addFrame(pinocchio.Frame("tool of the robot", parent, tool, pinocchio.OP_FRAME))
        self.data = self.model.createData()
        limits = robot.limits
        self.lower, self.upper = np.array(limits.lowest, float), np.array(limits.highest, float)
        self.speed = np.minimum(limits.speed, max_speed)
        self.acceleration, self.jerk = (
            np.broadcast_to(each, self.lower.shape).astype(float) for each in (limits.acceleration, limits.jerk)
        )
        box = robot.workspace or (Workspace.lowest, Workspace.highest)
        self.workspace_low, self.workspace_high = (np.array(corner, float) for corner in box)
        self._lengths = np.linalg.norm(chain.origins[1:, :3, 3], axis=1)

    @property
    def count(self) -> int:
        """Return D, the number of joints."""
        return len(self.lower)

    def tool(self, joints: Vector) -> Pose:
        """Return the pose of the tool frame (4, 4) in the base frame, m, at angles (D,), rad."""
        pinocchio.framesForwardKinematics(self.model, self.data, np.asarray(joints, float))
        return np.array(self.data.oMf[self.frame].homogeneous)

    def heights(self) -> Vector:
        """Return the heights of the joints (D,), m, at the angles of the last computation."""
        return np.array([self.data.oMi[index].translation[2] for index in range(1, self.count + 1)])

    def shapes(self, width: float | None = None) -> Sequence[LinkShape]:
        """Return the shapes of its links, the gripper so wide, m; None for wide open."""
        opening = self.robot.opening if width is None else min(max(width, 0.0), self.robot.opening)
        return _shapes_of(self, round(opening / _WIDTH_STEP))

    def reaches(self, shapes: Sequence[LinkShape], held: Vector | None = None) -> Vector:
        """Return how far from each joint's axis anything behind it can be (D,), m.

        Args:
            shapes: of the links.
            held: points (n, 3) of what is held, in the frame of the last joint, m.
        """
        beyond = np.zeros(self.count)
        points = [(shape.joint, shape.points) for shape in shapes if shape.joint]
        points.append((self.count, self.end[None, :3, 3] if held is None else np.vstack([held, self.end[:3, 3]])))
        for joint, corners in points:
            far = float(np.linalg.norm(corners, axis=1).max())
            for index in range(joint):  # the way from the axis of joint `index + 1` to the frame of `joint`
                beyond[index] = max(beyond[index], float(self._lengths[index : joint - 1].sum()) + far)
        return beyond

    def read_shapes(self, width: float) -> list[LinkShape]:
        """Read the shapes of its links, the gripper `width`, m, wide."""
        return link_shapes(self.robot, width, self._firmware)


@lru_cache(maxsize=64)
def _shapes_of(arm: ArmModel, width: int) -> tuple[LinkShape, ...]:
    return tuple(arm.read_shapes(width * _WIDTH_STEP))
