"""Things of one kind that a user chooses among by name: each is a row of one table, and nothing else lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

S = TypeVar("S")
M = TypeVar("M")
GRAPHS = ("maniskill", "piper", "replay")
"""The launch files in which something can be chosen."""


@dataclass(frozen=True)
class Choice(Generic[S, M]):
    """A row.

    Attributes:
        meaning: what it is, for users; half a line.
        make: makes it from its settings. It imports what it needs: nobody else shall wait for that.
        graphs: the launch files that offer it, of `GRAPHS`.
        at_once: it neither computes nor waits for anything, so that it needs no thread of its own.
    """

    meaning: str
    make: Callable[[S], M]
    graphs: tuple[str, ...] = GRAPHS
    at_once: bool = False


def offered(table: Mapping[str, Choice[Any, Any]], graph: str) -> dict[str, str]:
    """The meaning of each row that a launch file offers, by its name."""
    return {name: row.meaning for name, row in table.items() if graph in row.graphs}
