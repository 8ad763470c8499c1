"""The tool as the experts think of it: where it is, and where a tool delta will bring it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.actions import TURN_LIMIT

Vector = NDArray[np.float64]

REACHED_SHARE = 0.395
"""Share of a commanded delta that the arm covers within the control step: its joint drives are soft springs."""
POINTING_DOWN = Rotation.from_matrix([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
"""Turn of the tool that points down, with its camera ahead and the line between its fingers along y."""


@dataclass(frozen=True)
class Tool:
    """Tool center point (m) and turn, in axes parallel to the robot's base."""

    position: Vector
    rotation: Rotation

    @classmethod
    def of(cls, position: Sequence[float], quaternion: Sequence[float]) -> Tool:
        """Return the tool at a place (3,), m, with a turn as a quaternion x, y, z, w."""
        return cls(np.array(position), Rotation.from_quat(quaternion))

    def delta_towards(self, position: Vector, rotation: Rotation, speed: float, settling: float = 1.0) -> Vector:
        """Return the tool delta (6,) that brings the tool towards a pose.

        Args:
            position: m.
            rotation: in axes parallel to the robot's base.
            speed: largest move, m per step.
            settling: largest share of the way and of the turn left that the step covers.
        """
        move = position - self.position
        distance = float(np.linalg.norm(move))
        if distance > 0:
            move = move * min(speed / distance, settling)
        turn = (rotation * self.rotation.inv()).as_rotvec()
        angle = float(np.linalg.norm(turn))
        if angle > 0:
            turn = turn * min(TURN_LIMIT * REACHED_SHARE / angle, settling)
        return np.concatenate([move, turn]) / REACHED_SHARE

    def after(self, delta: Vector) -> Tool:
        """Return the pose of the tool one step after the tool delta (6,)."""
        covered = REACHED_SHARE * delta
        return Tool(self.position + covered[:3], Rotation.from_rotvec(covered[3:]) * self.rotation)
