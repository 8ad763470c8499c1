"""Which part of the map was in view: what ought to be there and was not seen loses confidence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.line_of_sight import SightLines, hidden_by, look_at
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import Vector

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
_INNER = 0.4
"""Share of its sides that a box reaches from its middle, but for its outermost part."""


class RegionView(Protocol):
    """A region of the map."""

    def reach(self) -> tuple[Vector, float]:
        """Return the middle and the radius of a ball that it lies in, m."""
        ...

    def shows(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return which boxes ought to have been seen: their middles and sizes (N, 3), m, as flags (N,)."""
        ...

    def shows_inside(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return of which boxes depth shows that nothing is there, also if something is said to be closed over them."""
        ...


class PointView(ABC):
    """A region that is known by which points are in view."""

    @abstractmethod
    def holds(self, points: Numbers) -> Flags:
        """Return which of the points (N, 3), m, are in view and hidden by nothing: (N,)."""

    def shows(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return which boxes are in view: their middle and, but for its outermost part, their box."""
        seen = self.holds(middles)
        for side in (-_INNER, _INNER):
            for axis in np.eye(3):
                seen = seen & self.holds(middles + side * sizes * axis)
        return seen

    def shows_inside(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return none: only depth shows what is in something that is said to be closed."""
        return np.zeros(len(middles), bool)


@dataclass(frozen=True)
class BoxView(PointView):
    """All of a box along the axes of the map."""

    low: Vector
    high: Vector

    def reach(self) -> tuple[Vector, float]:
        """Return the middle and the radius of the ball around the box, m."""
        low, high = np.array(self.low), np.array(self.high)
        x, y, z = (low + high) / 2
        return (float(x), float(y), float(z)), float(np.linalg.norm(high - low) / 2)

    def holds(self, points: Numbers) -> Flags:
        """Return which of the points (N, 3), m, are inside of the box: (N,)."""
        return np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))


@dataclass(frozen=True)
class UnionView:
    """All that one of some regions shows."""

    parts: Sequence[RegionView]

    def reach(self) -> tuple[Vector, float]:
        """Return the middle and the radius of a ball around all regions, m."""
        balls = [each.reach() for each in self.parts]
        x, y, z = np.mean([middle for middle, _ in balls], axis=0).tolist()
        return (x, y, z), max(math.dist((x, y, z), middle) + radius_m for middle, radius_m in balls)

    def shows(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return which boxes ought to have been seen in one of the regions: (N,)."""
        return np.asarray(np.any([each.shows(middles, sizes) for each in self.parts], axis=0))

    def shows_inside(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return of which boxes the depth of one of the regions shows that nothing is there: (N,)."""
        return np.asarray(np.any([each.shows_inside(middles, sizes) for each in self.parts], axis=0))


class CameraView:
    """What a camera sees, up to a distance, and with a depth image no further than its surfaces."""

    def __init__(
        self,
        position: Vector,
        rotation: Numbers,
        matrix: Numbers,
        size: tuple[int, int],
        farthest_m: float = 4.0,
        depth_m: NDArray[np.float32] | None = None,
        before: tuple[Numbers, Numbers] | None = None,
    ) -> None:
        """Take a view.

        Args:
            position: of the camera in the map, m.
            rotation: of its optical frame in the map (3, 3): its columns point right, down, and forwards.
            matrix: its intrinsic matrix (3, 3), pixels.
            size: width and height of the image, pixels.
            farthest_m: what lies deeper is not taken for seen.
            depth_m: the depth of each pixel (height, width), m; 0 or NaN where it is not known. With fewer rows and
                columns each is the least of its part of the view. Without it everything counts as seen that nothing is
                known to hide, also what is behind a wall.
            before: middles and sizes (N, 3) of boxes, m, that hide what is behind them where there is no depth.

        Raises:
            GraphError: something has another shape or is not finite.
        """
        placed, turned, lens = np.asarray(position, float), np.asarray(rotation, float), np.asarray(matrix, float)
        if turned.shape != (3, 3) or lens.shape != (3, 3) or placed.shape != (3,):
            raise GraphError("a camera view needs a position (3), a rotation (3, 3) and an intrinsic matrix (3, 3)")
        if not all(np.isfinite(each).all() for each in (placed, turned, lens)):
            raise GraphError("a camera view has a pose or a matrix that is not finite")
        if depth_m is not None and not (0 < depth_m.shape[0] <= size[1] and 0 < depth_m.shape[1] <= size[0]):
            raise GraphError(f"a depth image of shape {depth_m.shape} for {size[0]}x{size[1]} pixels")
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turned, placed
        self._lines = SightLines(pose, lens, size, farthest_m, depth_m)
        self._before = before

    def reach(self) -> tuple[Vector, float]:
        """Return the camera's position and the distance of the farthest corner that it can see, m."""
        width, height = self._lines.size
        corners = np.array([[0, 0, 1], [width, 0, 1], [0, height, 1], [width, height, 1]]).T
        steps = np.linalg.inv(self._lines.matrix) @ corners
        x, y, z = (float(value) for value in self._lines.camera[:3, 3])
        return (x, y, z), float(self._lines.farthest_m * np.linalg.norm(steps, axis=0).max())

    def shows(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return which boxes ought to have been seen: (N,).

        With depth, those in whose place depth shows nothing; of one that is too thin for that, those that nothing
        hides. Without depth, those in the image that no known box hides.
        """
        sights = look_at(self._lines, middles, sizes)
        if self._lines.depth_m is not None:
            return np.asarray(sights.empty | (sights.thin & sights.free))
        if self._before is None:
            return sights.whole
        return np.asarray(sights.whole & ~hidden_by(self._lines, middles, self._before))

    def shows_inside(self, middles: Numbers, sizes: Numbers) -> Flags:
        """Return of which boxes depth shows that nothing is in their place: (N,)."""
        return look_at(self._lines, middles, sizes).empty
