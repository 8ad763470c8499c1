"""A sentence-transformer that was exported to ONNX: from a folder, or from the hub by revision and hash."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from kc_vla.memory.embedding.interface import EmbeddingError, Vectors, in_batches, normalised
from kc_vla.memory.embedding.minilm import MOST_TOKENS, read_tokenizer

_MODELS = ("model.onnx", "onnx/model.onnx")
_NAMED = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})#(?P<hash>[0-9a-f]{64})")
_FILES = ("tokenizer.json", "1_Pooling/config.json")


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
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library's own have no common root but this
            raise EmbeddingError(f"{path} cannot be loaded: {_line(error)}") from error
        self._inputs = {each.name for each in self._session.get_inputs()}
        if not {"input_ids", "attention_mask"} <= self._inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
            raise EmbeddingError(
                f"{path} takes {', '.join(sorted(self._inputs))}: this is no exported sentence-transformer"
            )

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Compute the vectors (N, D) of sentences with ONNX Runtime, in batches of about the same length."""
        return in_batches(sentences, self._batch) if sentences else np.zeros((0, 0), np.float32)

    def _batch(self, sentences: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(list(sentences))
        ids = np.array([each.ids for each in encodings], np.int64)
        mask = np.array([each.attention_mask for each in encodings], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        except Exception as error:  # as above
            raise EmbeddingError(f"the model {self.name} failed: {_line(error)}") from error
        if states.ndim == 2:  # it averages itself
            return normalised(np.asarray(states, np.float32))
        if self._first:
            return normalised(np.asarray(states[:, 0], np.float32))
        weights = mask[:, :, None].astype(np.float32)
        return normalised((states * weights).sum(axis=1) / weights.sum(axis=1))


def fetch(named: str, endpoint: str | None = None) -> Path:
    """Return the folder of a model of the hub, which is fetched if it is not there yet.

    Args:
        named: OWNER/NAME@REVISION#HASH: 40 digits of the commit, 64 of the SHA-256 of onnx/model.onnx.
        endpoint: address of the hub, if not the usual.

    Raises:
        EmbeddingError: it is named otherwise, cannot be fetched, or is another file than the hash says.
    """
    match = _NAMED.fullmatch(named)
    if match is None:
        raise EmbeddingError(
            f"'{named[:200]}' is no model of the hub: name it OWNER/NAME@REVISION#SHA256 of onnx/model.onnx"
        )
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    repository, revision = match["repository"], match["revision"]
    try:
        model = Path(hf_hub_download(repository, _MODELS[1], revision=revision, endpoint=endpoint))
        for name in _FILES:
            hf_hub_download(repository, name, revision=revision, endpoint=endpoint)
    except LocalEntryNotFoundError as error:
        raise EmbeddingError(f"{repository}: the hub cannot be reached, and it was not fetched before") from error
    except (EntryNotFoundError, HfHubHTTPError, OSError, ValueError) as error:
        raise EmbeddingError(f"{repository} cannot be fetched: {_line(error)}") from error
    with model.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != match["hash"]:
        raise EmbeddingError(
            f"{repository}: onnx/model.onnx has the hash {found}, another than was named: it is not used"
        )
    return model.parents[1]


def _takes_first(folder: Path) -> bool:
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return False
    try:
        pooling = json.loads(path.read_text(encoding="utf-8"))
        first, mean = bool(pooling.get("pooling_mode_cls_token")), bool(pooling.get("pooling_mode_mean_tokens"))
    except (ValueError, AttributeError) as error:
        raise EmbeddingError(f"{path} cannot be read: {_line(error)}") from error
    if first == mean:
        raise EmbeddingError(f"{path}: neither the mean of the tokens nor the first: this pooling is not known here")
    return first


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
