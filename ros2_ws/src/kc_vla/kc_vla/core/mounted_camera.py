"""A camera whose place is known: what the files of a calibration say of it, for those who need it in the base frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pose = NDArray[np.float64]
"""(4, 4): the axes of one frame in another, and where it is there, m."""


def pose_matrix(position: Sequence[float], quaternion: Sequence[float]) -> Pose:
    """Return the pose of a place x, y, z (m) and a quaternion x, y, z, w."""
    from scipy.spatial.transform import Rotation  # a quarter of a second, which a node that reads no pose is spared

    matrix: Pose = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = Rotation.from_quat(quaternion).as_matrix(), position
    return matrix


@dataclass(frozen=True, eq=False)
class MountedCamera:
    """A camera on a flange or beside the arm.

    Attributes:
        frame: name of its optical frame (z forwards, x right).
        pose: of the optical frame (4, 4), m: in the flange's frame (`in_hand`), else in the base frame.
        in_hand: it is on the flange.
        matrix: its intrinsic matrix (3, 3), px; None where its lens is not known.
        size: width and height of its images, px; zeros then.
    """

    frame: str
    pose: Pose
    in_hand: bool
    matrix: NDArray[np.float64] | None = None
    size: tuple[int, int] = (0, 0)

    def placed(self, flange: Pose | None) -> Pose | None:
        """Return the pose of the optical frame in the base frame; None for a camera on a flange whose pose is None."""
        if not self.in_hand:
            return self.pose
        return None if flange is None else np.asarray(flange @ self.pose)
