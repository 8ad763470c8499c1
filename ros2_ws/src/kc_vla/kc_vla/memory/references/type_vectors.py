"""Makes `embedding/data/types.npz`: `python -m kc_vla.memory.references.type_vectors`, after a change of the tables.

It has the vectors of all sentences that a reference without a name is compared with, for the types that homes are known
to have (`likely_places`), by what WordNet says of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kc_vla.memory.embedding.ahead import write_ahead
from kc_vla.memory.embedding.interface import Embedder, Vectors
from kc_vla.memory.embedding.minilm import MiniLm
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.references.reference import read

NAMELESS = "something sharp"


class RecordingEmbedder:
    """An embedder that keeps what it embeds."""

    def __init__(self, embedder: Embedder) -> None:
        """Embed with another one."""
        self._embedder, self.name = embedder, embedder.name
        self.vectors: dict[str, Vectors] = {}

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Return the vectors of sentences, and keep them."""
        vectors = self._embedder.embed(sentences)
        self.vectors.update(zip(sentences, vectors, strict=True))
        return vectors


def sentences_of_types(embedder: Embedder) -> dict[str, Vectors]:
    """Return the vectors of all sentences about the types of things that are common in homes, by sentence."""
    recorded = RecordingEmbedder(embedder)
    namer, reference = Namer(recorded), read(NAMELESS)
    for carried in (True, False):
        namer.named(replace(reference, carried=carried), ())
    return {sentence: vector for sentence, vector in recorded.vectors.items() if NAMELESS not in sentence}


if __name__ == "__main__":
    write_ahead(sentences_of_types(MiniLm()))
