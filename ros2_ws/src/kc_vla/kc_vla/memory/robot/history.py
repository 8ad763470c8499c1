"""What other methods remember: a list of what happened last, or of what was handled in this sequence of tasks.

`HistoryPart` is after HELPER (Sarch et al., 2023: the recent interactions in the prompt). `ContextPart`
is after CAPEAM (Kim et al., 2023: which objects the task handled, and where they were left). Both are parts of the same
robot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from kc_vla.memory.recall.answer import tokens_of
from kc_vla.memory.references.fits import fitting
from kc_vla.memory.references.naming import Named
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.robot.interface import Refusals, SceneObservation
from kc_vla.memory.things import KnownThing, ObservedThing, known_of


class _Listed:
    """Things in the order in which they came, at most so many."""

    name = ""

    def __init__(self, most: int) -> None:
        """Begin with an empty list.

        Args:
            most: things that it holds.
        """
        self._most = most
        self._things: OrderedDict[str, KnownThing] = OrderedDict()
        self._number = count(1)

    def begin(self) -> None:
        """Forget all: it is of one sequence."""
        self._things.clear()

    def observe(self, look: SceneObservation) -> Refusals:
        """Take in an observation; subclasses say what of it enters the list."""
        raise NotImplementedError

    def handled(self, seen: ObservedThing, now_s: float) -> Refusals:
        """Put a handled thing at the end of the list, and drop the oldest things beyond the most."""
        known = replace(known_of(seen, now_s), handled=float(next(self._number)), source=self.name)
        self._things[known.object_id] = known
        self._things.move_to_end(known.object_id)
        while len(self._things) > self._most:
            self._things.popitem(last=False)
        return lambda: ()

    def confirm(self, object_id: str) -> None:
        """Do nothing: the list has no order of trust."""

    def refute(self, object_id: str, look: SceneObservation) -> None:
        """Drop a thing that was not found where it should be."""
        self._things.pop(object_id, None)

    def things(self) -> Iterator[KnownThing]:
        """Iterate over the list, the newest thing first."""
        return reversed(self._things.values())

    def thing(self, object_id: str) -> KnownThing | None:
        """Return the thing with this id; None if it is not in the list."""
        return self._things.get(object_id)

    def types(self) -> Iterable[str]:
        """Return the types of the things in the list."""
        return (each.object_type for each in self._things.values())

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[KnownThing]:
        """Return the things in the list that a reference means, the newest first."""
        return fitting(self.things(), reference, named, loose)

    def describe(self, instruction: str, most_tokens: int) -> str:
        """Return the list as lines, the newest thing first, as far as the tokens suffice.

        The instruction does not matter.
        """
        lines: list[str] = []
        for each in map(str, self.things()):
            most_tokens -= tokens_of(each) + 1
            if most_tokens < 0:
                break
            lines.append(each)
        return "\n".join(lines)


class HistoryPart(_Listed):
    """The last things that were handled, or newly seen."""

    name = "history"

    def __init__(self, most: int = 10) -> None:
        """Begin with an empty list.

        Args:
            most: things that it holds.
        """
        super().__init__(most)

    def observe(self, look: SceneObservation) -> Refusals:
        """Add things that are new and can be carried to the list, and update those that are in it."""
        for each in look.seen:
            before = self._things.get(each.object_id)
            if before is None and not each.movable:
                continue
            handled = 0.0 if before is None else before.handled
            self._things[each.object_id] = replace(known_of(each, look.now_s), handled=handled, source=self.name)
        while len(self._things) > self._most:
            self._things.popitem(last=False)
        return lambda: ()


class ContextPart(_Listed):
    """What was handled in this sequence, where it was left, and in which state."""

    name = "context"

    def __init__(self, most: int = 100) -> None:
        """Begin with an empty list.

        Args:
            most: things that it holds.
        """
        super().__init__(most)

    def observe(self, look: SceneObservation) -> Refusals:
        """Do nothing, as things that are merely seen do not belong to the context."""
        return lambda: ()
