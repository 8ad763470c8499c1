"""The newest picture of each view as a small JPEG: made when somebody asks for it, and once for all who ask."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
_QUALITY = 75


def jpeg(pixels: Pixels, longest: int) -> bytes:
    """A picture, (H, W, 3) RGB, as JPEG with no side of more than `longest` px."""
    height, width = pixels.shape[:2]
    share = longest / max(height, width)
    if share < 1:
        size = max(1, round(width * share)), max(1, round(height * share))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    bgr = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2BGR)
    return bytes(cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1])


def data_url(pixels: Pixels, longest: int) -> str:
    """The same as a text that a page can show."""
    return "data:image/jpeg;base64," + base64.b64encode(jpeg(pixels, longest)).decode("ascii")


class Pictures:
    """Of views, each with the newest alone. Safe for any threads."""

    def __init__(self, decode: Callable[[Any], Pixels], longest: int = 640) -> None:
        """Make it.

        Args:
            decode: pixels of what `put` is given; called by any thread; a ValueError says what is wrong with it.
            longest: px of a side of what is shown.
        """
        self._decode, self._longest = decode, longest
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._makes: dict[str, threading.Lock] = {}
        self._raw: dict[str, tuple[int, Any]] = {}
        self._made: dict[str, tuple[int, bytes]] = {}

    def put(self, view: str, raw: Any) -> None:
        """The newest picture of a view; costs nothing until somebody asks."""
        with self._lock:
            self._makes.setdefault(view, threading.Lock())
            self._raw[view] = next(self._numbers), raw

    def newest(self, view: str, seen: int) -> tuple[int, bytes] | None:
        """Number and JPEG of the newest picture of a view, or None without one newer than number `seen`.

        Raises:
            ValueError: there is one that cannot be shown.
        """
        with self._lock:
            if view not in self._raw:
                return None
            make = self._makes[view]
        with make:
            with self._lock:
                number, raw = self._raw.get(view, (seen, None))
            if number == seen:
                return None
            if self._made.get(view, (0, b""))[0] != number:
                self._made[view] = number, jpeg(self._decode(raw), self._longest)
            return self._made[view]

    def clear(self) -> None:
        """Nobody looks any more: what is kept would be old when somebody does."""
        with self._lock:
            self._raw.clear()
            self._made.clear()
