"""The short-term memory as a part of a robot's: what was just seen and used, few units, recalled by their meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from kc_vla.core.errors import StackError
from kc_vla.memory.intake import detection_of, unit_of
from kc_vla.memory.live_units import RecallOutcome
from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.recall.answer import EVERYTHING, Filters, RecallAnswer
from kc_vla.memory.recall.recall import MOST_FOUND, MOST_INSTRUCTION
from kc_vla.memory.references.fits import fitting
from kc_vla.memory.references.naming import Named
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.robot.interface import Refusals, SceneObservation
from kc_vla.memory.short_term.unit import ObjectState, Unit
from kc_vla.memory.things import KnownThing, ObservedThing

MAP_FRAME = "map"
"""In which everything in a home is."""
_RECALLED = 10
"""Units that a planner gets, at most."""


class UnitMemory(Protocol):
    """A short-term memory with its recall, in this process (`LiveUnits`) or behind the services of a node."""

    def units(self) -> Iterable[Unit]:
        """Return all units."""
        ...

    def unit(self, object_id: str) -> Unit | None:
        """Return the unit of that id; None where there is none."""
        ...

    def put(self, units: Sequence[Unit], used: bool = False, whole: bool = False) -> Callable[[], object]:
        """Begin to take in units; see `ShortTermMemory.observe`.

        What is returned waits for it. Call it before anything is asked; others can be put in before.
        """
        ...

    def answer(
        self, text: str, most: int, filters: Filters = EVERYTHING, most_tokens: int | None = None
    ) -> RecallAnswer:
        """Return what an instruction is about; see `Recall.ask`."""
        ...

    def tell(self, object_id: str, outcome: int, now_ns: int) -> object:
        """Note how a recall turned out, and when that was found, ns."""
        ...

    def forget(self) -> None:
        """Forget all."""
        ...

    def attend(self, task: str, object_ids: Sequence[str]) -> None:
        """Take these for what an instruction is about; see `StateReader.begin`."""
        ...


class ShortTermPart:
    """The short-term memory as a `MemoryPart` of what a robot remembers.

    What nobody carries and has no state is left to the long-term memory.
    """

    name = "short-term"

    def __init__(self, memory: UnitMemory, frame: str = MAP_FRAME) -> None:
        """Take an empty memory as a part, whose positions are in that frame."""
        self._memory, self._frame = memory, frame

    def begin(self) -> None:
        """Forget all, as at every start of a robot."""
        self._memory.forget()

    def observe(self, look: SceneObservation) -> Refusals:
        """Update the units of all seen things that can be carried or have a state."""
        refused, units = [], []
        for each in look.seen:
            if each.movable or each.state:
                try:
                    units.append(self._unit(each, look.now_s))
                except StackError as error:
                    refused.append(str(error))
        return self._put(units, refused) if units else lambda: refused

    def handled(self, seen: ObservedThing, now_s: float) -> Refusals:
        """Count a use of the thing's unit, which notes what the robot did with it."""
        return self._put([self._unit(seen, now_s)], (), used=True)

    def confirm(self, object_id: str) -> None:
        """Confirm the unit of a recalled thing, so that it stays longer; an unknown thing is ignored."""
        if (unit := self._memory.unit(object_id)) is not None:
            self._memory.tell(object_id, RecallOutcome.CONFIRMED, round(unit.stamp * 1e9))

    def refute(self, object_id: str, look: SceneObservation) -> None:
        """Remove the unit of a thing that was not found at its place; an unknown thing is ignored."""
        if self._memory.unit(object_id) is not None:
            self._memory.tell(object_id, RecallOutcome.GONE, round(look.now_s * 1e9))

    def things(self) -> Iterator[KnownThing]:
        """Iterate over all units as things."""
        return map(self._known, self._memory.units())

    def thing(self, object_id: str) -> KnownThing | None:
        """Return the thing with this id; None if the memory has no unit of it."""
        unit = self._memory.unit(object_id)
        return None if unit is None else self._known(unit)

    def types(self) -> Iterable[str]:
        """Return the types of all units."""
        return (unit.object_type for unit in self._memory.units())

    def recall(self, reference: Reference, named: Named, loose: bool = False) -> Sequence[KnownThing]:
        """Return the units that a reference means, the likeliest first."""
        if not named.types:
            return []
        if named.by_kind or reference.done:  # they are compared by more than this
            return fitting(self.things(), reference, named, loose)
        answer = self._memory.answer(reference.text, MOST_FOUND, Filters(types=frozenset(named.types)))
        return fitting((self._known(each.unit) for each in answer.found), reference, named, loose)

    def describe(self, instruction: str, most_tokens: int) -> str:
        """Return the units that are recalled for an instruction, as text within the tokens.

        They are what the memory attends to from now on: states are read from images of them, where a model is there.
        """
        if not instruction.strip():
            return ""
        answer = self._memory.answer(instruction[:MOST_INSTRUCTION], _RECALLED, most_tokens=most_tokens)
        self._memory.attend(instruction, [each.unit.object_id for each in answer.found])
        return answer.text()

    def _put(self, units: Sequence[Unit], refused: Sequence[str], used: bool = False) -> Refusals:
        done = self._memory.put(units, used, whole=True)

        def refusals() -> Sequence[str]:
            done()
            return refused

        return refusals

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
            handled=unit.used,
            movable=unit.movable,
            source=self.name,
            effects=unit.effects,
        )

    def _unit(self, seen: ObservedThing, now_s: float) -> Unit:
        return unit_of(detection_of(seen), self._frame, round(now_s * 1e9), seen.area)
