"""What a home is asked for in one launch: an instruction, or a sequence, each judged where its goal is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kc_vla.planning.instruction import instructions_in
from kc_vla.planning.interface import PlanningError
from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.tasks import Referee, TaskSequence, sequence
from kc_vla_sim.household.world import World


@dataclass(frozen=True)
class HomeRequest:
    """What is to be done in a home.

    Attributes:
        instructions: in their order.
        tasks: the sequence that comes with the stack, of which they are; None for a user's own.
    """

    instructions: tuple[str, ...]
    tasks: TaskSequence | None = None


def wanted(instruction: str, called: str) -> HomeRequest:
    """Return what is asked for.

    Args:
        instruction: one; empty for none.
        called: a sequence: its name, or a file with an instruction in each line; empty for none.

    Raises:
        HouseholdError: both are given, or it is no sequence.
    """
    if instruction.strip() and called:
        raise HouseholdError("instruction:= and sequence:= at once: give one of them")
    if not called:
        return HomeRequest((instruction,) if instruction.strip() else ())
    path = Path(called).expanduser()
    if not path.is_file():
        if "/" in called:
            raise HouseholdError(f"there is no file {told(called)} with a sequence")
        tasks = sequence(called)
        return HomeRequest(tuple(each.instruction for each in tasks.tasks), tasks)
    try:
        found = instructions_in(path)
    except PlanningError as error:
        raise HouseholdError(str(error)) from error
    return HomeRequest(found)


def home_of(called: str, scene: str, seed: int) -> tuple[str, int]:
    """Return the scene and seed of the sequence of that name, if it comes with the stack, and else those given.

    Raises:
        HouseholdError: it is no sequence.
    """
    tasks = wanted("", called).tasks
    return (scene, seed) if tasks is None else (tasks.scene_name, tasks.seed)


class Judge:
    """Says of each instruction of a sequence whether its goal was reached; knows no other instruction."""

    def __init__(self, tasks: TaskSequence | None) -> None:
        self._referee = None if tasks is None else Referee(tasks.tasks)

    def begin(self, world: World) -> Callable[[World], bool] | None:
        """Begin an instruction, and return what judges the world of another robot that does the same.

        It is None where nobody judges.
        """
        if self._referee is None:
            return None
        self._referee.begin(world)
        twin = self._referee.copy()
        return lambda other: not twin.copy().judge(other)

    def end(self, world: World) -> bool | None:
        """End the instruction; return whether the goal is reached, None where nobody knows."""
        return None if self._referee is None else not self._referee.judge(world)
