"""The replacement policies that come with the stack."""

from __future__ import annotations

from kc_vla.memory.replacement.lfu import Lfu
from kc_vla.memory.replacement.policies import ReplacementKind
from kc_vla.memory.replacement.queues import Fifo, Lru
from kc_vla.memory.replacement.w_tinylfu import Rule, WTinyLfu, window_of

FIFO = ReplacementKind("the key that came first leaves", Fifo)
LRU = ReplacementKind("the key that was used least recently leaves", Lru)
LFU = ReplacementKind("the key that was used least often leaves", Lfu)
NARROW = ReplacementKind("W-TinyLFU with a window of 1 %", lambda capacity: WTinyLfu(capacity, window_of(capacity)))
WIDE = ReplacementKind(
    "W-TinyLFU with a window of 90 %, the paper's best", lambda capacity: WTinyLfu(capacity, window_of(capacity, 0.9))
)
LEAST = ReplacementKind(
    "W-TinyLFU with the paper's rule", lambda capacity: WTinyLfu(capacity, window_of(capacity), Rule.LEAST)
)
ADAPTS = ReplacementKind("W-TinyLFU that finds its window", WTinyLfu)
