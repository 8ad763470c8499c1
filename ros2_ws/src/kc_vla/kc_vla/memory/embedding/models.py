"""Models of sentences by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kc_vla.memory.embedding.cache import Cached
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.served import ServerSettings

OFFLINE = "offline"
_HUB = "hub:"


def open_embedder(name: str = OFFLINE, server: ServerSettings | None = None) -> Embedder:
    """Return a model with its cache.

    Args:
        name: `offline`, all-MiniLM-L6-v2 as it installs with the stack; `hub:OWNER/NAME@REVISION#SHA256`; or a folder
            with a sentence-transformer exported to ONNX.
        server: if there is one, it is asked, and `name` is not looked at.

    Raises:
        EmbeddingError: it cannot be had; nothing else is taken in its place.
    """
    if server is not None:
        from kc_vla.memory.embedding.server import ServedEmbedder

        return Cached(ServedEmbedder(server))
    if name == OFFLINE:
        from kc_vla.memory.embedding.ahead import read_ahead
        from kc_vla.memory.embedding.minilm import MiniLm

        return Cached(MiniLm(), ahead=read_ahead())
    from kc_vla.memory.embedding.onnx_model import OnnxModel, fetch

    return Cached(OnnxModel(fetch(name.removeprefix(_HUB)) if name.startswith(_HUB) else Path(name)))


@cache
def shared_embedder() -> Embedder:
    """Return the offline model, with one cache for all that asks in this process, from one thread.

    Raises:
        EmbeddingError: see `open_embedder`.
    """
    return open_embedder()
