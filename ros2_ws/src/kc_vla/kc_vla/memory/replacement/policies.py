"""The replacement policies by name."""

from __future__ import annotations

from collections.abc import Callable

from kc_vla.memory.replacement.interface import Replacement
from kc_vla.memory.replacement.lfu import Lfu
from kc_vla.memory.replacement.queues import Fifo, Lru
from kc_vla.memory.replacement.w_tinylfu import Rule, WTinyLfu, window_of

ADAPTIVE = "adaptive"
_OPEN: dict[str, Callable[[int], Replacement]] = {
    "fifo": Fifo,
    "lru": Lru,
    "lfu": Lfu,
    "w-tinylfu": lambda capacity: WTinyLfu(capacity, window_of(capacity)),
    "w-tinylfu-wide": lambda capacity: WTinyLfu(capacity, window_of(capacity, 0.9)),
    "w-tinylfu-least": lambda capacity: WTinyLfu(capacity, window_of(capacity), Rule.LEAST),
    ADAPTIVE: WTinyLfu,
}
POLICIES = tuple(_OPEN)
"""`w-tinylfu` has a window of 1 %, `-wide` of 90 %, the paper's best, `-least` the paper's rule; `adaptive` finds its
window."""


def open_replacement(name: str, capacity: int) -> Replacement:
    """An empty policy; ValueError where there is none of that name, or it cannot have that capacity."""
    if name not in _OPEN:
        raise ValueError(f"there is no replacement policy '{name}': choose one of {', '.join(POLICIES)}")
    return _OPEN[name](capacity)
