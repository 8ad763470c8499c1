"""The newest image of each view as a small JPEG: made when a client asks for it, and once for all clients."""

from __future__ import annotations

import base64
import math
import threading
import time
from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from kc_vla.media.images import jpeg

Pixels = NDArray[np.uint8]
_NOTHING: tuple[int, bytes, float] = (0, b"", -math.inf)
"""Entry of a view without an image; the first image has number 1."""


def data_url(pixels: Pixels, longest: int) -> str:
    """Return an image, (H, W, 3) RGB, as a JPEG in a text that a page can show, no side above `longest` px."""
    return "data:image/jpeg;base64," + base64.b64encode(jpeg(pixels, longest)).decode("ascii")


class LiveImages:
    """The newest image of each view as a JPEG, for any number of threads."""

    def __init__(self, take: Callable[[str], Pixels | None], longest: int = 640, shared_s: float = 0.0) -> None:
        """Make it.

        Args:
            take: the newest image of a view, None where none has come since it was asked last; called by any thread,
                of one view by one at a time; a ValueError says what is wrong with the image.
            longest: px of a side of what is shown.
            shared_s: for so long one that was made is the newest, so that many who ask cost little more than one, s.
        """
        self._take, self._longest, self._shared_s = take, longest, shared_s
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._makes: dict[str, threading.Lock] = {}
        self._made: dict[str, tuple[int, bytes | str, float]] = {}
        """Newest image of each view: its number, the JPEG or the reason why there is none, and when it was made."""

    def newest(self, view: str, seen: int) -> tuple[int, bytes] | None:
        """Return number and JPEG of the newest image of a view, or None without one newer than number `seen`.

        Raises:
            ValueError: there is one that cannot be shown.
        """
        with self._lock:
            make = self._makes.setdefault(view, threading.Lock())
        with make:
            *_, made_at = self._made.get(view, _NOTHING)
            if time.monotonic() >= made_at + self._shared_s:
                self._make(view)
            number, made, _ = self._made.get(view, _NOTHING)
        if number in (seen, _NOTHING[0]):
            return None
        if isinstance(made, str):
            raise ValueError(made)
        return number, made

    def _make(self, view: str) -> None:
        try:
            pixels = self._take(view)
            if pixels is None:
                return
            made: bytes | str = jpeg(pixels, self._longest)
        except ValueError as error:
            made = str(error)
        self._made[view] = next(self._numbers), made, time.monotonic()

    def clear(self) -> None:
        """Forget the images because no client looks any more: they would be old for the next one."""
        with self._lock:
            makes = dict(self._makes)
        for view, make in makes.items():
            with make:
                self._made.pop(view, None)
