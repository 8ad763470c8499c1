"""ONNX Runtime for models of sentences and images: one thread, on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime

from kc_vla.memory.embedding.hub import one_line
from kc_vla.memory.embedding.interface import EmbeddingError, Vectors


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
