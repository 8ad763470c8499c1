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

_JPEG, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND"
_SLACK = 64
"""Bytes at the end of a file that cameras fill up with; the end of the picture is among them."""
_AS_STORED = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION


def decode_image(message: Any, topic: str) -> npt.NDArray[np.uint8]:
    """Return a decoded sensor_msgs/Image or CompressedImage as (height, width, 3) uint8 RGB.

    Args:
        message: the decoded message.
        topic: where it came from, for the error.

    Raises:
        BagReadError: its encoding is unknown, its bytes do not fit its size, or it is compressed and cut off.
    """
    if hasattr(message, "format"):
        return _decompressed(message, topic)
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


def _decompressed(message: Any, topic: str) -> npt.NDArray[np.uint8]:
    """The pixels of a sensor_msgs/CompressedImage: JPEG or PNG, whatever its `format` says of the colours before."""
    data = bytes(message.data)
    known = data.startswith((_JPEG, _PNG)) and "compressedDepth" not in message.format
    if not known:
        raise BagReadError(f"an image on {topic} has the format '{message.format}': only jpeg and png can be shown")
    # Decoders paint over what is missing at the end.
    whole = _JPEG_END in data[-_SLACK:] if data.startswith(_JPEG) else _PNG_END in data[-_SLACK:]
    bgr = cv2.imdecode(np.frombuffer(data, np.uint8), _AS_STORED) if whole else None
    if bgr is None:
        raise BagReadError(f"an image on {topic} is cut off or damaged: {len(data)} bytes of {message.format}")
    return np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), np.uint8)
