"""What each instruction of a session took, and beside it what the same takes a robot that remembers nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from kc_vla_sim.household.journey import Journey, without_memory
from kc_vla_sim.household.way_plot import InstructionWays
from kc_vla_sim.household.world import World


class PlayedInstructions:
    """What each instruction took; beside, in a thread, each is also played by a robot without a memory."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._beside = ThreadPoolExecutor(1, "without memory")
        self._begun: tuple[str, Future[Journey]] | None = None
        self._played: list[tuple[str, Journey, Future[Journey]]] = []

    @property
    def count(self) -> int:
        """Return the number of instructions that are over."""
        return len(self._played)

    @property
    def whole(self) -> bool:
        """Return whether the robot without a memory is done, too."""
        return all(alone.done() for _, _, alone in self._played)

    @property
    def pairs(self) -> list[InstructionWays]:
        """Return how each instruction that is over went, with memory and without.

        Raises:
            Exception: the robot without a memory ran into a fault.
        """
        return [
            InstructionWays(said, journey, alone.result() if alone.done() and not alone.cancelled() else None)
            for said, journey, alone in self._played
        ]

    def begin(self, world: World, instruction: str, judge: Callable[[World], bool] | None) -> None:
        """Begin an instruction, in a world that nobody changes."""
        alone = self._beside.submit(without_memory, world, instruction, judge, None, self._ending.is_set)
        self._begun = instruction, alone

    def end(self, journey: Journey) -> None:
        """End the instruction."""
        assert self._begun is not None
        instruction, alone = self._begun
        self._played.append((instruction, journey, alone))

    def close(self) -> None:
        """End the play beside, for which nobody waits any more."""
        self._ending.set()
        self._beside.shutdown(wait=True, cancel_futures=True)
