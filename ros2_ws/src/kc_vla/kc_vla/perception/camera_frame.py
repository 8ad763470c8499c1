"""One image of a camera, with all that is known of the camera that took it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import project
from kc_vla.memory.images.crop import PixelBox

_RIM_PX = 1.0
"""What is no further from the rim of the image is cut by it."""


class CameraFrameError(StackError, ValueError):
    """An image cannot be looked for objects in; the text says in one line why, and what to do."""


@dataclass(frozen=True, eq=False)
class CameraFrame:
    """An image, its camera's lens and pose, and its depth where there is one.

    Attributes:
        camera: name of the view, e.g. "third_person".
        stamp_ns: when the image was taken.
        image: (H, W, 3) uint8, RGB.
        matrix: intrinsic matrix (3, 3), px.
        pose: of the optical frame (x right, y down, z forwards) in the frame that objects are located in, (4, 4), m.
        depth_m: depth along the optical axis of each pixel (H, W) float32, m; 0 or NaN where it is not known; None
            without a depth image.
        distortion_model: of the lens, as `camera_info` names it.
        distortion: its coefficients; empty for none.
        stands: its pose follows from transforms that do not change, as that of a camera beside the arm.
    """

    camera: str
    stamp_ns: int
    image: NDArray[np.uint8]
    matrix: NDArray[np.float64]
    pose: Pose
    depth_m: NDArray[np.float32] | None = None
    distortion_model: str = "plumb_bob"
    distortion: Sequence[float] = ()
    stands: bool = False

    def __post_init__(self) -> None:
        if self.image.ndim != 3 or self.image.shape[2] != 3 or self.image.dtype != np.uint8 or not self.image.size:
            raise CameraFrameError(f"an image of {self.image.dtype} {self.image.shape}: give RGB of uint8 (H, W, 3)")
        if self.matrix.shape != (3, 3) or not np.isfinite(self.matrix).all() or min(self.matrix[[0, 1], [0, 1]]) <= 0.0:
            raise CameraFrameError("an intrinsic matrix that is none: check the camera's camera_info")
        if self.pose.shape != (4, 4) or not np.isfinite(self.pose).all():
            raise CameraFrameError("a camera's pose that is not finite: check /tf or the hand-eye file")
        if self.depth_m is not None and self.depth_m.shape != self.image.shape[:2]:
            raise CameraFrameError(
                f"a depth image of {self.depth_m.shape[::-1]} px for an image of {self.image.shape[1::-1]} px: "
                "let the camera align depth to color"
            )

    def cuts(self, box: PixelBox) -> bool:
        """Return whether the rim of the image cuts what a box is around: it may go on outside."""
        rows, columns = self.image.shape[:2]
        return bool(min(box.left, box.top, columns - box.right, rows - box.bottom) <= _RIM_PX)

    def box_around(self, points: NDArray[np.float64], least_px: float) -> PixelBox | None:
        """Return the part of the image that some points cover (N, 3), m; None where that is too small.

        It is None as well where one of the points is not before the camera.

        Args:
            points: in the frame of the camera's pose.
            least_px: the shortest side that the part may have.

        Raises:
            ValueError: The model of the lens is not known.
        """
        pixels, _ = project(points, self.pose, self.matrix, self.distortion_model, self.distortion)
        if not np.isfinite(pixels).all():
            return None
        rows, columns = self.image.shape[:2]
        low, high = np.maximum(pixels.min(axis=0), 0.0), np.minimum(pixels.max(axis=0), (float(columns), float(rows)))
        return None if (high - low < least_px).any() else PixelBox(*low.tolist(), *high.tolist())
