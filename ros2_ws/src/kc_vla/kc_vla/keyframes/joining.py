"""Where a selector that starts in the middle of an episode takes it up: from what the buffer holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kc_vla.keyframes.selector import Held

JOIN_PATIENCE_S = 20.0
"""How long such a selector waits for the buffer to tell what is committed."""


@dataclass(frozen=True)
class Index:
    """The index of keyframes that the buffer publishes for an episode.

    Attributes:
        episode_id: of which.
        newest_frame: up to which the keyframes are known.
        events: how many have come so far.
        held: the keyframes.
    """

    episode_id: str
    newest_frame: int
    events: int
    held: tuple[Held, ...]


@dataclass(frozen=True)
class Start:
    """Where a selector starts.

    Attributes:
        held: keyframes of before, with which it goes on; None at the beginning of an episode.
        settled: the frame up to which they are known.
        events: how many there were before.
        problem: what a user should know; mostly empty.
    """

    held: tuple[Held, ...] | None = None
    settled: int = -1
    events: int = 0
    problem: str = ""


class Joining:
    """Finds the start in one episode after another."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without an episode.

        Args:
            clock: of the patience, s.
        """
        self._clock = clock
        self._since: float | None = None

    def begin(self) -> None:
        """Begin another episode."""
        self._since = None

    def start(self, episode_id: str, frame: int, index: Index | None) -> Start | None:
        """Return where the first frame that the selector sees finds it; None if that frame is to pass.

        Args:
            episode_id: of the running episode.
            frame: its number.
            index: index that the buffer published last, of any episode.
        """
        if frame <= 0:
            return Start()
        if index is not None and index.episode_id == episode_id:
            if index.events == 0 and not index.held:
                return Start()  # the buffer knows of nothing either: this is the first frame that anybody saw
            return Start(index.held, min(index.newest_frame, frame), index.events)
        now = self._clock()
        self._since = now if self._since is None else self._since
        if now - self._since < JOIN_PATIENCE_S:
            return None
        why = f"starts at frame {frame} without the keyframes before it: keyframe_buffer does not tell of any"
        return Start(problem=why)
