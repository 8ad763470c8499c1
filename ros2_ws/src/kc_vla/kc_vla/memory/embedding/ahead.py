"""Vectors of sentences that were computed ahead: what is said of the types that homes are known to have.

A name without a meaning of its own ("something sharp") is compared with all of them. To compute these some 300 vectors
takes seconds of a processor, once in each process.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kc_vla.memory.embedding.interface import EmbeddingError, Vectors

PATH = Path(__file__).parent / "data" / "types.npz"


def read_ahead(path: Path = PATH) -> Mapping[str, Vectors]:
    """Return the vectors of all-MiniLM-L6-v2, float32 (384,) of length 1, by their sentences.

    Raises:
        EmbeddingError: the file cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            sentences, vectors = file["sentences"], file["vectors"]
    except (OSError, ValueError, KeyError) as error:
        raise EmbeddingError(f"{path}: no vectors can be read: {error}: install the stack anew") from error
    return {str(sentence): vector for sentence, vector in zip(sentences, vectors, strict=True)}


def write_ahead(vectors: Mapping[str, Vectors], path: Path = PATH) -> None:
    """Write vectors for `read_ahead`, in the order of their sentences."""
    sentences = sorted(vectors)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = np.stack([vectors[each] for each in sentences]).astype(np.float32)
    np.savez_compressed(path, sentences=np.array(sentences), vectors=rows)
