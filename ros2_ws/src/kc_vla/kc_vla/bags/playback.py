"""Which message of a bag is due when: rate, pause, single steps, a start within the bag, from the beginning again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from kc_vla.bags.errors import BagEmptyError
from kc_vla.bags.reader import BagMessage

MOST_AT_ONCE = 256
"""Messages given at once, so that a player that was held up can still be paused."""


class Playback:
    """A bag that is played. It counts in the caller's time, `now`, s, which must not go back.

    Attributes:
        ended: every message was given, and it does not begin again.
        paused: time stands still.
        rounds: how often the bag was begun.
    """

    def __init__(
        self,
        begin: Callable[[], Iterator[BagMessage]],
        now: float,
        rate: float = 1.0,
        start: float = 0.0,
        loop: bool = False,
        latched: Collection[str] = (),
    ) -> None:
        """Begin to play at the time `now`.

        Args:
            begin: the messages of the bag, from its beginning, in the order in which they were recorded.
            now: s.
            rate: times as fast as it was recorded, above 0.
            start: s of the bag that are left out ...
            loop: begin again after the last message, with what was left out.
            latched: ... but for the last message of each of these topics.

        Raises:
            BagEmptyError: there is no message from `start` on.
            BagReadError: the bag cannot be read.
        """
        if rate <= 0.0:
            raise ValueError(f"rate is {rate}: it must be above 0")
        self._begin, self._loop, self._latched = begin, loop, frozenset(latched)
        self._rate, self._played, self._at = rate, start, now  # s of the bag that have been played at the time `at`
        self.ended = self.paused = False
        self.rounds = 0
        self._next: BagMessage | None = None
        self._first_ns = 0
        self._start_again()
        self._waiting: list[BagMessage] = []
        self._skip(start)

    def due(self, now: float) -> list[BagMessage]:
        """Return what is to be published now, in order."""
        self._pass_time(now)
        given, self._waiting = self._waiting, []
        while self._next is not None and len(given) < MOST_AT_ONCE and self._offset(self._next) <= self._played:
            given.append(self._take())
        return given

    def step(self, now: float) -> BagMessage | None:
        """Pause, and give the next message alone, whenever it is due; None at the end."""
        self.pause(now)
        if self._waiting:
            return self._waiting.pop(0)
        if self._next is None:
            return None
        self._played = max(self._played, self._offset(self._next))
        return self._take()

    def pause(self, now: float) -> None:
        """Let time stand still; a second time changes nothing."""
        self._pass_time(now)
        self.paused = True

    def resume(self, now: float) -> None:
        """Go on; a second time changes nothing."""
        self._pass_time(now)
        self.paused = False

    def set_rate(self, now: float, rate: float) -> None:
        """Play `rate` times as fast as it was recorded from now on, above 0."""
        if rate <= 0.0:
            raise ValueError(f"rate is {rate}: it must be above 0")
        self._pass_time(now)
        self._rate = rate

    def clock_ns(self, now: float) -> int:
        """Return the time within the bag, ns since the epoch."""
        self._pass_time(now)
        return self._first_ns + round(self._played * 1e9)

    def _pass_time(self, now: float) -> None:
        if not self.paused and not self.ended:
            self._played += max(0.0, now - self._at) * self._rate
        self._at = max(now, self._at)

    def _offset(self, message: BagMessage) -> float:
        return (message.ref.log_time_ns - self._first_ns) * 1e-9

    def _take(self) -> BagMessage:
        taken = self._next
        assert taken is not None
        self._next = next(self._messages, None)
        if self._next is None:
            if self._loop:
                self._played = 0.0
                self._start_again()
            else:
                self.ended = True
        return taken

    def _start_again(self) -> None:
        self._messages = self._begin()
        self._next = next(self._messages, None)
        if self._next is None:
            raise BagEmptyError("the bag holds no message of the topics that were chosen")
        self._first_ns = self._next.ref.log_time_ns
        self.rounds += 1

    def _skip(self, start: float) -> None:
        """Leave out the first `start` s; what late subscribers would have got is given first."""
        last: dict[str, BagMessage] = {}
        while self._next is not None and self._offset(self._next) < start:
            if self._next.topic in self._latched:
                last[self._next.topic] = self._next
            self._next = next(self._messages, None)
        if self._next is None:
            raise BagEmptyError(f"the bag ends before second {start:g}: give an earlier start")
        self._waiting = sorted(last.values(), key=lambda message: message.ref.log_time_ns)
