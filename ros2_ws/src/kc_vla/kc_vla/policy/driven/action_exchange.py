"""Where the stack, which asks for actions, and the program that gives them meet: each in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.views import Views


@dataclass(frozen=True, eq=False)
class ShownObservation:
    """What the stack has shown last.

    Attributes:
        number: counts what was shown, from 1.
        episode: its id.
        frame: of the episode.
        instruction: of the episode.
        state: (S,) float64.
        views: images.
        at: when it was shown, on the meeting's clock, s.
    """

    number: int
    episode: str
    frame: int
    instruction: str
    state: NDArray[np.float64]
    views: Views
    at: float


class ActionExchange:
    """The newest of what was shown, and the action that nobody has taken yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without an episode.

        Args:
            clock: s.
        """
        self._clock = clock
        self._change = threading.Condition()  # guards all of the following
        self._shown: ShownObservation | None = None
        self._count = self._answered = 0
        self._action: NDArray[np.float64] | None = None
        self._came = -np.inf
        self._said_to: ShownObservation | None = None  # what was shown when the action was said

    def begin(self) -> None:
        """Begin an episode, and forget all former observations and actions."""
        with self._change:
            self._shown, self._action = None, None

    def ask(
        self,
        episode: str,
        frame: int,
        instruction: str,
        state: NDArray[np.float64],
        views: Views,
        patience: float,
        stale: float,
    ) -> NDArray[np.float64] | None:
        """Show what there is now, and return what is said next; None if nothing is.

        Args:
            episode, frame, instruction, state, views: see `ShownObservation`.
            patience: s to wait for it.
            stale: s after which what has waited is none any more, unless it was said to this very moment: a simulator
                in lock-step stands still until it is asked again, and would lose an action that came between.
        """
        with self._change:
            self._count += 1
            self._shown = ShownObservation(self._count, episode, frame, instruction, state, views, self._clock())
            self._change.notify_all()
            self._change.wait_for(lambda: self._fresh(stale), patience)
            action, self._action = (self._action if self._fresh(stale) else None), None
            if action is not None:
                self._answered = self._count
            return action

    def act(self, action: NDArray[np.float64]) -> None:
        """Say what is to be done now."""
        with self._change:
            self._action, self._came, self._answered = action, self._clock(), self._count
            self._said_to = self._shown
            self._change.notify_all()

    def look(self, after: int, patience: float) -> tuple[ShownObservation | None, float]:
        """Return what was shown last, and how long ago, s.

        It waits so many seconds for something after number `after` that nothing was said to yet: in lock-step the same
        moment may be shown again, and one action is for one moment.
        """

        def is_new() -> bool:
            return self._shown is not None and self._shown.number > max(after, self._answered)

        with self._change:
            self._change.wait_for(is_new, patience)
            return self._shown, 0.0 if self._shown is None else self._clock() - self._shown.at

    def _fresh(self, stale: float) -> bool:
        if self._action is None:
            return False
        now, then = self._shown, self._said_to
        same = now is not None and then is not None and (now.episode, now.frame) == (then.episode, then.frame)
        return same or self._clock() - self._came <= stale
