"""Looks at what computes and draws: GPU, ONNX Runtime and torch, Vulkan, the models' files."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kc_vla.core.extras import install
from kc_vla.inference.models import ModelError, find_model, read_registry
from kc_vla.machine.commands import CommandError, answer_of
from kc_vla.machine.finding import Finding, Level
from kc_vla.machine.usb import attribute

_NVIDIA, _DISPLAY = "0x10de", "0x03"
_ASK_GPU = ("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
_CUDA = "CUDAExecutionProvider"
_MOST_GPUS = 16


def nvidia_gpus(root: Path = Path("/")) -> int:
    """Return how many GPUs of NVIDIA are plugged in, with or without a driver."""
    try:
        entries = list((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        entries = []
    found = [
        entry
        for entry in entries
        if attribute(entry / "vendor") == _NVIDIA and attribute(entry / "class").startswith(_DISPLAY)
    ]
    try:  # a container may see the driver and no bus
        return max(len(found), len(list((root / "proc/driver/nvidia/gpus").iterdir())))
    except OSError:
        return len(found)


def look_at_gpu(root: Path = Path("/"), ask: Callable[[Sequence[str]], str] = answer_of) -> list[Finding]:
    """Return a line for each GPU of NVIDIA, the only ones that the stack's libraries compute on."""
    number = nvidia_gpus(root)
    if not number:
        return [Finding("GPU", Level.OK, "none of NVIDIA's: all runs on the processor", facts={"gpus": []})]
    try:
        rows = [line.strip() for line in ask(_ASK_GPU).splitlines() if line.strip()][:_MOST_GPUS]
    except CommandError as error:
        do = "install NVIDIA's driver (a container: --gpus all), then start the machine again"
        return [Finding("GPU", Level.WARN, f"{number} of NVIDIA's, and no driver that answers: {error}", do)]
    if not rows:
        return [Finding("GPU", Level.WARN, "the driver names no GPU", "start the machine again; see `nvidia-smi`")]
    return [Finding("GPU", Level.OK, _row(line), facts={"gpu": line}) for line in rows]


def _row(line: str) -> str:
    name, *rest = (part.strip() for part in line.split(","))
    if len(rest) != 2:
        return line
    return f"{name}, driver {rest[0]}, {rest[1]}"


def look_at_onnx_runtime(
    gpu: bool, model: Path | None, open_on: Callable[[Path, str], Any] | None = None, providers: Sequence[str] = ()
) -> list[Finding]:
    """Return what ONNX Runtime computes on; with a model it is tried, for a provider that is named may still not work.

    Args:
        gpu: whether there is one.
        model: an ONNX file to try; None: nothing is tried.
        open_on: opens a file on a device, see `open_session`; None: as the stack does.
        providers: those that ONNX Runtime names; none: it is asked.
    """
    try:
        import onnxruntime

        from kc_vla.inference.onnx_sessions import InferenceError, open_session
    except ImportError as error:
        return [Finding("ONNX Runtime", Level.FAIL, f"cannot be loaded: {error}", "./setup.sh")]
    there = list(providers or onnxruntime.get_available_providers())
    told = f"{onnxruntime.__version__}, {'CUDA and processor' if _CUDA in there else 'processor'}"
    facts = {"version": onnxruntime.__version__, "providers": there}
    opened = open_on or open_session
    for device in ("cpu", "cuda") if _CUDA in there and gpu else ("cpu",):
        try:
            if model is not None:
                opened(model, device)
        except InferenceError as error:
            level = Level.FAIL if device == "cpu" else Level.WARN
            do = "./setup.sh --check" if device == "cpu" else "which CUDA goes with it: docs/installing.md"
            return [Finding("ONNX Runtime", level, f"{told}; {error}", do, facts)]
    if gpu and _CUDA not in there:
        do = "models run on the processor all the same, see docs/installing.md for the GPU"
        return [Finding("ONNX Runtime", Level.WARN, f"{told}: it does not use the GPU", do, facts)]
    return [Finding("ONNX Runtime", Level.OK, told, facts=facts)]


def look_at_torch(gpu: bool, folder: Path | None = None) -> list[Finding]:
    """Return which build of torch there is, without loading it: only learning and the simulator do.

    Args:
        gpu: whether there is one.
        folder: where torch is; None: where Python finds it.
    """
    try:
        number = version("torch")
        spec = find_spec("torch")
    except (PackageNotFoundError, ValueError):
        number, spec = "", None
    place = folder or (Path(spec.origin).parent if spec is not None and spec.origin else None)
    if place is None:
        do = f"a robot does without; for training: {install('train')}, or ./setup.sh in a checkout"
        return [Finding("torch", Level.WARN, "not there", do)]
    cuda = cuda_of_torch(place)
    facts = {"version": number, "cuda": cuda or None}
    told = f"{number}, {f'CUDA {cuda}' if cuda else 'processor'}"
    if gpu and not cuda:
        return [Finding("torch", Level.WARN, f"{told}: it does not use the GPU", "see docs/installing.md", facts)]
    return [Finding("torch", Level.OK, told, facts=facts)]


def cuda_of_torch(folder: Path) -> str:
    """Return the version of CUDA that an installed torch was built with; empty: none."""
    try:
        with (folder / "version.py").open(encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 16)
    except OSError:
        return ""
    found = re.search(r"^cuda\s*(?::[^=\n]*)?=\s*['\"]([\w.]{1,20})['\"]", text, re.MULTILINE)
    return found.group(1) if found else ""


def look_at_vulkan(script: Path | None, ask: Callable[[Sequence[str]], str] = answer_of) -> list[Finding]:
    """Return whether the simulator can draw, as ./setup.sh asks it.

    Args:
        script: `setup/probe_vulkan.py` of the clone; None where there is no clone.
        ask: runs a program and returns what it prints.
    """
    if script is None or not script.is_file():
        do = "where kc-vla[sim] is installed, this tries it: kc-vla sim play --task counting --seed 3"
        return [Finding("Vulkan", Level.WARN, "not looked at: this was not set up by ./setup.sh", do)]
    try:
        device = ask([sys.executable, str(script)]).strip()
    except CommandError as error:
        reason = str(error).rpartition(": ")[2]
        return [Finding("Vulkan", Level.WARN, f"the simulator cannot draw: {reason}", "./setup.sh installs a driver")]
    return [Finding("Vulkan", Level.OK, device, facts={"device": device})]


def look_at_models(folder: Path, name: str = "models") -> list[Finding]:
    """Return whether the files of all models of a folder are there and as its registry says.

    Args:
        folder: with a registry.
        name: of the line.
    """
    try:
        registry = read_registry(folder)
    except ModelError as error:
        return [Finding(name, Level.FAIL, str(error), "./setup.sh, or export them anew")]
    troubles = {}
    for model, row in registry.items():
        try:
            find_model(folder, model, row["kind"])
        except (ModelError, KeyError, TypeError) as error:
            told = str(error) if isinstance(error, ModelError) else f"the entry of '{model}' is damaged"
            troubles[str(model)] = told
    facts = {"folder": str(folder), "models": [str(model) for model in registry], "troubles": troubles}
    good = [str(model) for model in registry if str(model) not in troubles]
    findings = [Finding(name, Level.FAIL, trouble, facts=facts) for trouble in troubles.values()]
    if good or not troubles:
        told = f"{', '.join(good) or 'none'}: each file as registered"
        findings.insert(0, Finding(name, Level.OK, told, facts=facts))
    return findings
