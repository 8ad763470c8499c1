"""A session runs on what was asked for, or says why not."""

import os
import subprocess
import sys

import pytest

from kc_vla.inference import onnx_sessions
from kc_vla.inference.models import read_registry, shipped_models
from kc_vla.inference.onnx_sessions import InferenceError, open_session

CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"


@pytest.fixture(scope="module")
def model():
    folder = shipped_models()
    return folder / read_registry(folder)["policy"]["files"]["memory"]["path"]


@pytest.fixture
def loaded(monkeypatch):
    """How often CUDA's libraries were loaded."""
    times = []
    onnx_sessions._load_cuda.cache_clear()
    monkeypatch.setattr(onnx_sessions.onnxruntime, "preload_dlls", lambda: times.append(1))
    yield times
    onnx_sessions._load_cuda.cache_clear()


def test_a_device_that_is_none_is_refused_with_those_that_are(model):
    with pytest.raises(InferenceError, match="no device 'tpu': choose one of auto, cpu, cuda"):
        open_session(model, "tpu")


def test_a_file_that_is_no_model_is_refused_in_a_line(tmp_path):
    (tmp_path / "a.onnx").write_bytes(b"weights")
    with pytest.raises(InferenceError, match=r"a.onnx cannot be loaded as an ONNX model: [^\n]*$"):
        open_session(tmp_path / "a.onnx", "cpu")


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_without_a_gpu_the_processor_runs_it_and_no_library_of_cuda_is_loaded(model, monkeypatch, loaded, device):
    monkeypatch.setattr(onnx_sessions.onnxruntime, "get_available_providers", lambda: [CPU])
    assert open_session(model, device).get_providers() == [CPU]
    assert loaded == []


def test_nothing_is_noted_to_be_sent_to_the_makers_of_the_runtime(model, tmp_path):
    plain = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    opens = f"from kc_vla.inference.onnx_sessions import open_session; open_session({str(model)!r})"
    at_home = plain | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", opens], env=at_home, check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_cudas_libraries_are_loaded_once_and_not_for_the_processor(model, monkeypatch, loaded):
    monkeypatch.setattr(onnx_sessions.onnxruntime, "get_available_providers", lambda: [CUDA, CPU])
    open_session(model, "cpu")
    assert loaded == []
    open_session(model, "auto")
    open_session(model, "auto")
    assert loaded == [1]
