"""What a model of sentences is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError

Vectors = NDArray[np.float32]
_BATCH = 16


class EmbeddingError(StackError):
    """Sentences cannot be embedded; the message is one line for people."""


class Embedder(Protocol):
    """Gives sentences vectors whose cosine tells how near their meanings are."""

    name: str

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Return vectors (N, D) of length 1, in the order of the sentences; EmbeddingError where it cannot."""
        ...


class ImageEmbedder(Embedder, Protocol):
    """Gives images vectors, too, in the space of its sentences, as CLIP does."""

    def embed_images(self, images: Sequence[NDArray[np.uint8]]) -> Vectors:
        """Return vectors (N, D) of length 1 of images (H, W, 3), RGB; EmbeddingError where it cannot."""
        ...


def in_batches(sentences: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
    """Return vectors of sentences, at least one, in their order; each is embedded with others of about its length.

    In a batch all are as long as the longest, and what is added costs as much as what is said.
    """
    order = sorted(range(len(sentences)), key=lambda place: len(sentences[place]))
    ordered = [sentences[place] for place in order]
    vectors = np.concatenate([embed(ordered[start : start + _BATCH]) for start in range(0, len(ordered), _BATCH)])
    found = np.empty_like(vectors)
    found[order] = vectors
    return found


def normalised(vectors: Vectors) -> Vectors:
    """Return vectors of length 1; those of length 0, or with NaN, are refused.

    Raises:
        EmbeddingError: there is such a vector.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise EmbeddingError("the model gave a vector that is zero or no number: take another model")
    return np.asarray(vectors / lengths, np.float32)
