"""ONNX Runtime sessions whose threads never spin, because many other processes run beside them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import onnxruntime

from kc_vla.inference.devices import DEVICES


class InferenceError(RuntimeError):
    """A model that cannot be run here."""


def open_session(path: Path, device: str = "auto", threads: int = 1) -> onnxruntime.InferenceSession:
    """Return a session for the model at `path`.

    Args:
        path: ONNX file.
        device: "cpu", "cuda", or "auto": a GPU where ONNX Runtime can use one.
        threads: of the CPU. They never spin: two spinning sessions slow each other down threefold.

    Raises:
        InferenceError: no such device, a GPU that was asked for and cannot be used, or a file that is no model.
    """
    if device not in DEVICES:
        raise InferenceError(f"no device '{device}': choose one of {', '.join(DEVICES)}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # that a GPU is absent is told below, by what the session really runs on
    wanted = {"cpu": ["CPUExecutionProvider"]}.get(device, ["CUDAExecutionProvider", "CPUExecutionProvider"])
    there = [provider for provider in wanted if provider in onnxruntime.get_available_providers()]
    if "CUDAExecutionProvider" in there:
        _load_cuda()
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=there)
    except Exception as error:
        raise InferenceError(f"{path} cannot be loaded as an ONNX model: {_first_line(error)}") from error
    if device == "cuda" and session.get_providers()[0] != "CUDAExecutionProvider":
        raise InferenceError("ONNX Runtime cannot use a CUDA GPU here: install onnxruntime-gpu, or take device cpu")
    return session


@cache
def _load_cuda() -> None:
    """Load CUDA's libraries that came as wheels (requirements/gpu.in), where the loader would not look for them."""
    onnxruntime.preload_dlls()


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
