"""A session with an arm as a node drives it: what it said is kept, and waiting for it polls it."""

from __future__ import annotations

import time
from collections.abc import Callable

from kc_vla.arm.session import ArmSession, Gravity


class Watched:
    """What the tests of sessions have in common; whoever derives from it makes the session.

    Attributes:
        session: that is polled.
        said: what it told, and how grave that is.
        stopped: whether the emergency stop is pressed.
    """

    session: ArmSession

    def __init__(self, patience: float, stopped: bool = False) -> None:
        """Args: `patience`: s, after which what is waited for has failed."""
        self._patience, self.stopped = patience, stopped
        self.said: list[tuple[Gravity, str]] = []

    def say(self, gravity: Gravity, text: str) -> None:
        self.said.append((gravity, text))

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.said)

    def until(self, done: Callable[[], object]) -> None:
        """Do what a node does until then."""
        end = time.monotonic() + self._patience
        while not done():
            assert time.monotonic() < end, self.text
            self.session.poll()
            time.sleep(0.005)

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)
