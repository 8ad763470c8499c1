"""Copies of what the memory nodes hold, for a client that looks things up again and again.

A copy follows its memory: each answer to its owner says what has changed since its revision.
"""

from __future__ import annotations

import time

from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.short_term.unit import Unit
from kc_vla.ros.scene_nodes import change_from
from kc_vla.ros.units import unit_from
from kc_vla_msgs.msg import SceneChanges, UnitsChanges


class _Copy:
    """The revision of a copy, and whether it is fresh; for one thread."""

    def __init__(self, fresh_s: float) -> None:
        """Begin without a copy.

        Args:
            fresh_s: so old a copy may be where its owner has not changed the memory, s.
        """
        self.revision, self._fresh_s, self._fresh_until_s = 0, fresh_s, 0.0

    def is_fresh(self) -> bool:
        """Return whether the copy can be looked at as it is."""
        return time.monotonic() < self._fresh_until_s

    def outdate(self) -> None:
        """Note that the memory is being changed."""
        self._fresh_until_s = 0.0

    def _is_at(self, revision: int) -> None:
        self.revision, self._fresh_until_s = revision, time.monotonic() + self._fresh_s


class UnitsCopy(_Copy):
    """The units of the short-term memory by their ids, in the order of the memory."""

    def __init__(self, fresh_s: float) -> None:
        """Begin without units; see `_Copy`."""
        super().__init__(fresh_s)
        self.units: dict[str, Unit] = {}

    def apply(self, changes: UnitsChanges) -> None:
        """Bring the copy up to date by what changed since its revision."""
        if changes.whole:
            self.units.clear()
        for name in changes.removed:
            self.units.pop(name, None)
        self.units.update((each.object_id, unit_from(each)) for each in changes.units)
        self._is_at(changes.revision)


class SceneCopy(_Copy):
    """A map of the long-term memory."""

    def __init__(self, map_id: str, fresh_s: float) -> None:
        """Begin with an empty map; see `_Copy`."""
        super().__init__(fresh_s)
        self.graph = SceneGraph(map_id)

    def apply(self, changes: SceneChanges) -> None:
        """Bring the copy up to date by what changed since its revision."""
        if changes.whole:
            self.graph = SceneGraph(self.graph.map_id)
        self.graph.apply(change_from(self.graph, changes))
        self._is_at(changes.revision)
