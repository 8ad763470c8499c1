"""What other methods remember: a list of what happened last, or of what was handled in this sequence of tasks.

`HistoryPart` is after HELPER (Sarch et al., 2023: the recent interactions in the prompt), `ContextPart` after CAPEAM
(Kim et al., 2023: which objects the task handled, and where they were left). Both as parts of the same robot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from kc_vla.memory.recall.answer import tokens_of
from kc_vla.planning.execution.naming import Named
from kc_vla.planning.execution.parts import Look, Outcome, fitting
from kc_vla.planning.execution.reference import Reference
from kc_vla.planning.execution.things import Known, known_of
from kc_vla.planning.interface import Seen


class _Listed:
    """Things in the order in which they came, at most so many."""

    name = ""

    def __init__(self, most: int) -> None:
        """Args: `most`, things that it holds."""
        self._most = most
        self._things: OrderedDict[str, Known] = OrderedDict()
        self._number = count(1)

    def begin(self) -> None:
        """Forget all: it is of one sequence."""
        self._things.clear()

    def take(self, look: Look) -> Sequence[str]:
        """See `Part`."""
        raise NotImplementedError

    def handled(self, seen: Seen, now_s: float) -> None:
        """See `Part`."""
        known = replace(known_of(seen, now_s), handled=float(next(self._number)), source=self.name)
        self._things[known.object_id] = known
        self._things.move_to_end(known.object_id)
        while len(self._things) > self._most:
            self._things.popitem(last=False)

    def tell(self, object_id: str, outcome: Outcome, look: Look) -> None:
        """See `Part`."""
        if outcome is Outcome.GONE:
            self._things.pop(object_id, None)

    def things(self) -> Iterator[Known]:
        """See `Part`; the newest first."""
        return reversed(self._things.values())

    def thing(self, object_id: str) -> Known | None:
        """See `Part`."""
        return self._things.get(object_id)

    def types(self) -> Iterable[str]:
        """See `Part`."""
        return (each.object_type for each in self._things.values())

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[Known]:
        """See `Part`; the newest first."""
        return fitting(self.things(), reference, named, loose)

    def text(self, instruction: str, most_tokens: int) -> str:
        """See `Part`; the newest first, whatever the instruction."""
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
        """Args: `most`, things that it holds."""
        super().__init__(most)

    def take(self, look: Look) -> Sequence[str]:
        """See `Part`: what was not in the list comes into it, if it may be carried; what was is as it is seen now."""
        for each in look.seen:
            before = self._things.get(each.object_id)
            if before is None and not each.movable:
                continue
            handled = 0.0 if before is None else before.handled
            self._things[each.object_id] = replace(known_of(each, look.now_s), handled=handled, source=self.name)
        while len(self._things) > self._most:
            self._things.popitem(last=False)
        return ()


class ContextPart(_Listed):
    """What was handled in this sequence, where it was left, and in which state."""

    name = "context"

    def __init__(self, most: int = 100) -> None:
        """Args: `most`, things that it holds."""
        super().__init__(most)

    def take(self, look: Look) -> Sequence[str]:
        """See `Part`: nothing, what it merely sees is none of its context."""
        return ()
