"""Where images stand that are shown together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tiles:
    """Equal squares in a box, px.

    Attributes:
        side: of each.
        places: upper left corner of each, from that of the box.
    """

    side: int
    places: tuple[tuple[int, int], ...]


def tiles(count: int, width: int, height: int, gap: int) -> Tiles:
    """Return so many squares, row by row, as large as they can be in the middle of a box of that size, px."""
    columns = max(range(1, count + 1), key=lambda columns: _side(count, columns, width, height, gap))
    best = _side(count, columns, width, height, gap)
    rows = -(-count // columns)
    left, top = ((room - across * (best + gap) + gap) // 2 for room, across in ((width, columns), (height, rows)))
    places = (divmod(number, columns) for number in range(count))
    return Tiles(best, tuple((left + column * (best + gap), top + row * (best + gap)) for row, column in places))


def _side(count: int, columns: int, width: int, height: int, gap: int) -> int:
    rows = -(-count // columns)
    return min((width + gap) // columns, (height + gap) // rows) - gap
