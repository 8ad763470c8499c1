"""Sentences embedded once: a cache of bounded size before any model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from kc_vla.memory.embedding.interface import Embedder, Vectors

MOST_BYTES = 32 << 20
_OVERHEAD = 400
"""Bytes of an entry beside its vector and letters."""


class Cached:
    """An embedder that asks another one only for what it does not know; what was used least recently is forgotten."""

    def __init__(
        self, embedder: Embedder, most_bytes: int = MOST_BYTES, ahead: Mapping[str, Vectors] | None = None
    ) -> None:
        """Embed with another one.

        Args:
            embedder: is asked for what is new.
            most_bytes: of what is kept.
            ahead: vectors of that embedder, of length 1, by their sentences; they stay, and do not count.
        """
        self._embedder, self._most, self._bytes = embedder, most_bytes, 0
        self._ahead = ahead or {}
        self.name = embedder.name
        self._known: OrderedDict[str, Vectors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors of sentences, and embed only those that are not kept yet.

        Args:
            sentences: in any number, also several times the same.

        Returns:
            (N, D) float32 of length 1, in the order of the sentences.

        Raises:
            EmbeddingError: the wrapped embedder cannot embed them.
        """
        known = (self._ahead, self._known)
        missing = [each for each in dict.fromkeys(sentences) if not any(each in some for some in known)]
        fresh = dict(zip(missing, self._embedder.embed(missing), strict=True)) if missing else {}
        rows = []
        for each in sentences:
            if each in fresh:
                rows.append(fresh[each])
            elif each in self._ahead:
                rows.append(self._ahead[each])
            else:
                self._known.move_to_end(each)
                rows.append(self._known[each])
        vectors = np.stack(rows) if rows else self._embedder.embed([])
        for each, vector in fresh.items():
            self._known[each] = vector.copy()  # of its own, not a part of the whole batch
            self._bytes += _size(each, vector)
        while self._bytes > self._most:
            self._bytes -= _size(*self._known.popitem(last=False))
        return vectors


def _size(sentence: str, vector: Vectors) -> int:
    return vector.nbytes + 4 * len(sentence) + _OVERHEAD
