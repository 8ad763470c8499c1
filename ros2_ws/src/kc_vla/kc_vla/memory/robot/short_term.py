"""The short-term memory as a part of a robot's: what was just seen and used, few units, recalled by their meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.recall.answer import Filters
from kc_vla.memory.recall.recall import MOST_FOUND, MOST_INSTRUCTION, Recall
from kc_vla.memory.references.fits import fitting
from kc_vla.memory.references.naming import Named
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.robot.interface import RecallOutcome, SceneObservation
from kc_vla.memory.short_term.handling_record import HandlingRecord
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import ObjectState, Position, Unit, UnitError, state_of
from kc_vla.memory.things import KnownThing, ObservedThing, attributes_of

_RECALLED = 10
"""Units that a planner is told of, at most."""


class ShortTermRobotMemory:
    """The short-term memory as a `RobotMemory` of what a robot remembers.

    What nobody carries and has no state is left to the long-term memory.
    """

    name = "short-term"

    def __init__(self, memory: ShortTermMemory, embedder: Embedder) -> None:
        """Take an empty memory as a part.

        Args:
            memory: that is empty.
            embedder: with a cache.
        """
        self.memory = memory
        self._recall = Recall(memory, embedder)
        self._handled: dict[str, int] = {}
        self._deeds = HandlingRecord()
        self._fixed: set[str] = set()
        self._number = count(1)

    def begin(self) -> None:
        """Forget all, as at every start of a robot."""
        self.memory.refresh()
        self._handled.clear()
        self._deeds.begin()
        self._fixed.clear()

    def take(self, look: SceneObservation) -> Sequence[str]:
        """Update the units of all seen things that can be carried or have a state."""
        refused = []
        for each in look.seen:
            if each.movable or each.state:
                if (before := self.thing(each.object_id)) is not None:
                    self._deeds.saw(each, before.states)
                try:
                    self.memory.observe(_unit(each, look.now_s), whole=True)
                except UnitError as error:
                    refused.append(str(error))
        self._deeds.keep({unit.object_id for unit in self.memory})
        self._handled = {name: at for name, at in self._handled.items() if name in self.memory}
        fixed = self._fixed | {each.object_id for each in look.seen if not each.movable}
        self._fixed = {name for name in fixed if name in self.memory}
        return refused

    def handled(self, seen: ObservedThing, now_s: float) -> None:
        """Count a use of the thing's unit, and note what the robot did with it."""
        self.memory.observe(_unit(seen, now_s), used=True, whole=True)
        self._handled[seen.object_id] = next(self._number)
        self._deeds.handled(seen)

    def tell(self, object_id: str, outcome: RecallOutcome, look: SceneObservation) -> None:
        """Confirm or refute the unit of a recalled thing; an unknown thing is ignored."""
        if object_id not in self.memory:
            return
        if outcome is RecallOutcome.CONFIRMED:
            self.memory.confirm(object_id)
        else:
            self.memory.refute(object_id, gone=outcome is RecallOutcome.GONE)

    def things(self) -> Iterator[KnownThing]:
        """Iterate over all units as things."""
        return map(self._known, self.memory)

    def thing(self, object_id: str) -> KnownThing | None:
        """Return the thing with this id; None if the memory has no unit of it."""
        return self._known(self.memory[object_id]) if object_id in self.memory else None

    def types(self) -> Iterable[str]:
        """Return the types of all units."""
        return (unit.object_type for unit in self.memory)

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[KnownThing]:
        """Return the units that a reference means, the likeliest first."""
        if not named.types or not len(self.memory):
            return []
        if named.by_kind or reference.done:  # they are compared by more than this
            return fitting(self.things(), reference, named, loose)
        answer = self._recall.ask(reference.text, MOST_FOUND, Filters(types=frozenset(named.types)))
        return fitting((self._known(each.unit) for each in answer.found), reference, named, loose)

    def text(self, instruction: str, most_tokens: int) -> str:
        """Return the units that are recalled for an instruction, as text within the tokens."""
        if not instruction.strip():
            return ""
        return self._recall.ask(instruction[:MOST_INSTRUCTION], _RECALLED, most_tokens=most_tokens).text()

    def _known(self, unit: Unit) -> KnownThing:
        relation, container = told_place(unit.attributes) or ("", "")
        x, y, z, _ = unit.position
        return KnownThing(
            unit.object_type,
            unit.object_id,
            (x, y, z),
            unit.area,
            "" if unit.state is ObjectState.NONE else unit.state.value,
            unit.attributes,
            container,
            relation,
            unit.stamp,
            handled=float(self._handled.get(unit.object_id, 0)),
            movable=unit.object_id not in self._fixed,
            source=self.name,
            deeds=self._deeds.of(unit.object_id),
        )


def _unit(seen: ObservedThing, now_s: float) -> Unit:
    attributes = attributes_of(seen)
    try:
        state = state_of(seen.state)
    except UnitError:  # one that the paper does not have
        state, attributes["state"] = ObjectState.NONE, seen.state
    return Unit(
        seen.object_type, seen.object_id, Position(*seen.position), now_s, state, seen.area, attributes=attributes
    )
