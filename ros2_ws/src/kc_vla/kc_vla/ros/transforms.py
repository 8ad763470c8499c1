"""Transforms as messages, and out of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Quaternion, TransformStamped, Vector3
from scipy.spatial.transform import Rotation
from tf2_msgs.msg import TFMessage

from kc_vla.core.frame_tree import WrongTransformError, placed_frames
from kc_vla.core.urdf import Placed
from kc_vla.ros.convert import BadMessageError


def transforms_message(placed: Sequence[Placed], stamp: Time) -> TFMessage:
    """Return where frames are, all at one moment, as a message."""
    message = TFMessage()
    poses = np.array([each.pose for each in placed]).reshape(-1, 4, 4)
    turns = Rotation.from_matrix(poses[:, :3, :3]).as_quat() if placed else ()
    for each, (x, y, z), (qx, qy, qz, qw) in zip(placed, poses[:, :3, 3].tolist(), map(list, turns), strict=True):
        one = TransformStamped(child_frame_id=each.child)
        one.header.stamp, one.header.frame_id = stamp, each.parent
        one.transform.translation = Vector3(x=x, y=y, z=z)
        one.transform.rotation = Quaternion(x=float(qx), y=float(qy), z=float(qz), w=float(qw))
        message.transforms.append(one)
    return message


def placed_in(message: TFMessage) -> list[Placed]:
    """Return where a message says that frames are.

    Raises:
        BadMessageError: a frame has no name or hangs on itself, or a pose is none.
    """
    try:
        return placed_frames(message)
    except WrongTransformError as error:
        raise BadMessageError(str(error)) from error
