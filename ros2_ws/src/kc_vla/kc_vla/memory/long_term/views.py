"""Which part of the map was in view: what ought to be there and was not seen loses confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.projection import project
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import Vector


class RegionView(Protocol):
    """A region of the map."""

    def reach(self) -> tuple[Vector, float]:
        """Return the middle and the radius of a ball that it lies in, m."""
        ...

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of the points (N, 3), m, are in view and hidden by nothing: (N,)."""
        ...


@dataclass(frozen=True)
class BoxView:
    """All of a box along the axes of the map."""

    low: Vector
    high: Vector

    def reach(self) -> tuple[Vector, float]:
        """Return the middle and the radius of the ball around the box, m."""
        low, high = np.array(self.low), np.array(self.high)
        x, y, z = (low + high) / 2
        return (float(x), float(y), float(z)), float(np.linalg.norm(high - low) / 2)

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of the points (N, 3), m, are inside of the box: (N,)."""
        return np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))


class CameraView:
    """What a camera sees, up to a distance, and with a depth image no further than its surfaces."""

    def __init__(
        self,
        position: Vector,
        rotation: NDArray[np.float64],
        matrix: NDArray[np.float64],
        size: tuple[int, int],
        farthest_m: float = 4.0,
        depth_m: NDArray[np.float32] | None = None,
    ) -> None:
        """Take a view.

        Args:
            position: of the camera in the map, m.
            rotation: of its optical frame in the map (3, 3): its columns point right, down, and forwards.
            matrix: its intrinsic matrix (3, 3), pixels.
            size: width and height of the image, pixels.
            farthest_m: what lies deeper is not taken for seen.
            depth_m: the depth of each pixel (height, width), m; 0 or NaN where it is not known. Without it everything
                counts as seen that nothing in the map is known to hide, also what is behind a wall.

        Raises:
            GraphError: something has another shape or is not finite.
        """
        self._position = np.asarray(position, float)
        self._rotation, self._matrix = np.asarray(rotation, float), np.asarray(matrix, float)
        if self._rotation.shape != (3, 3) or self._matrix.shape != (3, 3) or self._position.shape != (3,):
            raise GraphError("a camera view needs a position (3), a rotation (3, 3) and an intrinsic matrix (3, 3)")
        if not all(np.isfinite(each).all() for each in (self._position, self._rotation, self._matrix)):
            raise GraphError("a camera view has a pose or a matrix that is not finite")
        if depth_m is not None and depth_m.shape != (size[1], size[0]):
            raise GraphError(f"a depth picture of shape {depth_m.shape} for {size[0]}x{size[1]} pixels")
        self._camera = np.eye(4)
        self._camera[:3, :3], self._camera[:3, 3] = self._rotation, self._position
        self._size, self._farthest_m, self._depth_m = size, farthest_m, depth_m

    def reach(self) -> tuple[Vector, float]:
        """Return the camera's position and the distance of the farthest corner that it can see, m."""
        width, height = self._size
        corners = (
            np.linalg.inv(self._matrix) @ np.array([[0, 0, 1], [width, 0, 1], [0, height, 1], [width, height, 1]]).T
        )
        x, y, z = (float(value) for value in self._position)
        return (x, y, z), float(self._farthest_m * np.linalg.norm(corners, axis=0).max())

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of the points (N, 3), m, are in the image and nearer than what the depth image shows: (N,)."""
        pixels, deep = project(points, self._camera, self._matrix)
        held: NDArray[np.bool_] = np.logical_and(deep > 0.05, deep <= self._farthest_m)
        held &= np.logical_and(pixels >= 0, pixels < self._size).all(axis=1)
        if self._depth_m is not None:
            columns, rows = pixels[held].astype(int).T
            held[held] = self._depth_m[rows, columns] > deep[held]  # nor is NaN, or 0
        return held
