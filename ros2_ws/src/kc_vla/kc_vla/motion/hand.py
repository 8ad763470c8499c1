"""A parallel gripper as the URDF of a robot has it: where its fingers close, how wide and how deep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.core.robot import Vector
from kc_vla.motion.arm_model import ArmModel

PAD = 0.01
"""A finger grasps so far behind its tip, m."""
_USUAL_LENGTH = 0.04
"""Length of a finger where the URDF has none, m."""


@dataclass(frozen=True, eq=False)
class ParallelHand:
    """What a grasp has to know of a gripper. The hand looks along the tool frame's z axis.

    Attributes:
        closing: direction in which a finger moves, in the tool frame (3,), a unit vector across z.
        depth: where the fingers grasp, along the tool's z axis from its origin, m.
        tip: where they end, likewise, m.
        length: of the fingers before the palm, m.
        width: between the fingers when they are wide open, m.
        corners: of the boxes around the fingers when they are wide open, in the tool frame (n, 3), m; n is 0 without.
    """

    closing: Vector
    depth: float
    tip: float
    length: float
    width: float
    corners: Vector

    @classmethod
    def of(cls, arm: ArmModel) -> ParallelHand:
        """Return the hand of an arm; where its URDF has no fingers, they close along the tool's y axis."""
        into_tool = np.linalg.inv(arm.end)

        def points(width: float, finger: bool) -> list[Vector]:
            shapes = [each for each in arm.shapes(width) if each.joint == arm.count and each.finger == finger]
            return [shape.points @ into_tool[:3, :3].T + into_tool[:3, 3] for shape in shapes]

        width = arm.robot.opening
        fingers = points(width, True)
        if not fingers:
            return cls(np.array([0.0, 1.0, 0.0]), 0.0, 0.0, _USUAL_LENGTH, width, np.empty((0, 3)))
        apart = fingers[0].mean(axis=0) - points(0.0, True)[0].mean(axis=0)
        apart[2] = 0.0
        length = float(np.linalg.norm(apart))
        closing = apart / length if length > 1e-6 else np.array([0.0, 1.0, 0.0])
        tip = max(float(corners[:, 2].max()) for corners in fingers)
        palm = max((float(corners[:, 2].max()) for corners in points(width, False)), default=tip - _USUAL_LENGTH)
        return cls(closing, tip - PAD, tip, max(tip - palm, 1.5 * PAD), width, np.vstack(fingers))
