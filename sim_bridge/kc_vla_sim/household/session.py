"""What a home is asked for in one launch: an instruction, or a sequence of them, each judged where somebody can."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.untrusted import read_text
from kc_vla.planning.instruction import clean
from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.journey import Journey, without_memory
from kc_vla_sim.household.tasks import Referee, TaskSequence, sequence
from kc_vla_sim.household.way_plot import Pair
from kc_vla_sim.household.world import World

_MOST = 1000


@dataclass(frozen=True)
class Wanted:
    """What is to be done in a home.

    Attributes:
        instructions: in their order.
        tasks: the sequence that comes with the stack, of which they are; None for somebody's own.
    """

    instructions: tuple[str, ...]
    tasks: TaskSequence | None = None


def wanted(instruction: str, called: str) -> Wanted:
    """What is asked for.

    Args:
        instruction: one; empty for none.
        called: a sequence: its name, or a file with an instruction in each line; empty for none.

    Raises:
        HouseholdError: both are given, or it is no sequence.
    """
    if instruction.strip() and called:
        raise HouseholdError("instruction:= and sequence:= at once: give one of them")
    if not called:
        return Wanted((instruction,) if instruction.strip() else ())
    path = Path(called).expanduser()
    if not path.is_file():
        tasks = sequence(called)
        return Wanted(tuple(each.instruction for each in tasks.tasks), tasks)
    try:
        lines = [clean(line) for line in read_text(path).splitlines()]
    except (OSError, ValueError) as error:
        raise HouseholdError(f"{told(called)} cannot be read as a sequence: {error}") from error
    found = tuple(line for line in lines if line and not line.startswith("#"))
    if not 1 <= len(found) <= _MOST:
        raise HouseholdError(f"{told(called)} has {len(found)} instructions: write 1 to {_MOST}, one in each line")
    return Wanted(found)


class Judge:
    """Says of each instruction of a sequence whether its goal was reached; knows nothing of others."""

    def __init__(self, tasks: TaskSequence | None) -> None:
        self._referee = None if tasks is None else Referee(tasks.tasks)

    def begin(self, world: World) -> Callable[[World], bool] | None:
        """An instruction begins; return what judges the world of another robot that does the same, None for nobody."""
        if self._referee is None:
            return None
        self._referee.begin(world)
        twin = self._referee.copy()
        return lambda other: not twin.copy().judge(other)

    def end(self, world: World) -> bool | None:
        """It is over: whether the goal is reached, None where nobody knows."""
        return None if self._referee is None else not self._referee.judge(world)


class Played:
    """What each instruction took; beside, in a thread, each is also played by a robot without a memory."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._beside = ThreadPoolExecutor(1, "without memory")
        self._begun: tuple[str, Future[Journey]] | None = None
        self._played: list[tuple[str, Journey, Future[Journey]]] = []

    @property
    def count(self) -> int:
        """Of the instructions that are over."""
        return len(self._played)

    @property
    def whole(self) -> bool:
        """Whether the robot without a memory is done, too."""
        return all(alone.done() for _, _, alone in self._played)

    @property
    def pairs(self) -> list[Pair]:
        """Of the instructions that are over.

        Raises:
            Exception: what the robot without a memory met with: a fault.
        """
        return [
            Pair(said, journey, alone.result() if alone.done() and not alone.cancelled() else None)
            for said, journey, alone in self._played
        ]

    def begin(self, world: World, instruction: str, judge: Callable[[World], bool] | None) -> None:
        """An instruction is given, in a world that nobody changes."""
        alone = self._beside.submit(without_memory, world, instruction, judge, None, self._ending.is_set)
        self._begun = instruction, alone

    def end(self, journey: Journey) -> None:
        """It is over."""
        assert self._begun is not None
        instruction, alone = self._begun
        self._played.append((instruction, journey, alone))

    def close(self) -> None:
        """Nobody waits any more."""
        self._ending.set()
        self._beside.shutdown(wait=True, cancel_futures=True)
