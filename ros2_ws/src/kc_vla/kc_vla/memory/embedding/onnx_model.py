"""A sentence-transformer that was exported to ONNX: from a folder, or from the hub by revision and hash."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from kc_vla.memory.embedding.hub import fetch_files, one_line
from kc_vla.memory.embedding.interface import EmbeddingError, Vectors, in_batches, normalised
from kc_vla.memory.embedding.minilm import MOST_TOKENS, read_tokenizer

_MODELS = ("model.onnx", "onnx/model.onnx")
_FILES = ("tokenizer.json", "1_Pooling/config.json")


class OnnxEncoder:
    """A network of a file, with the names of its inputs and outputs."""

    def __init__(self, path: Path) -> None:
        """Load it; EmbeddingError where it cannot be."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.path = path
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library's own have no common root but this
            raise EmbeddingError(f"{path} cannot be loaded: {one_line(error)}") from error
        self.inputs = {each.name: tuple(each.shape) for each in self._session.get_inputs()}
        self.outputs = tuple(each.name for each in self._session.get_outputs())

    def run(self, given: Mapping[str, np.ndarray], output: str | None = None) -> Vectors:
        """Return an output of the model for the inputs in `given`, by default the first; raise EmbeddingError."""
        try:
            fed = {name: given[name] for name in self.inputs}
            return np.asarray(self._session.run([output or self.outputs[0]], fed)[0], np.float32)
        except Exception as error:  # as above
            raise EmbeddingError(f"the model {self.path.name} failed: {one_line(error)}") from error


class OnnxModel:
    """A model whose last states are averaged over the tokens, or whose first is taken, as its folder says."""

    def __init__(self, folder: Path) -> None:
        """Load it.

        Args:
            folder: with model.onnx or onnx/model.onnx, tokenizer.json and, if not the mean is taken,
                1_Pooling/config.json, as sentence-transformers writes them.

        Raises:
            EmbeddingError: it is not there, or is something else.
        """
        path = next((folder / name for name in _MODELS if (folder / name).is_file()), None)
        if path is None:
            raise EmbeddingError(
                f"{folder} has no {_MODELS[0]}: export the model with sentence-transformers' ONNX backend"
            )
        self.name = folder.name
        self._first = _takes_first(folder)
        self._tokenizer = read_tokenizer(folder, MOST_TOKENS)
        self._network = OnnxEncoder(path)
        inputs = self._network.inputs.keys()
        if not {"input_ids", "attention_mask"} <= inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise EmbeddingError(f"{path} takes {', '.join(sorted(inputs))}: this is no exported sentence-transformer")

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Compute the vectors (N, D) of sentences with ONNX Runtime, in batches of about the same length."""
        return in_batches(sentences, self._batch) if sentences else np.zeros((0, 0), np.float32)

    def _batch(self, sentences: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(list(sentences))
        ids = np.array([each.ids for each in encodings], np.int64)
        mask = np.array([each.attention_mask for each in encodings], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._network.run(given)
        if states.ndim == 2:  # it averages itself
            return normalised(states)
        if self._first:
            return normalised(states[:, 0])
        weights = mask[:, :, None].astype(np.float32)
        return normalised((states * weights).sum(axis=1) / weights.sum(axis=1))


def fetch(named: str, endpoint: str | None = None) -> Path:
    """Return the folder of a model of the hub: OWNER/NAME@REVISION#SHA256 of onnx/model.onnx; see `fetch_files`."""
    return fetch_files(named, _MODELS[1:], _FILES, endpoint)


def _takes_first(folder: Path) -> bool:
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return False
    try:
        pooling = json.loads(path.read_text(encoding="utf-8"))
        first, mean = bool(pooling.get("pooling_mode_cls_token")), bool(pooling.get("pooling_mode_mean_tokens"))
    except (ValueError, AttributeError) as error:
        raise EmbeddingError(f"{path} cannot be read: {one_line(error)}") from error
    if first == mean:
        raise EmbeddingError(f"{path}: neither the mean of the tokens nor the first: this pooling is not known here")
    return first
