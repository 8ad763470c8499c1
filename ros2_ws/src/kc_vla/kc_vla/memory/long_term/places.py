"""Which names are near a place: a grid of square cells of 1 m on the ground; and to which area a place belongs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kc_vla.memory.long_term.nodes import Area, Vector

if TYPE_CHECKING:
    from scipy.spatial import KDTree

_CELL_M = 1.0
_Cell = tuple[int, int]


class NamedPlaces:
    """Names by where they are."""

    def __init__(self, known: Iterable[tuple[str, Vector]]) -> None:
        """Sort names into cells by their positions.

        Args:
            known: names with their positions.
        """
        self._cells: defaultdict[_Cell, set[str]] = defaultdict(set)
        self._of: dict[str, _Cell] = {}
        for name, position in known:
            self.put(name, position)

    def put(self, name: str, position: Vector) -> None:
        """Put a name at a place."""
        cell = math.floor(position[0] / _CELL_M), math.floor(position[1] / _CELL_M)
        if name in self._of:
            self.remove(name)
        self._of[name] = cell
        self._cells[cell].add(name)

    def remove(self, name: str) -> None:
        """Remove a name from its place."""
        cell = self._of.pop(name)
        self._cells[cell].discard(name)
        if not self._cells[cell]:
            del self._cells[cell]

    def around(self, position: Vector, radius_m: float) -> Iterator[str]:
        """Yield the names in all cells that a circle touches, which are more than are in the circle."""
        left, right = (math.floor((position[0] + side * radius_m) / _CELL_M) for side in (-1, 1))
        low, high = (math.floor((position[1] + side * radius_m) / _CELL_M) for side in (-1, 1))
        if (right - left + 1) * (high - low + 1) > len(self._cells):
            for (x, y), names in self._cells.items():
                if left <= x <= right and low <= y <= high:
                    yield from names
            return
        for x in range(left, right + 1):
            for y in range(low, high + 1):
                yield from self._cells.get((x, y), ())


class AreaPlaces:
    """The places of areas, floor by floor: middle and edge of each."""

    def __init__(self, areas: Iterable[Area]) -> None:
        """Sort the places of areas into cells.

        Args:
            areas: which do not change.
        """
        self._areas: defaultdict[str, list[Area]] = defaultdict(list)
        for area in areas:
            self._areas[area.floor].append(area)
        self.floors = set(self._areas)
        self._trees: dict[str, tuple[KDTree, np.ndarray]] = {}

    def nearest(self, floor: str, positions: Sequence[Vector]) -> list[str]:
        """Return for each position the id of the area of a floor that has the place nearest to it."""
        if not positions:
            return []
        if floor not in self._trees:
            self._trees[floor] = self._tree(self._areas[floor])
        tree, owners = self._trees[floor]
        found = tree.query(np.array(positions, float)[:, :2])[1]
        return [self._areas[floor][at].id for at in owners[found].tolist()]

    @staticmethod
    def _tree(areas: list[Area]) -> tuple[KDTree, np.ndarray]:
        from scipy.spatial import KDTree  # here, since most who open a store ask for no area

        places = [
            np.concatenate([[area.position[:2]], np.frombuffer(area.edge, np.float32).reshape(-1, 2)]) for area in areas
        ]
        return KDTree(np.concatenate(places)), np.repeat(np.arange(len(areas)), [len(each) for each in places])
