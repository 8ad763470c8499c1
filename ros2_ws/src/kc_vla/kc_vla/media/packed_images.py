"""Images of messages, raw or compressed: color as pixels and depth as meters, whatever transport recorded them.

Depth comes as sensor_msgs/Image, as a PNG of 16 bits (transport `compressed`), or with a head before it (transport
`compressedDepth`, https://github.com/ros-perception/image_transport_plugins): 12 bytes with the kind of compression and
two numbers that turn the 16 bits of 32FC1 into an inverse depth.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.media.images import (
    ImageError,
    check_depth,
    compressed_pixels,
    depth_metres,
    file_size,
    is_depth,
    raw_pixels,
)

COMPRESSED_DEPTH = "compressedDepth"
_HEAD = struct.Struct("<iff")
_FLOAT, _RVL = "32FC1", "rvl"
_MM = np.float32(1e-3)


@dataclass(frozen=True, eq=False)
class PackedImage:
    """A sensor_msgs/CompressedImage whose size is known.

    Attributes:
        header: of the message.
        width: px, as the head of the file says; nothing is unpacked yet.
        height: px.
        format: of the message, such as "16UC1; compressedDepth png".
        data: the file, with the head of its transport.
    """

    header: Any
    width: int
    height: int
    format: str
    data: bytes


def sized(message: Any) -> Any:
    """Return an image message with a width and a height: a raw one as it is, a compressed one as a `PackedImage`.

    Raises:
        ImageError: It is no file of a known form.
    """
    if not hasattr(message, "format"):
        return message
    data = bytes(message.data)
    width, height = file_size(_file(message.format, data), message.format)
    return PackedImage(message.header, width, height, message.format, data)


def shows_depth(message: Any) -> bool:
    """Return whether an image message, raw or compressed, has distances and no colors."""
    if not hasattr(message, "format"):
        return message.encoding in ("16UC1", _FLOAT)
    return COMPRESSED_DEPTH in message.format or is_depth(bytes(message.data[:64]))


def image_pixels(message: Any) -> NDArray[np.uint8]:
    """Return the pixels of an image message, raw or compressed, (H, W, 3) uint8 RGB.

    Raises:
        ImageError: It is in no form that can be shown, contradicts itself, or is cut off.
    """
    return compressed_pixels(message) if hasattr(message, "format") else raw_pixels(message)


def check_depth_image(message: Any) -> None:
    """Raise `ImageError` unless an image message can be one of distances: a compressed one is not unpacked for that."""
    if not hasattr(message, "format"):
        check_depth(message)
    elif not is_depth(_file(message.format, bytes(message.data))):
        raise ImageError(f"has the format '{message.format[:40]}', which is no depth: a PNG of 16 bits is")


def depth_image_metres(message: Any) -> NDArray[np.float32]:
    """Return the distances of an image message of depth, raw or compressed, (H, W) float32, m; NaN where unknown.

    Raises:
        ImageError: It is no depth in a known form, contradicts itself, or is cut off.
    """
    if not hasattr(message, "format"):
        return depth_metres(message)
    check_depth_image(message)
    data = bytes(message.data)
    file = _file(message.format, data)
    file_size(file, message.format)
    try:
        told = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        told = None
    if told is None or told.dtype != np.uint16 or told.ndim != 2 or b"IEND" not in file[-64:]:
        raise ImageError(f"is cut off or damaged: {len(data)} bytes of {message.format[:40]}")
    if not _is_inverse(message.format):
        return np.where(told == 0, np.float32(np.nan), told.astype(np.float32) * _MM)
    _, scale, shift = _HEAD.unpack_from(data)
    with np.errstate(divide="ignore", invalid="ignore"):
        metres = np.float32(scale) / (told.astype(np.float32) - np.float32(shift))
    return np.where((told == 0) | ~np.isfinite(metres) | (metres <= 0.0), np.float32(np.nan), metres)


def _is_inverse(form: str) -> bool:
    return COMPRESSED_DEPTH in form and form.lstrip().startswith(_FLOAT)


def _file(form: str, data: bytes) -> bytes:
    """Return the image file in a compressed message: what is behind the head of its transport, if that has one."""
    if COMPRESSED_DEPTH not in form:
        return data
    if _RVL in form:
        raise ImageError(f"has the format '{form[:40]}', which cannot be unpacked: record it with format png")
    if len(data) <= _HEAD.size:
        raise ImageError(f"is cut off: {len(data)} bytes of {form[:40]}")
    return data[_HEAD.size :]
