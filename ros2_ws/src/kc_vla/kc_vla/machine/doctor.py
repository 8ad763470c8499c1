"""All checks of the machine, in the order of the report."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kc_vla.core.home import cache_home
from kc_vla.inference.models import REGISTRY, ModelError, read_registry, shipped_models
from kc_vla.machine import compute, devices, middleware, system
from kc_vla.machine.finding import Finding, Level
from kc_vla.machine.isolated_checks import Look, look_apart
from kc_vla.machine.open_tables import TABLES, look_at_extras, look_at_table

PATIENCE_S = 30.0
"""For all looks together: they are made at once, and on a busy machine ONNX Runtime alone takes seconds to load."""


@dataclass(frozen=True)
class Patient:
    """What is looked at.

    Attributes:
        root: of the file system: /sys, /proc, /dev and /opt are below it.
        prefix: of the Python environment.
        environment: variables of the process.
        folder: where the stack is used, with runs/ and my_models/ below it.
    """

    root: Path = Path("/")
    prefix: Path = field(default_factory=lambda: Path(sys.prefix))
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: Path = field(default_factory=Path.cwd)


def examine(patient: Patient, seconds: float = PATIENCE_S) -> list[Finding]:
    """Look at everything; nothing is changed, and no look takes longer than `seconds`, s."""
    return look_apart(looks(patient), seconds)


def looks(patient: Patient) -> dict[str, Look]:
    """Return the looks by name; each can be made alone."""
    root, environment = patient.root, patient.environment
    clone = middleware.stamp(patient.prefix).get("root", "")
    probe = Path(clone, "setup/probe_vulkan.py") if clone else None
    return {
        "ROS 2": lambda: middleware.look_at_ros(patient.prefix, environment, root),
        "middleware": lambda: middleware.look_at_middleware(environment),
        "shared memory": lambda: middleware.look_at_shared_memory(root),
        "CAN": lambda: devices.look_at_can(root),
        "extras": look_at_extras,
        **{name: partial(look_at_table, name) for name in TABLES},
        "cameras": lambda: devices.look_at_cameras(root),
        "GPU": lambda: compute.look_at_gpu(root),
        "ONNX Runtime": lambda: compute.look_at_onnx_runtime(compute.nvidia_gpus(root) > 0, _some_model()),
        "torch": lambda: compute.look_at_torch(compute.nvidia_gpus(root) > 0),
        "Vulkan": lambda: compute.look_at_vulkan(probe),
        "models": lambda: _models(patient.folder),
        "real time": lambda: system.look_at_real_time(root),
        "disk": lambda: system.look_at_disk({"here": patient.folder, "cache": cache_home()}),
        "ports": lambda: system.look_at_ports(root),
        "clock": system.look_at_clock,
    }


def _models(folder: Path) -> Sequence[Finding]:
    try:
        found = compute.look_at_models(shipped_models())
    except ModelError as error:
        found = [Finding("models", Level.FAIL, str(error), "source env.sh")]
    own = folder / "my_models"
    return found + (compute.look_at_models(own, own.name) if (own / REGISTRY).exists() else [])


def _some_model() -> Path | None:
    """Return the smallest file of the models that come along; None where there is none."""
    try:
        folder = shipped_models()
        files = [file for row in read_registry(folder).values() for file in row["files"].values()]
        paths = [path for file in files if (path := folder / str(file["path"])).is_file()]
    except (ModelError, KeyError, TypeError, AttributeError):
        return None  # which is what the look at the models tells
    return min(paths, key=lambda path: path.stat().st_size, default=None)
