"""Checks by depth images whether cameras still have their known poses, and notices a camera that was bumped.

Most of a scene, such as tables and furniture, does not move. If one motion of the camera explains most of the changes
in its depth image, and does so image after image, then the camera has moved, not the scene.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.depth_view import DepthView, depth_view
from kc_vla.perception.view_alignment import ViewAlignment, aligned

_SAME_M, _SAME_RAD = 0.002, math.radians(0.3)
"""A pose that differs by less is the same: as `view_stream` takes it, too."""
_NEAR_M, _NEAR_RAD = 0.12, math.radians(20.0)
"""A view from so near is compared with a kept one."""
_MOST_KEPT = 60
_LEAST_POINTS, _LEAST_SHARE = 200, 0.25
"""Points that two views have in common, and as a share of those of the newer one, before anything follows."""
_EXPLAINED, _BETTER = 0.6, 1.5
"""Share of the points that fit after the motion of a camera, and how many times fewer misfit then."""
_ALIKE_M = 0.01
"""Two motions of a camera are one if they move what it sees by ways that differ by no more than that, or by a third."""
_TURNED_RAD = math.radians(15.0)
"""A moving camera has to have looked in directions that differ by so much: what it sees might move instead."""
_LONG = 6
"""So many times the usual number of images in a row are enough by themselves."""
_CHANGED = 10
"""Images in a row that show a place otherwise before it is taken for changed."""


@dataclass(frozen=True)
class CameraFitSettings:
    """When a camera counts as moved.

    Attributes:
        off_m: by which what it sees is off, in the mean.
        images: in a row that are off by the same motion before it counts as moved.
        again: images in a row that fit before it counts as where it is said to be.
        farthest_m: what is deeper is not compared.
    """

    off_m: float = 0.012
    images: int = 5
    again: int = 3
    farthest_m: float = 3.0


class CameraFit:
    """Looks at the depth of all cameras, for one thread."""

    def __init__(self, settings: CameraFitSettings | None = None) -> None:
        """Begin without a view."""
        self._settings = settings or CameraFitSettings()
        self._cameras: dict[str, _WatchedCamera] = {}

    def check(self, frame: CameraFrame) -> str | None:
        """Return why an image must not be believed, in one line; None if it may.

        The line is empty while it is not sure, of a camera that stands. A camera on the arm may look at something that
        moves: its images are believed until it is sure.

        An image without depth, or of a place that was not seen before, may be believed. So may one of a lens that is
        not known: no place follows from it, and the `Localizer` says why.
        """
        try:
            view = depth_view(frame, self._settings.farthest_m)
        except ValueError:
            return None
        if view is None or not view.usable.any():
            return None
        watched = self._cameras.get(frame.camera)
        if watched is None or not watched.is_of(view):
            watched = self._cameras[frame.camera] = _WatchedCamera(frame.camera, view, self._settings)
        return watched.check(view)


@dataclass(eq=False)
class _KeptView:
    """A view that fits, and for how many images each of its points has looked otherwise (rows, columns)."""

    view: DepthView
    otherwise: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.otherwise = np.zeros(self.view.points.shape[:2], np.int64)

    def renew(self, newer: DepthView) -> None:
        """Take what has changed for long from a newer view of the same pose."""
        with np.errstate(invalid="ignore"):
            differs = ~(np.abs(newer.points[..., 2] - self.view.points[..., 2]) < 0.01)
        self.otherwise = np.where(differs, self.otherwise + 1, 0)
        changed = self.otherwise >= _CHANGED
        self.view.points[changed], self.view.normals[changed] = newer.points[changed], newer.normals[changed]
        self.otherwise[changed] = 0


@dataclass(frozen=True, eq=False)
class _Contradiction:
    """A view that does not fit a kept one."""

    found: ViewAlignment
    view: DepthView
    key: _KeptView


class _WatchedCamera:
    """One camera, its kept views, and what the last images said."""

    def __init__(self, name: str, view: DepthView, settings: CameraFitSettings) -> None:
        self._name, self._lens, self._settings = name, view, settings
        self._kept: deque[_KeptView] = deque(maxlen=_MOST_KEPT)
        self._last = view.pose
        self._off: list[_Contradiction] = []
        self._fits, self._odd, self._suspects = 0, 0, 0
        self._line = ""

    def is_of(self, view: DepthView) -> bool:
        """Return whether a view is of the same lens."""
        mine = self._lens
        return (
            mine.size == view.size and mine.distortion == view.distortion and np.array_equal(mine.matrix, view.matrix)
        )

    def check(self, view: DepthView) -> str | None:
        """Return what `CameraFit.check` does."""
        if view.stands and not _near(self._last, view.pose, _SAME_M, _SAME_RAD):  # it has a new calibration
            self._forget()
        self._last = view.pose
        key = self._nearest(view.pose)
        found = None if key is None else aligned(view, key.view)
        if key is None or found is None or found.points < max(_LEAST_POINTS, _LEAST_SHARE * view.usable.sum()):
            return self._unknown(view, key)
        if found.off_m <= self._settings.off_m / 2:
            return self._fitting(view, key)
        misfit, left = 1.0 - found.fit_before, max(1.0 - found.fit_after, 0.005)
        if found.off_m > self._settings.off_m and found.fit_after >= _EXPLAINED and misfit >= _BETTER * left:
            return self._moved(found, view, key)
        return self._unknown(view, key)

    def _forget(self) -> None:
        self._kept.clear()
        self._off, self._line, self._fits, self._odd, self._suspects = [], "", 0, 0, 0

    def _nearest(self, pose: Pose) -> _KeptView | None:
        if not self._kept:
            return None
        poses = np.array([each.view.pose for each in self._kept])
        away = np.linalg.norm(poses[:, :3, 3] - pose[:3, 3], axis=1)
        traces = (poses[:, :3, :3] * pose[:3, :3]).sum(axis=(1, 2))  # of the turns from one to the other
        near = (away <= _NEAR_M) & (traces >= 1.0 + 2.0 * math.cos(_NEAR_RAD))
        if not near.any():
            return None
        off = np.where(near, ((poses - pose) ** 2).sum(axis=(1, 2)), np.inf)
        return self._kept[int(np.argmin(off))]

    def _unknown(self, view: DepthView, key: _KeptView | None) -> str | None:
        """Take a view that says nothing: the first one of a place is kept, also where it has changed as a whole."""
        if self._line:
            return self._line
        self._odd += 1
        if self._off:
            if self._odd < self._settings.images:
                return "" if view.stands else None
            self._off, self._suspects = [], 0
        if key is not None and self._odd >= _CHANGED:
            self._kept.remove(key)
            key, self._odd = None, 0
        if key is None:
            self._kept.append(_KeptView(view))
            self._odd = 0
        return None

    def _fitting(self, view: DepthView, key: _KeptView) -> str | None:
        self._off, self._odd, self._suspects, self._fits = [], 0, 0, self._fits + 1
        if self._line and self._fits < self._settings.again:
            return self._line
        self._line = ""
        if _near(key.view.pose, view.pose, _SAME_M, _SAME_RAD):
            key.renew(view)
        elif not _near(key.view.pose, view.pose, _NEAR_M / 2, _NEAR_RAD / 2):
            self._kept.append(_KeptView(view))
        return None

    def _moved(self, found: ViewAlignment, view: DepthView, key: _KeptView) -> str | None:
        self._fits, self._odd, self._suspects = 0, 0, self._suspects + 1
        if self._off and not _alike(self._off[-1].found, found):
            self._off = []
        self._off = [*self._off, _Contradiction(found, view, key)][-_LONG * self._settings.images :]
        if not self._line and self._is_sure():
            self._leave_newer()
            turn = math.degrees(_angle(found.motion))
            way_mm = 1000.0 * float(np.linalg.norm(found.motion[:3, 3]))
            self._line = (
                f"the camera {self._name} was moved by about {way_mm:.0f} mm and {turn:.1f} degrees, and its pose does "
                "not say so: its detections are held back until it is put back, or calibrated anew"
            )
        return self._line if self._line or view.stands else None

    def _is_sure(self) -> bool:
        """Return whether it is the camera that moved: it stands, or has looked in several directions, or for long."""
        if self._suspects >= _LONG * self._settings.images:
            return True
        if len(self._off) < self._settings.images:
            return False
        first, last = self._off[0].view.pose, self._off[-1].view
        turns = (_angle(np.asarray(np.linalg.inv(first) @ each.view.pose)) for each in self._off)
        return last.stands or max(turns) > _TURNED_RAD

    def _leave_newer(self) -> None:
        """Remove the views that are newer than those that are contradicted: the camera may have been moved by then."""
        contradicted = [at for at, each in enumerate(self._kept) if any(each is other.key for other in self._off)]
        while self._kept and len(self._kept) > max(contradicted, default=0) + 1:
            self._kept.pop()


def _alike(one: ViewAlignment, other: ViewAlignment) -> bool:
    ahead = np.array([[0.0, 0.0, 1.0, 1.0], [0.3, 0.3, 1.0, 1.0], [-0.3, 0.3, 1.0, 1.0]]).T
    first, second = (one.motion @ ahead - ahead)[:3], (other.motion @ ahead - ahead)[:3]
    apart_m = float(np.linalg.norm(first - second, axis=0).mean())
    return apart_m <= max(_ALIKE_M, min(one.off_m, other.off_m) / 3)


def _near(one: Pose, other: Pose, way_m: float, turn_rad: float) -> bool:
    away = float(np.linalg.norm(one[:3, 3] - other[:3, 3]))
    return away <= way_m and _angle(np.asarray(np.linalg.inv(one) @ other)) <= turn_rad


def _angle(pose: Pose) -> float:
    return math.acos(min(1.0, max(-1.0, (float(np.trace(pose[:3, :3])) - 1.0) / 2.0)))
