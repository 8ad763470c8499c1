"""What of the past a policy is given: the kept keyframes, or, to compare them with, frames at a stride, or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

_STRIDED = re.compile(r"([1-9]\d{0,2}) every ([1-9]\d{0,3})")


@dataclass(frozen=True)
class History:
    """The past frames that a policy gets; `history_of` reads its `str`.

    Attributes:
        count: frames before the present one; 0 where the keyframes are given, or nothing.
        stride: control steps between them, and from the newest to the present.
        remembers: whether anything is given.
    """

    count: int = 0
    stride: int = 0
    remembers: bool = True

    @property
    def strided(self) -> bool:
        """Return whether these are frames at a stride."""
        return self.count > 0

    @property
    def of_keyframes(self) -> bool:
        """Return whether these are the keyframes."""
        return self.remembers and not self.strided

    def frames(self, frame: int) -> list[int]:
        """Return which frames are given in `frame`, oldest first, where they are at a stride."""
        before = (frame - step * self.stride for step in range(self.count, 0, -1))
        return [each for each in before if each >= 0]

    def __str__(self) -> str:
        if not self.remembers:
            return "none"
        return f"{self.count} every {self.stride}" if self.strided else "keyframes"


KEYFRAMES, NONE = History(), History(remembers=False)


def history_of(text: str) -> History:
    """Return the history that `text` names: "keyframes", "none", or "3 every 20" (3 frames, 20 control steps apart).

    Raises:
        ValueError: The text names no history.
    """
    for history in (KEYFRAMES, NONE):
        if text == str(history):
            return history
    if found := _STRIDED.fullmatch(text):
        return History(int(found[1]), int(found[2]))
    raise ValueError(f"no history '{text}': say keyframes, none, or such as '3 every 20'")
