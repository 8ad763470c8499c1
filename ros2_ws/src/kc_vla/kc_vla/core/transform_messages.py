"""What a tf2_msgs/TFMessage says, from a topic or decoded from a bag: checked before it is believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.urdf import Placed


class WrongTransformError(StackError, ValueError):
    """A transform places nothing; the text says why, in one line."""


def placed_frames(message: Any) -> list[Placed]:
    """Return where a message says that frames are, in the order of its transforms.

    Raises:
        WrongTransformError: A frame has no name or hangs on itself, or a pose is none.
    """
    return [_placed(each) for each in message.transforms]


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
