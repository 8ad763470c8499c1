"""The arm controller without ROS: which command goes to the arm in each control step.

Fails safe: no episode, an emergency stop, a stale robot state, a missing, bad or used-up chunk all mean "hold".
"""

from __future__ import annotations

from kc_vla.core.chunk import BadChunkError, Chunk
from kc_vla.execution.scheduler import AT_ONCE, ChunkRequest, ChunkScheduler, Hold, ScheduledAction


class ArmController:
    """Executes the chunks of one episode at a time.

    Real time: an answer is used as soon as it is there. Lock-step: an answer is used exactly `lockstep_latency`
    control steps after it was asked for, and the robot waits for it if need be, so that the speed of the machine
    changes nothing in the result. For the same reason a refused request is made again only then.
    """

    def __init__(self, scheduler: ChunkScheduler, lockstep_latency: int | None = None) -> None:
        """Prepare; the arm holds until an episode begins.

        Args:
            scheduler: of the chunks.
            lockstep_latency: in control steps, None for real time.
        """
        self._scheduler, self._settings = scheduler, scheduler.settings
        self._latency = lockstep_latency
        self._arrived: Chunk | None = None
        self._refused = False  # lock-step: the request in flight will not be answered
        self._overdue = False  # lock-step: the robot waits for it already, since one before it was not answered
        self._episode = ""
        self._stopped = False

    @property
    def episode(self) -> str:
        """Return the id of the episode that runs; empty if none does."""
        return self._episode

    @property
    def stopped(self) -> bool:
        """Return whether the controller is stopped, from an emergency stop until a person releases it."""
        return self._stopped

    @property
    def waiting(self) -> ChunkRequest | None:
        """Return the request that the policy has not answered yet."""
        return None if self._arrived is not None or self._refused else self._scheduler.waiting

    def begin(self, episode_id: str) -> None:
        """Start an episode: every chunk of an earlier one is void."""
        self._episode = episode_id
        self.hand_over(to_person=False)
        self._scheduler.reset()

    def hand_over(self, to_person: bool) -> None:
        """Hand control to a person, or back to the policy: every chunk from before, running or asked for, is void."""
        self._arrived, self._refused, self._overdue = None, False, False
        self._scheduler.hand_over(AT_ONCE if to_person else self._settings)

    def end(self) -> None:
        """End the episode, and hold."""
        self.begin("")

    def emergency_stop(self) -> None:
        """Hold from now on; latched."""
        self._stopped = True
        self.forget()

    def forget(self) -> None:
        """Drop the chunk, and the request in flight: they are for where the arm was."""
        self._arrived, self._refused, self._overdue = None, False, False
        self._scheduler.forget()

    def release(self) -> None:
        """Release the emergency stop; the arm moves again only with a chunk that is asked for now."""
        self._stopped = False

    def request(self, step: int) -> ChunkRequest | None:
        """Return the request to send to the policy in control step `step`, if one is due."""
        if self._stopped or not self._episode:
            return None
        waiting = self._scheduler.waiting
        if waiting is not None and self._refused and self._due(waiting, step):
            self._refused = False
            self._scheduler.refuse(waiting.sequence)
        return self._scheduler.request(step)

    def refuse(self, sequence: int) -> None:
        """Note that the policy could not answer request `sequence`."""
        if self.waiting is None or self.waiting.sequence != sequence:
            return
        if self._latency is None:
            self._scheduler.refuse(sequence)
        else:
            self._refused, self._overdue = True, False

    def expire(self, sequence: int) -> None:
        """Note that the policy has not answered request `sequence` in time, so that another is due.

        In lock-step the robot waits on.
        """
        if self.waiting is not None and self.waiting.sequence == sequence:
            self._scheduler.refuse(sequence)
            self._overdue = self._latency is not None

    def offer(self, chunk: Chunk, step: int) -> None:
        """Take in an answer of the policy, `step` being the next control step to be executed.

        Raises:
            BadChunkError: the chunk was dropped; the text says why.
        """
        waiting = self.waiting
        if waiting is None or waiting.sequence != chunk.sequence:
            raise BadChunkError(f"chunk {chunk.sequence} was not asked for, or came too late: dropped")
        self._arrived = chunk
        if self._latency is None:
            self._take(step)

    def tick(self, step: int) -> ScheduledAction | Hold | None:
        """Return the command for control step `step`; None (lock-step only) to wait for the policy.

        Raises:
            BadChunkError: the chunk whose turn it was cannot be used; the next call goes on without it.
        """
        if self._stopped:
            return Hold("emergency stop")
        if not self._episode:
            return Hold("no episode")
        waiting = self._scheduler.waiting
        if waiting is not None and self._due(waiting, step):
            if self._arrived is None:
                return None
            self._take(step)
        return self._scheduler.action(step)

    def _due(self, waiting: ChunkRequest, step: int) -> bool:
        """Return whether the answer to the request in flight takes effect in control step `step` (lock-step)."""
        if self._latency is None:
            return False
        return self._overdue or not self._scheduler.running or step >= waiting.step + self._latency

    def _take(self, step: int) -> None:
        chunk, self._arrived, self._overdue = self._arrived, None, False
        assert chunk is not None
        self._scheduler.offer(chunk, step)
