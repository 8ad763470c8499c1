"""What a skill depends on from outside while it is done: its client, joint states, set-points and stops. No ROS."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from kc_vla.skills.interface import STILL_STOPPED, STOPPED, ArmReading, SkillError

_POLL_S = 0.02
Sleep = Callable[[float], Awaitable[None]]
"""Lets so many seconds pass, while everything else goes on."""


class SkillWatch:
    """Says why a skill is not gone on with."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with no skill, and no stop.

        Args:
            clock: steady time, s.
        """
        self._clock = clock
        self._stopped, self._reason = False, ""
        self._clients = 1
        self._answering, self._asked_s = 0, clock()

    def begin(self) -> None:
        """Begin a skill: what ended the one before is over, except for an emergency stop that is still set."""
        self._reason = STILL_STOPPED if self._stopped else ""
        self._clients, self._asked_s = 1, self._clock()

    def set_stopped(self, is_stopped: bool) -> None:
        """Note whether the emergency stop is set."""
        self._stopped = is_stopped
        if is_stopped:
            self._reason = STOPPED

    def end_episode(self) -> None:
        """Note that the episode in which the skill was begun is over."""
        self._reason = "the episode is over"

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Note that set-points were asked for; until they are ready, nobody asks again: a way may take a while."""
        self._answering += 1
        try:
            yield
        finally:
            self._answering -= 1
            self._asked_s = self._clock()

    def why_interrupted(self, is_canceled: bool, clients: int, silence_s: float) -> str:
        """Return why the skill is not gone on with; empty where it is.

        Args:
            is_canceled: the client has canceled it.
            clients: that can ask for skills now. Nobody says which of them asked for this one: where one is gone, it
                may be that one.
            silence_s: without a request for set-points after which the arm controller counts as dead, s.
        """
        if is_canceled:
            return "it was stopped"
        if self._reason:
            return self._reason
        self._clients = max(self._clients, clients)
        if clients < self._clients:
            return "the client that asked for it is gone: the arm holds"
        silent_s = 0.0 if self._answering else self._clock() - self._asked_s
        if silent_s > silence_s:
            return f"arm_controller has not asked for set-points for {silent_s:.0f} s: is it alive?"
        return ""


class NewestReading:
    """The newest reading of the arm in an episode, for requests that wait for one.

    Attributes:
        reading: the newest; None where none has come in this episode.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without a reading.

        Args:
            clock: steady time, s.
        """
        self._clock, self._episode = clock, 0
        self.reading: ArmReading | None = None

    def begin_episode(self) -> None:
        """Forget the episode before; who still waits for a reading of it is refused."""
        self._episode += 1
        self.reading = None

    async def wait_for(self, step: int, seconds: float, sleep: Sleep) -> ArmReading:
        """Return the newest reading once it is of a control step or a later one.

        Args:
            step: of the episode.
            seconds: to wait at most.
            sleep: lets time pass.

        Raises:
            SkillError: none has come in time, or the episode is over.
        """
        began_s, episode = self._clock(), self._episode
        while self._episode == episode and self._clock() - began_s <= seconds:
            if self.reading is not None and self.reading.step >= step:
                return self.reading
            await sleep(_POLL_S)
        raise SkillError(f"no joint state of frame {step} has come")
