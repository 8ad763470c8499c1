"""Embeddings from a server that speaks OpenAI's API; KARMA takes `text-embedding-3-large`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.memory.embedding.interface import EmbeddingError, Vectors, normalised
from kc_vla.memory.served import Server, ServerError, ServerSettings

_BATCH = 256
"""Sentences of one request."""


class ServedEmbedder:
    """An embedder behind a network."""

    def __init__(self, settings: ServerSettings) -> None:
        """Make a client; EmbeddingError where the settings make no sense."""
        try:
            self.server = Server(settings)
        except ServerError as error:
            raise EmbeddingError(str(error)) from error
        self.name = settings.model

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Ask the server for the vectors (N, D) of sentences, in batches, and normalize them.

        Raises:
            EmbeddingError: the server does not answer, or with something else.
        """
        parts = []
        for start in range(0, len(sentences), _BATCH):
            try:
                parts.append(normalised(self.server.embed(sentences[start : start + _BATCH])))
            except ServerError as error:
                raise EmbeddingError(str(error)) from error
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)
