"""Where frames are at a moment: the transforms of /tf and /tf_static, chained from one frame to another."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import Pose, pose_matrix
from kc_vla.core.urdf import Placed

MOST_FRAMES = 1000
"""Frames that are kept: a node that makes up names must not fill the memory."""
_KEPT = 300
"""Poses of one moving frame: 10 s at the 30 Hz of the node `transforms`, 3 s at 100 Hz."""
_BACK_NS = 1_000_000_000
_LONGEST_CHAIN = 100


class UnknownFrameError(StackError, ValueError):
    """It is not known where a frame is; the text names the frame that is missing, and says what to do."""


class LateTransformError(UnknownFrameError):
    """The transform of a frame at that moment has not come yet, but may come soon."""


@dataclass(frozen=True)
class Lookup:
    """Where a frame is.

    Attributes:
        pose: of the frame in the other one (4, 4), m.
        stands: no transform between the two moves.
    """

    pose: Pose
    stands: bool


@dataclass(eq=False)
class _Frame:
    """One frame: its pose in its parent, fixed or at some moments."""

    parent: str
    fixed: Pose | None = None
    moments: list[tuple[int, int, Pose]] = field(default_factory=list)  # the second one keeps poses out of the order
    pinned: bool = False


class FrameTree:
    """The newest transforms of each frame, within bounds."""

    def __init__(self, pinned: Iterable[Placed] = ()) -> None:
        """Begin with the transforms that nothing replaces, such as those of a calibration file."""
        self._frames = {each.child: _Frame(each.parent, each.pose, pinned=True) for each in pinned}
        self._count = 0

    def put_fixed(self, placed: Iterable[Placed]) -> None:
        """Take what /tf_static says, in place of what it said of the same frames before."""
        for each in placed:
            if self._takes(each.child):
                self._frames[each.child] = _Frame(each.parent, each.pose)

    def put(self, placed: Iterable[Placed], stamp_ns: int) -> None:
        """Take what /tf says of a moment, ns; the oldest moments of a frame are dropped."""
        for each in placed:
            if not self._takes(each.child):
                continue
            known = self._frames.get(each.child)
            begins_anew = known is None or known.parent != each.parent or known.fixed is not None
            if known is None or begins_anew or stamp_ns < known.moments[-1][0] - _BACK_NS:  # or time itself does
                known = self._frames[each.child] = _Frame(each.parent)
            self._count += 1
            insort(known.moments, (stamp_ns, self._count, each.pose))
            del known.moments[:-_KEPT]

    def lookup(self, target: str, source: str, stamp_ns: int) -> Lookup:
        """Return the pose of the frame `source` in the frame `target` at a moment.

        Between two stamps of /tf, the pose is interpolated: positions linearly, rotations evenly.

        Args:
            target: frame in whose axes the pose is given.
            source: frame whose pose is returned.
            stamp_ns: the moment, ns.

        Raises:
            LateTransformError: The newest transform of a frame between the two is older.
            UnknownFrameError: A frame is unknown, the two belong to different trees, or the moment is too long ago.
        """
        below, above = self._chain(source), self._chain(target)
        common = next((each for each in below if each in above), None)
        if common is None:
            raise UnknownFrameError(self._apart(target, source, below[-1], above[-1]))
        up, stands_up = self._pose(below[: below.index(common)], stamp_ns)
        down, stands_down = self._pose(above[: above.index(common)], stamp_ns)
        return Lookup(np.asarray(np.linalg.inv(down) @ up), stands_up and stands_down)

    def above(self, frame: str) -> list[str]:
        """Return a frame, its parent, and so on to the root.

        Raises:
            UnknownFrameError: The transforms go in a circle.
        """
        return self._chain(frame)

    def _takes(self, frame: str) -> bool:
        known = self._frames.get(frame)
        return not known.pinned if known is not None else len(self._frames) < MOST_FRAMES

    def _chain(self, frame: str) -> list[str]:
        """Return a frame, its parent, and so on to the root."""
        chain = [frame]
        while (known := self._frames.get(chain[-1])) is not None:
            if known.parent in chain or len(chain) == _LONGEST_CHAIN:
                raise UnknownFrameError(f"the transforms above '{frame}' go in a circle: look at who publishes on /tf")
            chain.append(known.parent)
        return chain

    def _apart(self, target: str, source: str, source_root: str, target_root: str) -> str:
        parents = {each.parent for each in self._frames.values()}
        for name in (source, target):
            if name not in self._frames and name not in parents:
                return f"no transform names the frame '{name}': publish it on /tf_static, or name a hand-eye file"
        return (
            f"no transform leads from '{source}' (root '{source_root}') to '{target}' (root '{target_root}'): "
            "publish one, or name a hand-eye file"
        )

    def _pose(self, chain: list[str], stamp_ns: int) -> tuple[Pose, bool]:
        """Return the pose of the first frame in the parent of the last, and whether none of them moves."""
        found, stands = np.eye(4), True
        for name in chain:
            known = self._frames[name]
            stands = stands and known.fixed is not None
            found = (_at(name, known, stamp_ns) if known.fixed is None else known.fixed) @ found
        return found, stands


class WrongTransformError(StackError, ValueError):
    """A transform places nothing; the text says why, in one line."""


def placed_frames(message: Any) -> list[Placed]:
    """Return where a message says that frames are, in the order of its transforms.

    Raises:
        WrongTransformError: A frame has no name or hangs on itself, or a pose is none.
    """
    return [_placed(each) for each in message.transforms]


def _at(name: str, frame: _Frame, stamp_ns: int) -> Pose:
    moments = frame.moments
    after = bisect_left(moments, (stamp_ns, 0))
    if after == len(moments):
        late_s = (stamp_ns - moments[-1][0]) / 1e9
        raise LateTransformError(
            f"the newest transform of '{name}' is {late_s:.2f} s older than the image: is /tf published?"
        )
    (end_ns, _, end) = moments[after]
    if end_ns == stamp_ns:
        return end
    if after == 0:
        raise UnknownFrameError(
            f"no transform of '{name}' is as old as the image, {(end_ns - stamp_ns) / 1e9:.2f} s more"
        )
    (begin_ns, _, begin) = moments[after - 1]
    return _between(begin, end, (stamp_ns - begin_ns) / (end_ns - begin_ns))


def _between(begin: Pose, end: Pose, share: float) -> Pose:
    from scipy.spatial.transform import Rotation  # a quarter of a second, which a tree that stands is spared

    found = np.eye(4)
    found[:3, 3] = begin[:3, 3] + share * (end[:3, 3] - begin[:3, 3])
    turn = Rotation.from_matrix(begin[:3, :3].T @ end[:3, :3]).as_rotvec()
    found[:3, :3] = begin[:3, :3] @ Rotation.from_rotvec(share * turn).as_matrix()
    return found


def _placed(told: Any) -> Placed:
    parent, child = told.header.frame_id.lstrip("/"), told.child_frame_id.lstrip("/")
    if not parent or not child or parent == child:
        raise WrongTransformError(
            f"a transform from '{parent}' to '{child}' has no two frames: name both, and let them differ"
        )
    at, turn = told.transform.translation, told.transform.rotation
    place, quaternion = [at.x, at.y, at.z], [turn.x, turn.y, turn.z, turn.w]
    if not np.isfinite(place).all() or not 0.99 < np.linalg.norm(quaternion) < 1.01:
        raise WrongTransformError(
            f"the transform from '{parent}' to '{child}' has no finite place or no unit quaternion"
        )
    return Placed(parent, child, pose_matrix(place, quaternion))
