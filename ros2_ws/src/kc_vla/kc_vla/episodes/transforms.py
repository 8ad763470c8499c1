"""Where frames were, out of what a bag has of /tf and /tf_static."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.alignment import nearest_within
from kc_vla.core.mounted_camera import Pose, pose_matrix
from kc_vla.core.stamps import nanoseconds
from kc_vla.core.topics import TF, TF_STATIC
from kc_vla.episodes.recording import Recording

NEAR_NS = 60_000_000
"""A transform counts for a moment that is no further from its stamp than that: a control step, and a little."""
_DEEPEST = 100


class RecordedTransforms:
    """The transforms of a bag."""

    def __init__(self, recording: Recording) -> None:
        """Read them; a bag from before there were any has none.

        Raises:
            BagReadError: the bag cannot be read.
        """
        self._fixed: dict[str, tuple[str, Pose]] = {}
        moving: dict[str, tuple[str, list[int], list[Pose]]] = {}
        for topic, message in recording.messages(TF_STATIC, TF):
            for parent, child, stamp_ns, pose in _told(message.transforms):
                if topic == TF_STATIC:
                    self._fixed[child] = parent, pose
                else:
                    of_child = moving.setdefault(child, (parent, [], []))
                    of_child[1].append(stamp_ns)
                    of_child[2].append(pose)
        self._moving = {child: (parent, *_in_order(stamps, poses)) for child, (parent, stamps, poses) in moving.items()}

    @property
    def frames(self) -> tuple[str, ...]:
        """Return names of all frames that are placed somewhere."""
        return (*self._fixed, *self._moving)

    @property
    def root(self) -> str | None:
        """Return the frame on which most of the others hang, and that hangs on none; None without transforms."""
        tops = [self._top(frame) for frame in self.frames]
        return max(sorted(set(tops)), key=tops.count) if tops else None

    def _top(self, frame: str) -> str:
        for _ in range(_DEEPEST):
            above = self._fixed.get(frame) or self._moving.get(frame)
            if above is None:
                break
            frame = above[0]
        return frame

    def pose(self, frame: str, parent: str, stamp_ns: int) -> Pose | None:
        """Return the pose (4, 4) of a frame in one that it hangs on, at a time, m; None where the bag has none."""
        pose: Pose = np.eye(4)
        for _ in range(_DEEPEST):
            if frame == parent:
                return pose
            found = self._step(frame, stamp_ns)
            if found is None:
                return None
            frame, step = found
            pose = step @ pose
        return None

    def _step(self, frame: str, stamp_ns: int) -> tuple[str, Pose] | None:
        if frame in self._fixed:
            return self._fixed[frame]
        if frame not in self._moving:
            return None
        parent, stamps, poses = self._moving[frame]
        (at,) = nearest_within(np.array([stamp_ns]), stamps, NEAR_NS)
        return None if at is None else (parent, poses[at])


def _in_order(stamps: list[int], poses: list[Pose]) -> tuple[NDArray[np.int64], list[Pose]]:
    order = np.argsort(stamps, kind="stable")
    return np.array(stamps, np.int64)[order], [poses[at] for at in order]


def _told(transforms: Iterable[Any]) -> Iterable[tuple[str, str, int, Pose]]:
    """Yield parent, child, stamp and pose of each transform; one whose rotation is none is left out."""
    for each in transforms:
        at, turn = each.transform.translation, each.transform.rotation
        quaternion = [turn.x, turn.y, turn.z, turn.w]
        place = [at.x, at.y, at.z]
        if np.isfinite(place).all() and 0.99 < np.linalg.norm(quaternion) < 1.01:
            names = each.header.frame_id.lstrip("/"), each.child_frame_id.lstrip("/")
            yield *names, nanoseconds(each.header.stamp), pose_matrix(place, quaternion)
