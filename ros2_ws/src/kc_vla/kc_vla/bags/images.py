"""Images of a bag as arrays."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from kc_vla.bags.errors import BagReadError

_CHANNELS = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}
_TO_RGB = {
    "bgr8": cv2.COLOR_BGR2RGB,
    "rgba8": cv2.COLOR_RGBA2RGB,
    "bgra8": cv2.COLOR_BGRA2RGB,
    "mono8": cv2.COLOR_GRAY2RGB,
}


def decode_image(message: Any, topic: str) -> npt.NDArray[np.uint8]:
    """Return a decoded sensor_msgs/Image as (height, width, 3) uint8 RGB.

    Args:
        message: the decoded message.
        topic: where it came from, for the error.

    Raises:
        BagReadError: its encoding is unknown or its bytes do not fit its size.
    """
    channels = _CHANNELS.get(message.encoding)
    if channels is None:
        known = ", ".join(_CHANNELS)
        raise BagReadError(f"an image on {topic} has the encoding '{message.encoding}': only {known} can be shown")
    height, width, step = message.height, message.width, message.step
    if height * width == 0 or step < width * channels or len(message.data) < height * step:
        raise BagReadError(
            f"an image on {topic} has {len(message.data)} bytes: {width}x{height} {message.encoding} needs more"
        )
    rows = np.frombuffer(message.data, np.uint8, height * step).reshape(height, step)
    image = rows[:, : width * channels].reshape(height, width, channels)
    code = _TO_RGB.get(message.encoding)
    rgb = image if code is None else cv2.cvtColor(image, code)
    return np.ascontiguousarray(rgb, dtype=np.uint8)
