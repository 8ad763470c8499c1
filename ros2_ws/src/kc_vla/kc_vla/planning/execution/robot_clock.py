"""The time of a robot that carries instructions out: by which memories are stamped, and which people read."""

from __future__ import annotations

from collections.abc import Callable

SKILLS_CLOCK, DAY_CLOCK = "skills", "day"
"""What the memories are stamped by: what skills took, added up, or the time of day."""
_TICK_S = 1e-3
"""Between two looks, where nothing took time: the memories need to know which was the later one."""


class RobotClock:
    """Adds up what skills took, or follows a clock that other sources of the memories are stamped by.

    Attributes:
        now_s: the time for the memories, s; it never goes back.
        began_s: `now_s` of the moment that `told_s` counts from.
    """

    def __init__(self, latest_s: float, lasting: Callable[[], float] | None = None) -> None:
        """Begin after all that is remembered.

        Args:
            latest_s: when the newest of what is remembered was seen, s.
            lasting: returns the time by which others stamp what they put into the same memories, s; None: nobody else
                does, and the time is what skills took, added up.
        """
        self._lasting = lasting
        self.now_s = latest_s + 1.0
        self.began_s, self._elapsed_s = 0.0, 0.0
        if lasting is not None:
            self.now_s = self.began_s = max(lasting(), latest_s + _TICK_S)

    @property
    def told_s(self) -> float:
        """Return the time for people, s: what skills took, added up, from the start of the robot or of its memory."""
        return self.now_s if self._lasting is None else self._elapsed_s

    def went(self, seconds: float) -> None:
        """Note that a skill took so long, s of the robot's time."""
        self._elapsed_s += seconds
        if self._lasting is None:
            self.now_s += seconds
        else:
            self.tick()

    def tick(self) -> None:
        """Go on a little: what is noted now is later than what was noted before."""
        later_s = self.now_s + _TICK_S
        self.now_s = later_s if self._lasting is None else max(self._lasting(), later_s)
