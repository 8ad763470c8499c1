"""The course of a replay: what is waited for before the bag is played, what is asked meanwhile, when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kc_vla.execution.scheduler import ChunkRequest
from kc_vla.replay.live_replay import LiveReplay
from kc_vla.replay.received_messages import ReceivedMessages

PLAYER = "bag_player"
_POLL_S = 0.01
_SETTLE_S = 0.5
"""So long after everybody has heard of the episode the bag begins."""
_QUIET_S = 2.0
"""Nodes of which nothing was heard for so long after the last frame have nothing more to say."""
_FAREWELL_S = 3.0
"""How long the nodes' last words on the episode may take."""
_TELL_EVERY_S = 10.0


class ReplayError(RuntimeError):
    """The bag could not be played to the live graph; the text says why."""


class Graph(Protocol):
    """What a replay sees and does of the live graph."""

    def is_there(self, node: str) -> bool:
        """Return whether a node can be seen and asked."""
        ...

    def is_playing(self) -> bool:
        """Return whether the player offers its images still."""
        ...

    def now_ns(self) -> int:
        """Return the time of the bag, ns; 0 before it begins."""
        ...

    def announce(self, running: bool) -> None:
        """Publish the episode, or its end."""
        ...

    async def resume(self) -> bool:
        """Ask the player to play; False where it does not answer."""
        ...

    def ask_policy(self, place: int, request: ChunkRequest) -> None:
        """Ask the policy without waiting; `LiveReplay.answer` gets what comes of it."""
        ...

    def begin(self) -> None:
        """Say that the episode begins."""
        ...

    def say(self, text: str) -> None:
        """Say a line."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let others go on."""
        ...


class ReplayRun:
    """One replay, from the first look at the graph to the report.

    Attributes:
        playing: whether the bag is played, and nothing is compared yet.
    """

    def __init__(
        self,
        replay: LiveReplay,
        heard: ReceivedMessages,
        graph: Graph,
        startup_timeout: float,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to play an episode.

        Args:
            replay: of the episode.
            heard: what the nodes published.
            graph: of the other nodes.
            startup_timeout: to wait for the other nodes, s.
            steady: a clock, s.
        """
        self._replay, self._heard, self._graph = replay, heard, graph
        self._startup_timeout, self._steady = startup_timeout, steady
        self.playing = False

    async def run(self, folder: Path) -> None:
        """Play, and write into `folder` what came of it.

        Raises:
            ReplayError: a node is missing, or does not do its part.
            ReportError: the report cannot be written.
        """
        await self._until_ready()
        self._graph.announce(running=True)
        await self._until_known()
        await self._play()
        await self._until_quiet()
        await self._end_episode()
        self.playing = False
        heard = self._heard
        for line in self._replay.report(folder, heard.scores, heard.events, heard.last_words):
            self._graph.say(line)

    def frame(self) -> int:
        """Return the frame that is played; negative before the first."""
        return self._replay.frame_at(self._graph.now_ns())

    async def _until_ready(self) -> None:
        """Wait until the player and everybody who looks at its images can be seen."""
        deadline = self._steady() + self._startup_timeout
        while missing := self._missing():
            if self._steady() > deadline:
                raise ReplayError(f"{', '.join(missing)} did not start: see the lines of that node above")
            await self._graph.sleep(0.1)

    def _missing(self) -> list[str]:
        missing = [node for node in (PLAYER, *self._replay.nodes) if not self._graph.is_there(node)]
        if missing:
            return missing
        player = self._heard.last_words.get(PLAYER)
        unheard = self._replay.unheard(player.values if player is not None else {})
        return [f"who listens to {unheard}"] if unheard else []

    async def _until_known(self) -> None:
        """Wait until selector and buffer say that they work on the episode."""
        deadline = self._steady() + self._startup_timeout
        while not self._heard.knows_episode or self._heard.word("keyframe_selector", "phase") in (None, "none"):
            if self._steady() > deadline:
                raise ReplayError("the selector or the buffer does not take up the episode: see their lines above")
            await self._graph.sleep(0.05)
        await self._graph.sleep(_SETTLE_S)

    async def _play(self) -> None:
        """Let the player play, ask for chunks when they are due, return when the player has gone."""
        graph, last = self._graph, self._replay.last
        self.playing = True
        graph.begin()
        while not await graph.resume():
            if not graph.is_playing():
                raise ReplayError("the bag player ended before it began: see its lines above")
        told_at = self._steady()
        while graph.is_playing():
            frame = self.frame()
            self._ask_again(frame)
            if self._steady() - told_at > _TELL_EVERY_S:
                told_at = self._steady()
                graph.say(f"  played {min(max(frame, 0), last)} of {last} frames")
            await graph.sleep(_POLL_S)
        self._ask_again(last)  # the clock's last word may have come before the last frames

    def _ask_again(self, frame: int) -> None:
        for place, request in self._replay.due(frame):
            self._graph.ask_policy(place, request)

    async def _until_quiet(self) -> None:
        """Wait for what is still on its way: answers, and the frames that wait for a node."""
        self._heard.hears()
        while self._replay.waiting or (self._is_behind() and self._steady() - self._heard.at < _QUIET_S):
            await self._graph.sleep(_POLL_S)

    def _is_behind(self) -> bool:
        return self._heard.settled < self._replay.last

    async def _end_episode(self) -> None:
        """End the episode; the nodes then report how they were, for the last time."""
        self._heard.last_words.clear()
        self._graph.announce(running=False)
        deadline = self._steady() + _FAREWELL_S
        while not set(self._replay.nodes) <= self._heard.last_words.keys() and self._steady() < deadline:
            await self._graph.sleep(0.05)
