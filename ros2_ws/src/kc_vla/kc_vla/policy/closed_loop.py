"""What decides in the graph, in one process: selector, keyframe buffer, policy and the scheduling of its chunks.

Only the messages between them are left out. One frame after the other: `request`, `see`, `think` if something was
requested, `tick`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import Chunk, ChunkLimits
from kc_vla.core.episode import Episode
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import ChunkRequest, ChunkScheduler, Hold, ScheduledAction, SchedulerSettings
from kc_vla.keyframes.buffer import KeyframeBuffer
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.observation import Keyframe, Observation
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.policy.history import KEYFRAMES, History
from kc_vla.policy.interface import Backend, PolicyInput, RememberedFrame

StateOf = Callable[[Observation], NDArray[np.float64]]


class ClosedLoop:
    """One robot that remembers; one episode at a time."""

    def __init__(
        self,
        selector: LiveSelector,
        backend: Backend,
        state_of: StateOf,
        settings: SchedulerSettings,
        latency_steps: int = 0,
        history: History = KEYFRAMES,
        told: bool = True,
    ) -> None:
        """Make one.

        Args:
            selector: of the keyframes.
            backend: of the policy.
            state_of: the state (S,) that the policy is given of an observation.
            settings: of the scheduling.
            latency_steps: a chunk is used so long after it was asked for, control steps.
            history: what of the past the policy is given.
            told: whether the policy gets the actions that will have run by then (trained-in real-time chunking).
        """
        self._selector, self._backend, self._state_of = selector, backend, state_of
        self._settings, self._latency_steps = settings, latency_steps
        self._history, self._told = history, told
        self._recent: deque[Observation] = deque(maxlen=history.count * history.stride + 1)
        self._buffer = KeyframeBuffer()

    def begin(self, episode: Episode) -> None:
        """Begin an episode.

        Raises:
            ValueError: the selector does not know what is to be done.
            PolicyError: the policy does not.
        """
        self._selector.begin(episode)
        self._backend.reset(episode)
        self._controller = ArmController(ChunkScheduler(self._settings, ChunkLimits()), self._latency_steps)
        self._controller.begin(episode.id)
        self._buffer = KeyframeBuffer()
        self._buffer.begin(episode.id)
        self._recent.clear()
        self._instruction, self._events = episode.instruction, 0

    @property
    def keyframes(self) -> list[Keyframe]:
        """Return those of the episode by now, ascending."""
        return self._buffer.keyframes()

    def request(self, frame: int) -> ChunkRequest | None:
        """Return whether a chunk is asked for in this frame."""
        return self._controller.request(frame)

    def see(self, observation: Observation, sight: ScorerInput) -> None:
        """Let the buffer take in a frame, and the selector what it may look at of it."""
        frame = observation.frame
        self._buffer.observe(observation)
        found = self._selector.take(FrameToScore(frame, sight, -1.0, Start()))
        for event in found.events if found is not None else ():
            self._buffer.apply(event, "selector", self._events)
            self._events += 1
        self._buffer.settle(frame)
        if self._history.strided:
            self._recent.append(observation)

    def think(self, request: ChunkRequest, observation: Observation) -> None:
        """Have the policy answer a request with what it sees now; PolicyError where it gives no numbers."""
        kept = [
            RememberedFrame(each.frame, each.views, self._state_of(each))
            for each in self._remembered(observation.frame)
        ]
        frozen = request.frozen if self._told else np.empty((0, 0), np.float32)
        state = self._state_of(observation)
        given = PolicyInput(observation.frame, observation.views, kept, state, self._instruction, frozen)
        actions, backend = self._backend.infer(given), self._backend
        chunk = Chunk(request.sequence, observation.frame, backend.action_type, backend.names, actions)
        self._controller.offer(chunk, observation.frame)

    def _remembered(self, frame: int) -> list[Observation]:
        """Return what is given of the time before this frame."""
        if not self._history.remembers:
            return []
        if not self._history.strided:
            return [k.observation for k in self.keyframes if k.observation.frame != frame]
        wanted = set(self._history.frames(frame))
        return [each for each in self._recent if each.frame in wanted]

    def tick(self, frame: int) -> ScheduledAction | Hold | None:
        """Return what the arm does in this frame.

        Raises:
            BadChunkError: the chunk that it would take is not as it should be.
        """
        return self._controller.tick(frame)
