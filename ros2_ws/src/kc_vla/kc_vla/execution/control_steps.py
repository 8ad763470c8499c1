"""Control steps: when one is due, and what comes of it, in lock-step with the robot or in real time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from kc_vla.core.chunk import BadChunkError, Chunk
from kc_vla.core.episode import Episode
from kc_vla.core.holds import no_joint_state
from kc_vla.core.latency import Statistics
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import ChunkRequest, Hold, ScheduledAction

_BACK_STEPS = 2
"""A clock that is set right a little at a time may count a control step twice."""


_AHEAD_NS = 100_000_000
"""Beyond which a stamp is of a clock that was set back since."""


class Arm(Protocol):
    """A real arm, as far as control steps depend on how it is."""

    @property
    def blocked(self) -> str:
        """Return why the arm does not move until a person does something; empty if it may."""

    @property
    def held_back(self) -> str:
        """Return why the arm does not reach its target; empty if it does."""


class Surroundings(Protocol):
    """The surroundings of a control step: the policy, the arm, and the diagnostics."""

    def ask_policy(self, episode_id: str, request: ChunkRequest) -> None:
        """Send a request; one that still waits is given up."""

    def follow(self, action: ScheduledAction, seconds: float) -> None:
        """Be where `action` says in `seconds`.

        Raises:
            ValueError: the chunk that it belongs to is none for this arm.
        """

    def command(self, episode_id: str, step: int, command: ScheduledAction | Hold) -> None:
        """Publish the command of a control step."""

    def command_again(self) -> None:
        """Publish the last command once more, because it was lost."""

    def hand_over(self) -> None:
        """Give up the request that waits, and come to rest where the arm is: another client is in control."""

    def report(self, text: str, is_fault: bool = False) -> None:
        """Report a problem until `report("")`."""


class ControlSteps(ABC):
    """What both ways of counting control steps share: chunks come in, one command goes out in each step.

    Attributes:
        arm: that is moved; None for a simulated one.
        holds: control steps of this episode in which the arm held.
        bad_chunks: of this episode, those that were dropped.
    """

    def __init__(self, controller: ArmController, surroundings: Surroundings, statistics: Statistics) -> None:
        self.arm: Arm | None = None
        self._controller = controller
        self._surroundings = surroundings
        self._statistics = statistics
        self._episode: Episode | None = None
        self._step = -1  # newest control step seen
        self._commanded = -1  # newest control step with a command
        self._asked_at: dict[int, float] = {}  # of each chunk that has not commanded yet
        self._refusal = ""  # why the policy gave no chunk when it was asked last
        self._fault = self._told = ""
        self._turn = 0  # newest change of who drives
        self._told_early: tuple[str, int, bool] | None = None
        self.holds = self.bad_chunks = 0

    def watch(self, episode: Episode) -> bool:
        """Note that an episode begins or ends; return whether a new one begins.

        What belongs to another episode is dropped.
        """
        self._episode = episode
        if not episode.running:
            self._controller.end()
            return False
        if episode.id == self._controller.episode:
            return False
        self._controller.begin(episode.id)
        self._step = self._commanded = -1
        self.holds = self.bad_chunks = 0
        self._refusal = self._fault = ""
        self._turn = 0
        self._asked_at.clear()
        if not self._controller.stopped:
            self._surroundings.report("")
        if self._told_early is not None:
            self.driven(*self._told_early)
        return True

    def driven(self, episode_id: str, turn: int, by_person: bool) -> None:
        """Note who is in control in an episode, since its change number `turn`.

        Number 0 is its beginning, with the policy.
        """
        self._told_early = None
        if episode_id != self._controller.episode:
            self._told_early = episode_id, turn, by_person  # it begins later here, or never
        elif turn != self._turn:
            self._turn, self._refusal = turn, ""
            self._controller.hand_over(by_person)
            self._asked_at.clear()
            self._surroundings.hand_over()
            self._resume()

    @abstractmethod
    def see(self, stamp_ns: int, now_ns: int) -> None:
        """Take in that the robot has reported its state.

        Args:
            stamp_ns: of the state.
            now_ns: of the clock that stamps.
        """

    def answered(self, episode_id: str, sequence: int, read: Callable[[], Chunk]) -> None:
        """Take in the chunk with which the policy has answered; `read` returns it, or raises `BadChunkError`."""
        if not self._waits_for(episode_id):
            return
        self._refusal = ""
        try:
            self._controller.offer(read(), self._step + 1)
        except BadChunkError as error:
            self._reject(error)
            self._controller.refuse(sequence)
        self._resume()

    def refused(self, episode_id: str, sequence: int, why: str) -> None:
        """Note that the policy has no chunk for a request."""
        if not self._waits_for(episode_id):
            return
        self._refusal = why  # told with the hold that comes of it, not in turn with it
        self._controller.refuse(sequence)  # it is asked again in the next step, or when this one is shown again
        self._asked_at.pop(sequence, None)

    def expired(self, sequence: int) -> None:
        """Note that the policy has not answered a request in time."""
        self._controller.expire(sequence)
        self._asked_at.pop(sequence, None)
        self._resume()

    def _waits_for(self, episode_id: str) -> bool:
        if episode_id != self._controller.episode:
            return False
        if self._controller.stopped:  # its chunk is not wanted any more
            self._resume()
            return False
        return self.arm is None or not self.arm.blocked

    @abstractmethod
    def _resume(self) -> None:
        """Do the control step that waits for the policy, if one does."""

    def _control(self, step: int) -> None:
        """Do one control step: ask for a chunk if one is due, command the arm if it need not wait."""
        assert self._episode is not None
        request = self._controller.request(step)
        if request is not None:
            self._asked_at[request.sequence] = time.perf_counter()
            self._surroundings.ask_policy(self._episode.id, request)
        try:
            command = self._controller.tick(step)
        except BadChunkError as error:
            self._reject(error)
            command = self._controller.tick(step)
        if command is not None:
            self._send(step, command)

    def _send(self, step: int, command: ScheduledAction | Hold) -> None:
        assert self._episode is not None
        if isinstance(command, Hold):
            self.holds += 1
            if not self._controller.stopped:
                why = f": {self._refusal}" if self._refusal else ""
                self._report(f"the arm holds: {command.reason}{why}")
        else:
            asked = self._asked_at.pop(command.sequence, None)
            if asked is not None:
                self._statistics.add("request_to_command", time.perf_counter() - asked)
            held_back = self.arm.held_back if self.arm is not None else ""
            if held_back or not self._fault:
                self._report(held_back)
            elif self._told != self._fault:  # once: what others tell of a step shall not change in turn with it
                self._report(self._fault, is_fault=True)
            try:
                self._surroundings.follow(command, self._episode.period_ns * 1e-9)
            except ValueError as error:
                self._reject(error)
        self._commanded = step
        self._surroundings.command(self._episode.id, step, command)

    def _reject(self, error: Exception) -> None:
        self.bad_chunks += 1
        self._fault = str(error)  # of this episode: whoever looks at the diagnostics later is to see it, too
        self._statistics.drop("policy/chunk")
        self._report(str(error), is_fault=True)

    def _report(self, text: str, is_fault: bool = False) -> None:
        self._told = text
        self._surroundings.report(text, is_fault)


class Lockstep(ControlSteps):
    """A control step is due with each state of the robot, which waits until it is commanded."""

    def see(self, stamp_ns: int, now_ns: int) -> None:
        """Do the control step of this frame, or publish its command again where the simulator shows a frame twice.

        Args:
            stamp_ns: of the robot's state; it says which frame this is.
            now_ns: unused: the simulator waits for the command.
        """
        if self._episode is None or not self._episode.running:
            return
        step = self._episode.frame_of(stamp_ns)
        if step < 0:
            return
        if step == self._commanded:
            self._surroundings.command_again()  # shown again: the command was lost
        elif step >= self._step:
            self._step = step
            self._control(step)

    def _resume(self) -> None:
        if self._step >= 0 and self._commanded < self._step:
            self._control(self._step)


class RealTime(ControlSteps):
    """A control step is due when its time has come, whatever the robot and the policy do."""

    def __init__(
        self,
        controller: ArmController,
        surroundings: Surroundings,
        statistics: Statistics,
        stale_after: float,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; the episode comes with `watch`.

        Args:
            controller: of the arm.
            surroundings: that a control step reaches.
            statistics: of the node.
            stale_after: seconds of `steady` time without a state of the robot, after which the arm holds.
            steady: a clock, s.
        """
        super().__init__(controller, surroundings, statistics)
        self._stale_after, self._steady = stale_after, steady
        self._state_at = 0.0  # steady time at which the newest stamp came
        self._state_stamp_ns = 0

    def see(self, stamp_ns: int, now_ns: int) -> None:
        """Note when the arm last reported a new state; the control step itself follows the clock.

        A driver that repeats an old state counts as silent.

        Args:
            stamp_ns: of the robot's state.
            now_ns: of the clock that stamps, to find stamps of a clock that was set back since.
        """
        # A driver that repeats an old state is as silent as one that is dead; a clock that was ahead may be set right.
        was_ahead = self._state_stamp_ns > now_ns + _AHEAD_NS
        if stamp_ns > self._state_stamp_ns or (was_ahead and stamp_ns != self._state_stamp_ns):
            self._state_at, self._state_stamp_ns = self._steady(), stamp_ns

    def _resume(self) -> None:
        """Do nothing, as no control step waits."""

    def tick(self, now_ns: int) -> None:
        """Do the control step of `now_ns`, unless it was done already; to be called at least once in each."""
        if self._episode is None or not self._episode.running:
            return
        step = (now_ns - self._episode.start_ns) // self._episode.period_ns
        if step <= self._step:
            if self._step >= 0 and step + _BACK_STEPS < self._step:
                self._surroundings.report("the arm holds: the clock went back, and what lies before was done already")
            return
        self._step = step
        if self._steady() - self._state_at > self._stale_after:
            self._send(step, Hold(no_joint_state(self._stale_after)))
        elif self.arm is not None and self.arm.blocked and not self._controller.stopped:
            self._controller.forget()  # it may be elsewhere when it moves again
            self._asked_at.clear()
            self._send(step, Hold(self.arm.blocked))
        else:
            self._control(step)
