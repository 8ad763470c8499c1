"""The parts that a memory of a robot is made of, one interface for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kc_vla.memory.live_units import Outcome
from kc_vla.planning.execution.naming import Named
from kc_vla.planning.execution.reference import Reference
from kc_vla.planning.execution.things import Fit, Known, fits
from kc_vla.planning.interface import Seen

__all__ = ["Look", "Outcome", "Part", "fitting"]


@dataclass(frozen=True)
class Look:
    """What was seen at once.

    Attributes:
        seen: all of it.
        at: the area from which; empty where that is not known.
        now_s: when, s; later than every look before.
    """

    seen: Sequence[Seen]
    at: str
    now_s: float


class Part(Protocol):
    """Remembers something of what a robot sees and does."""

    name: str

    def begin(self) -> None:
        """A robot starts, or a sequence of instructions does."""
        ...

    def take(self, look: Look) -> Sequence[str]:
        """Take in what is seen; return what was left out and why, a line each."""
        ...

    def handled(self, seen: Seen, now_s: float) -> None:
        """The robot did something with a thing, that is so now."""
        ...

    def tell(self, object_id: str, outcome: Outcome, look: Look) -> None:
        """How a recall of it turned out, by a look at the place where it should be; a stranger is passed over."""
        ...

    def things(self) -> Iterator[Known]:
        """All that it remembers."""
        ...

    def thing(self, object_id: str) -> Known | None:
        """What it remembers of the thing of that id; None for a stranger."""
        ...

    def types(self) -> Iterable[str]:
        """The types of what it remembers, each once or more often."""
        ...

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[Known]:
        """The things that are meant, the likeliest first, as far as it can tell."""
        ...

    def text(self, instruction: str, most_tokens: int) -> str:
        """What it has on an instruction, for a planner."""
        ...


def fitting(things: Iterator[Known], reference: Reference, named: Named, loose: bool) -> list[Known]:
    """Of some things those that are meant, in their order; loosely also those of which not all is known."""
    least = Fit.MAYBE if loose else Fit.YES
    return [each for each in things if fits(reference, named, each) >= least]
