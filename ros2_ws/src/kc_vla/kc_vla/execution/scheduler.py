"""Decides which action the arm executes in each control step, and when the policy is asked for the next chunk.

The rules of real-time chunking: the next chunk is asked for while the current one runs; the first d rows of an
answer are skipped, d being the control steps that have really passed since its observation; d <= s <= H - d with
s the steps executed of each chunk. Nothing here knows the time: a control step is a frame index of the episode.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType, BadChunkError, Chunk, ChunkLimits, check_chunk
from kc_vla.core.holds import NO_CHUNK_YET
from kc_vla.execution.blending import blend


@dataclass(frozen=True)
class SchedulerSettings:
    """How chunks are executed.

    Attributes:
        execute_steps: control steps executed of a chunk before the next one is asked for (s).
        blend_steps: length of the fade from one chunk to the next, control steps.
    """

    execute_steps: int = 5
    blend_steps: int = 3


AT_ONCE = SchedulerSettings(execute_steps=1, blend_steps=0)
"""Settings for a person or program that leads the arm: asked in every control step, and followed at once."""


@dataclass(frozen=True, eq=False)
class ChunkRequest:
    """Ask the policy for chunk `sequence`, from the observation of control step `step`.

    `frozen` (d, D) are the actions that will probably have been executed by the time it answers.
    """

    sequence: int
    step: int
    frozen: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ScheduledAction:
    """Execute this row."""

    action_type: ActionType
    names: tuple[str, ...]
    values: NDArray[np.float32]
    sequence: int
    index: int


@dataclass(frozen=True)
class Hold:
    """Stay where you are."""

    reason: str


class ChunkScheduler:
    """Holds the chunk that is being executed, of one episode."""

    def __init__(self, settings: SchedulerSettings, limits: ChunkLimits) -> None:
        if settings.execute_steps < 1:
            raise ValueError(f"execute_steps is {settings.execute_steps}: it must be 1 or more")
        if settings.blend_steps < 0:
            raise ValueError(f"blend_steps is {settings.blend_steps}: it must be 0 or more")
        self.settings = settings
        self.limits = limits
        self.reset()

    def reset(self) -> None:
        """Begin a new episode; refuse chunks that belong to the former one."""
        self.hand_over(self.settings)
        self._sequence = 0

    def hand_over(self, settings: SchedulerSettings) -> None:
        """Forget all chunks and their delays, because another policy or a person is in control from now on."""
        self.settings = settings
        self.forget()
        self._delays: deque[int] = deque(maxlen=50)  # steps; the first answer, a warm-up, is left out
        self._answers = 0

    def forget(self) -> None:
        """Drop the chunk and the request in flight; the count goes on, so that a late answer is refused."""
        self._chunk: Chunk | None = None
        self._in_flight: ChunkRequest | None = None

    @property
    def waiting(self) -> ChunkRequest | None:
        """Return the request that is not answered yet."""
        return self._in_flight

    @property
    def running(self) -> bool:
        """Return whether there is a chunk to follow, even one that is used up."""
        return self._chunk is not None

    @property
    def expected_delay(self) -> int:
        """Return the 95th percentile of the delays counted so far, control steps."""
        return int(np.ceil(np.percentile(self._delays, 95))) if self._delays else 0

    def request(self, step: int) -> ChunkRequest | None:
        """Return the request that is due in control step `step`, if any; it counts as made."""
        chunk = self._chunk
        if self._in_flight is not None:
            return None
        if chunk is not None and step < chunk.start + self._execute_steps(chunk):
            return None
        first, last = (step - chunk.start, step - chunk.start + self.expected_delay) if chunk else (0, 0)
        frozen = chunk.actions[first:last] if chunk else np.empty((0, 0), np.float32)
        self._in_flight = ChunkRequest(self._sequence, step, frozen)
        self._sequence += 1
        return self._in_flight

    def refuse(self, sequence: int) -> None:
        """Note that the policy could not answer, or not in time; it is asked again in the next control step."""
        if self._in_flight is not None and self._in_flight.sequence == sequence:
            self._in_flight = None

    def offer(self, chunk: Chunk, step: int) -> None:
        """Take in an answer; `step` is the next control step to be executed.

        Raises:
            BadChunkError: not the one that was asked for, all of it in the past, or not fit for the arm. The chunk
                that runs is not touched.
        """
        asked = self._in_flight
        if asked is None or chunk.sequence != asked.sequence:
            raise BadChunkError(f"chunk {chunk.sequence} was not asked for, or came too late: dropped")
        self._in_flight = None
        if chunk.start < asked.step:
            raise BadChunkError(
                f"chunk {chunk.sequence} was computed from step {chunk.start}: asked for was step {asked.step} or newer"
            )
        if chunk.start > step:
            raise BadChunkError(f"chunk {chunk.sequence} claims an observation of the future (step {chunk.start})")
        check_chunk(chunk, self.limits)
        if chunk.end <= step:
            raise BadChunkError(
                f"chunk {chunk.sequence} is stale: it ends at step {chunk.end - 1} and the arm is at step {step}"
            )
        self._answers += 1
        if self._answers > 1:
            self._delays.append(step - chunk.start)
        self._chunk = blend(self._chunk, chunk, step, self.settings.blend_steps)

    def action(self, step: int) -> ScheduledAction | Hold:
        """Return what to do in control step `step`."""
        chunk = self._chunk
        if chunk is None:
            return Hold(NO_CHUNK_YET)
        if step >= chunk.end:
            return Hold("the chunk is used up and no new one has come")
        index = step - chunk.start
        if index < 0:
            raise ValueError(f"step {step} lies before the chunk's first, {chunk.start}: steps must ascend")
        return ScheduledAction(chunk.action_type, chunk.names, chunk.actions[index], chunk.sequence, index)

    def _execute_steps(self, chunk: Chunk) -> int:
        """Return s, kept between d and H - d (as far as both can be had)."""
        delay = self.expected_delay
        return max(1, min(max(self.settings.execute_steps, delay), chunk.horizon - delay))
