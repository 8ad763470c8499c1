"""The parts that the memory of a robot is made of, one interface for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kc_vla.core.errors import StackError
from kc_vla.memory.references.naming import Named
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.things import KnownThing, ObservedThing

Refusals = Callable[[], Sequence[str]]
"""Waits until what was begun is taken in, and returns what was left out and why, a line each.

Call it before the same memory is asked anything."""


class RobotMemoryError(StackError, ValueError):
    """A memory of a robot cannot be opened or asked; the text says in one line why, and what to do."""


@dataclass(frozen=True)
class SceneObservation:
    """What was seen at once.

    Attributes:
        seen: all of it.
        at: the area from which; empty where that is not known.
        now_s: when, s; later than every look before.
        handled: what the robot has just done something with, as it is seen now; None for nothing.
    """

    seen: Sequence[ObservedThing]
    at: str
    now_s: float
    handled: ObservedThing | None = None


class MemoryPart(Protocol):
    """Remembers something of what a robot sees and does."""

    name: str

    def begin(self) -> None:
        """Begin with a robot, or with a sequence of instructions."""
        ...

    def observe(self, look: SceneObservation) -> Refusals:
        """Begin to take in what is seen; a part in this process has done it when this returns."""
        ...

    def handled(self, seen: ObservedThing, now_s: float) -> Refusals:
        """Begin to note that the robot did something with a thing, which is as given now."""
        ...

    def confirm(self, object_id: str) -> None:
        """Note that a recalled thing was found at its place; an unknown thing is ignored."""
        ...

    def refute(self, object_id: str, look: SceneObservation) -> None:
        """Note that a look at the place of a recalled thing did not find it; an unknown thing is ignored."""
        ...

    def things(self) -> Iterator[KnownThing]:
        """Return all that it remembers."""
        ...

    def thing(self, object_id: str) -> KnownThing | None:
        """Return what it remembers of the thing of that id; None for an unknown one."""
        ...

    def types(self) -> Iterable[str]:
        """Return the types of what it remembers, each once or more often."""
        ...

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[KnownThing]:
        """Return the things that are meant, the likeliest first, as far as the part knows."""
        ...

    def describe(self, instruction: str, most_tokens: int) -> str:
        """Return what it has on an instruction, for a planner."""
        ...
