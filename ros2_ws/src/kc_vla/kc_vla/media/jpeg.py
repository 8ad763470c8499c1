"""Images as small JPEGs: for pages, for a memory, for a model at a server."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

QUALITY = 75


def jpeg(pixels: NDArray[np.uint8], longest: int, quality: int = QUALITY) -> bytes:
    """Return an image, (H, W, 3) RGB, as JPEG with no side of more than `longest` px; `quality` is 1 to 100."""
    height, width = pixels.shape[:2]
    share = longest / max(height, width)
    if share < 1:
        size = max(1, round(width * share)), max(1, round(height * share))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    bgr = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2BGR)
    return bytes(cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])
