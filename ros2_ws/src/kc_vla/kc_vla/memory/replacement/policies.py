"""The table of replacement policies: `policy` of the node `short_term_memory`.

Another package adds a policy with an entry point of the group `kc_vla.replacement` that names a `ReplacementKind`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kc_vla.core.tables import OpenTable
from kc_vla.memory.replacement.interface import Replacement

ADAPTIVE = "adaptive"


@dataclass(frozen=True)
class ReplacementKind:
    """A row of the table of replacement policies.

    Attributes:
        meaning: which key is evicted, in half a line, for the documentation.
        make: makes an empty policy for a number of keys; raises ValueError if it cannot have that capacity.
    """

    meaning: str
    make: Callable[[int], Replacement]


_ROWS = "kc_vla.memory.replacement.rows"
REPLACEMENTS: OpenTable[ReplacementKind] = OpenTable(
    "kc_vla.replacement",
    "replacement policy",
    ReplacementKind,
    {
        "fifo": f"{_ROWS}:FIFO",
        "lru": f"{_ROWS}:LRU",
        "lfu": f"{_ROWS}:LFU",
        "w-tinylfu": f"{_ROWS}:NARROW",
        "w-tinylfu-wide": f"{_ROWS}:WIDE",
        "w-tinylfu-least": f"{_ROWS}:LEAST",
        ADAPTIVE: f"{_ROWS}:ADAPTS",
    },
)


def open_replacement(name: str, capacity: int) -> Replacement:
    """Return an empty policy.

    Raises:
        ValueError: There is no policy of that name, it cannot be loaded, or it cannot have that capacity.
    """
    return REPLACEMENTS.get(name).make(capacity)


def usable_policies() -> tuple[str, ...]:
    """Return the names of all policies that can be loaded."""
    return tuple(row.name for row in REPLACEMENTS.rows() if not row.error)
