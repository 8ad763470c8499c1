"""Units whose place was seen empty: after some looks the memory does not go on claiming it (KARMA, 3.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.long_term.views import RegionView
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import ObjectState, Unit

Vector = tuple[float, float, float]
_PROVEN, _UNPROVEN = 3, 5
"""Looks at the place of a unit since it was seen: with depth that shows nothing there, and in all."""


@dataclass
class _Missed:
    """How large an object was when it was seen last, m, and how many looks at its place missed it since."""

    size: Vector
    looks: int = 0
    proven: int = 0


class UnitAbsence:
    """Counts for each unit of a memory the looks at its place that did not find it."""

    def __init__(self, memory: ShortTermMemory) -> None:
        """Take the memory whose units are looked for."""
        self._memory = memory
        self._missed: dict[str, _Missed] = {}
        memory.listen(self._note)

    def _note(self, object_id: str, unit: Unit | None) -> None:
        if unit is None:
            self._missed.pop(object_id, None)

    def look(self, seen: Iterable[Detection], view: RegionView | None, stamp_s: float, frame: str) -> list[str]:
        """Count a look, and return the ids of the units that are not at their places any more.

        Args:
            seen: what was detected; the memory has taken it in already.
            view: what was in view; None: nothing follows from what was not seen.
            stamp_s: when it was, s.
            frame: of what was detected and of the view: units in another one stay.
        """
        there = {each.source_id for each in seen if each.source_id in self._memory}
        sizes = {each.source_id: each.size for each in seen if each.source_id in there}
        self._missed.update({name: _Missed(size) for name, size in sizes.items()})
        if view is None:
            return []
        units = [
            unit
            for unit in self._memory
            if unit.object_id not in there and unit.position.frame == frame and unit.stamp < stamp_s
        ]
        return self._gone(units, view) if units else []

    def _gone(self, units: list[Unit], view: RegionView) -> list[str]:
        missed = [self._missed.setdefault(unit.object_id, _Missed((0.0, 0.0, 0.0))) for unit in units]
        middles = np.array([unit.position[:3] for unit in units], float)
        sizes = np.array([each.size for each in missed], float)
        shown, inside = view.shows(middles, sizes), view.shows_inside(middles, sizes)
        for unit, each, is_shown, is_inside in zip(units, missed, shown, inside, strict=True):
            if is_inside or (is_shown and not self._is_shut_in(unit)):
                each.looks += 1
                each.proven += bool(is_inside)
        found = zip(units, missed, strict=True)
        return [unit.object_id for unit, each in found if each.proven >= _PROVEN or each.looks >= _UNPROVEN]

    def _is_shut_in(self, unit: Unit) -> bool:
        """Return whether a unit was put into something that is closed, or of which nobody knows."""
        relation, holder = told_place(unit.attributes) or ("", "")
        if relation != "in":
            return False
        known = self._memory.get(holder)
        return known is None or ObjectState.CLOSED.value in known.states
