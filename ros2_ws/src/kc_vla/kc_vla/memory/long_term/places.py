"""Which names are near a place: a grid of square cells of 1 m on the ground."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

from kc_vla.memory.long_term.nodes import Vector

_CELL_M = 1.0
_Cell = tuple[int, int]


class Places:
    """Names by where they are."""

    def __init__(self, known: Iterable[tuple[str, Vector]]) -> None:
        """Args: `known`, names with their positions."""
        self._cells: defaultdict[_Cell, set[str]] = defaultdict(set)
        self._of: dict[str, _Cell] = {}
        for name, position in known:
            self.put(name, position)

    def put(self, name: str, position: Vector) -> None:
        """A name is here from now on."""
        cell = math.floor(position[0] / _CELL_M), math.floor(position[1] / _CELL_M)
        if name in self._of:
            self.remove(name)
        self._of[name] = cell
        self._cells[cell].add(name)

    def remove(self, name: str) -> None:
        """A name is nowhere any more."""
        cell = self._of.pop(name)
        self._cells[cell].discard(name)
        if not self._cells[cell]:
            del self._cells[cell]

    def around(self, position: Vector, radius_m: float) -> Iterator[str]:
        """The names in all cells that a circle touches, which are more than are in the circle."""
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
