"""The ground that the boxes of objects cover."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kc_vla.memory.long_term.nodes import SceneObject, Vector


class Footprints:
    """Finds the boxes that a place is above or below, of all of them at once."""

    def __init__(self, objects: Iterable[SceneObject]) -> None:
        """Take the objects as they are now."""
        known = list(objects)
        self._names = [each.id for each in known]
        self._known = frozenset(self._names)
        self._middles = np.array([each.position[:2] for each in known], float).reshape(-1, 2)
        self._halves = np.array([each.size[:2] for each in known], float).reshape(-1, 2) / 2

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def under(self, position: Vector) -> list[str]:
        """Return the ids of the objects whose box is straight below or above a place, or around it."""
        over = (np.abs(self._middles - position[:2]) <= self._halves).all(axis=1)
        return [self._names[at] for at in np.flatnonzero(over).tolist()]
