"""What launch files offer by name: rows of an open table that say which launch files offer them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from kc_vla.core.tables import OpenTable

GRAPHS = ("maniskill", "piper", "replay")
"""The launch files in which something can be chosen."""


@dataclass(frozen=True)
class LaunchChoice:
    """A row that launch files offer.

    Attributes:
        meaning: what it is, for users; half a line.
        graphs: the launch files that offer it, of `GRAPHS`.
        inline: it neither computes nor waits for anything, so that it needs no thread of its own.
    """

    meaning: str
    graphs: tuple[str, ...] = field(default=GRAPHS, kw_only=True)
    inline: bool = field(default=False, kw_only=True)


C = TypeVar("C", bound=LaunchChoice)


def offered(table: OpenTable[C], graph: str) -> dict[str, str]:
    """Return the meaning of each row that a launch file offers, by its name.

    A row that cannot be loaded is among them, so that the reason is reported when it is asked for.
    """
    found: dict[str, str | None] = {}
    for each in table.rows():
        if each.row is not None:
            found[each.name] = each.row.meaning if graph in each.row.graphs else None
        else:
            found.setdefault(each.name, f"of the package {each.package}, which cannot be loaded")
    return {name: meaning for name, meaning in found.items() if meaning is not None}
