"""Runs episodes from reset to result: waits for all who take part, asks again, and gives up with the reason."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from kc_vla.core.tasks import simulated_tasks

ALL_TASKS = "all"
ASK_AGAIN_S = 3.0
"""How long the simulator may take to answer before it is asked again, for the same episode."""


class RunError(RuntimeError):
    """An episode could not be run; the text says why and what to do."""


class Stack(Protocol):
    """The nodes that an episode needs, as their runner sees them."""

    def missing(self) -> list[str]:
        """Return who is not there yet, or has not found the others."""
        ...

    def is_alone(self) -> bool:
        """Return whether no other stack can be seen."""
        ...

    async def reset(self, task: str, seed: int, request_id: str, patience_s: float) -> Any | None:
        """Ask the simulator for an episode: ResetSimulation's answer, None where none comes within `patience_s`.

        Asked again with the same `request_id` it answers for the same episode.
        """
        ...

    def result(self, episode_id: str) -> Any | None:
        """Return the EpisodeResult of an episode; None before it has ended."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let others go on."""
        ...


class EpisodeObserver(Protocol):
    """Tells a person."""

    def begin(self, episode_id: str, instruction: str) -> None:
        """Say that an episode begins."""
        ...

    def end(self, result: Any) -> None:
        """Say how it ended."""
        ...


class EpisodeRuns:
    """Runs one episode at a time."""

    def __init__(
        self,
        stack: Stack,
        teller: EpisodeObserver,
        startup_timeout: float,
        episode_timeout: float,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare to run episodes; `Stack` says which nodes there are.

        Args:
            stack: the other nodes.
            teller: reports what happens.
            startup_timeout: how long the nodes may take to be there, s.
            episode_timeout: how long an episode may take to end, s.
            steady: a clock, s.
        """
        self._stack, self._teller, self._steady = stack, teller, steady
        self._startup_timeout, self._episode_timeout = startup_timeout, episode_timeout

    async def until_ready(self) -> None:
        """Wait for the stack.

        Raises:
            RunError: a node is missing for too long, or another stack is there.
        """
        deadline = self._steady() + self._startup_timeout
        while missing := self._stack.missing():
            self._refuse_company()
            if self._steady() > deadline:
                raise RunError(
                    f"{', '.join(missing)} did not start within {self._startup_timeout:g} s: "
                    "see the lines of that node above"
                )
            await self._stack.sleep(0.1)
        self._refuse_company()

    async def run(self, task: str, seed: int) -> Any:
        """Reset the simulator and return the EpisodeResult.

        Raises:
            RunError: the simulator refuses, or nothing comes of it in time.
        """
        request_id = uuid.uuid4().hex
        deadline = self._steady() + self._startup_timeout
        # The middleware drops an answer if the server has not yet discovered the client that can see it.
        while (answer := await self._stack.reset(task, seed, request_id, ASK_AGAIN_S)) is None:
            if self._steady() > deadline:
                raise RunError("the simulator does not answer: is maniskill_bridge alive?")
        if not answer.success:
            raise RunError(answer.message)
        self._teller.begin(answer.episode_id, answer.instruction)
        deadline = self._steady() + self._episode_timeout
        while (result := self._stack.result(answer.episode_id)) is None:
            if self._steady() > deadline:
                raise RunError(f"episode {answer.episode_id} has not ended for {self._episode_timeout:g} s")
            await self._stack.sleep(0.05)
        self._teller.end(result)
        return result

    def _refuse_company(self) -> None:
        if not self._stack.is_alone():
            raise RunError(
                f"another stack runs in ROS domain {os.environ.get('ROS_DOMAIN_ID', '0')}: end it, or give this one "
                "a ROS_DOMAIN_ID of its own"
            )


def planned(task: str, seed: int, episodes: int) -> Iterator[tuple[str, int]]:
    """Yield the task and seed of each episode: so many from `seed` on, of a task or of all that are simulated."""
    for each in simulated_tasks() if task == ALL_TASKS else (task,):
        yield from ((each, number) for number in range(seed, seed + episodes))
