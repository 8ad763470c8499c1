"""The chunks of a bag that were decompressed last, so that neighbors are not decompressed again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class ChunkCache:
    """Holds at most `max_bytes`, or the newest chunk alone where that is larger. For any thread."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._chunks: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self.held_bytes = 0

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the chunk `key`, made by `make` if it is not here; what `make` raises passes through."""
        with self._lock:
            if key in self._chunks:
                self._chunks.move_to_end(key)
                return self._chunks[key]
            content = self._chunks[key] = make()
            self.held_bytes += len(content)
            while self.held_bytes > self._max_bytes and len(self._chunks) > 1:
                self.held_bytes -= len(self._chunks.popitem(last=False)[1])
            return content
