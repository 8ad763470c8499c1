"""When the bag of an episode may be closed: it is over, its result is there, and nothing of it is still on the way."""

from __future__ import annotations

_DISCOVERY_S = 3.0
"""Time that a late process waits, after the end, for the reports of the others."""
_RESEND_S = 4.0
"""What was missed, as by a process that stood still, may take this long: a reliable writer repeats every 3 s."""


class BagClosing:
    """The decision when the bag of an episode may be closed, for one episode after the other.

    All times are s of a steady clock.

    Attributes:
        episode: the one that is recorded; "" before the first.
    """

    def __init__(self) -> None:
        self.episode = ""
        self._ended_at: float | None = None
        self._result_of = ""
        self._misses = False
        self._events: set[int] = set()
        self._events_told = 0

    def begin(self, episode: str) -> None:
        """Begin a new episode."""
        self.episode, self._ended_at, self._misses = episode, None, False
        self._events, self._events_told = set(), 0

    def adopt(self, episode: str, now: float) -> None:
        """Go on with the bag of an episode that has ended already."""
        self.begin(episode)
        self._ended_at = now + _DISCOVERY_S

    def end(self, now: float) -> bool:
        """Note that the episode is over; return whether that is new."""
        if self._ended_at is not None:
            return False
        self._ended_at = now
        return True

    def late(self) -> None:
        """Note that a message came long after it was sent: others may have been lost for now."""
        self._misses = True

    def result(self, episode: str) -> None:
        """Note that the result of an episode was heard; it may come before its end."""
        self._result_of = episode

    def event(self, episode: str, number: int) -> None:
        """Note a keyframe event."""
        if episode == self.episode:
            self._events.add(number)

    def events(self, episode: str, count: int) -> None:
        """Note how many keyframe events there are by now."""
        if episode == self.episode:
            self._events_told = max(self._events_told, count)

    @property
    def has_result(self) -> bool:
        """Return whether the result of the episode was heard."""
        return self._result_of == self.episode

    def due(self, now: float, grace: float, result_timeout: float) -> bool:
        """Return whether to close the bag now.

        It is closed `grace` s after the end where all is there, and `result_timeout` s after it without a result.
        """
        if self._ended_at is None:
            return False
        waited = now - self._ended_at
        misses = self._misses or len(self._events) < self._events_told
        return waited >= (_RESEND_S if misses else grace) and (self.has_result or waited >= result_timeout)
