"""Images of a bag as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kc_vla.bags.errors import BagReadError
from kc_vla.media.images import ImageError, compressed_pixels, raw_pixels


def decode_image(message: Any, topic: str) -> npt.NDArray[np.uint8]:
    """Return a decoded sensor_msgs/Image or CompressedImage as (height, width, 3) uint8 RGB.

    Args:
        message: the decoded message.
        topic: where it came from, for the error.

    Raises:
        BagReadError: its encoding is unknown, its bytes do not fit its size, or it is compressed and cut off.
    """
    try:
        pixels = compressed_pixels(message) if hasattr(message, "format") else raw_pixels(message)
    except ImageError as error:
        raise BagReadError(f"an image on {topic} {error}") from error
    return np.ascontiguousarray(pixels)
