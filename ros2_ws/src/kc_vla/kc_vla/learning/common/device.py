"""What torch computes on, and how exactly."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

import torch
from torch import nn

from kc_vla.learning.common.config import ARITHMETICS
from kc_vla.learning.common.errors import LearningError
from kc_vla.learning.common.run import TrainingRun

_TURNS = 20
_ENOUGH_S = 1.0


@dataclass(frozen=True)
class Device:
    """A device and its precision.

    Attributes:
        name: "cpu" or "cuda".
        half: multiply in bfloat16, which is two to three times as fast where the processor has it, and far slower
            where it has not.
        why: this precision, for people.
    """

    name: str
    half: bool = False
    why: str = field(default="", compare=False)

    @property
    def torch(self) -> torch.device:
        """Return the device as torch calls it."""
        return torch.device(self.name)

    @property
    def precision(self) -> str:
        """Return the name of the precision, "bf16" or "fp32"."""
        return "bf16" if self.half else "fp32"

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context in which the arithmetic of networks runs."""
        return torch.autocast(self.name, dtype=torch.bfloat16, enabled=self.half)


def choose_device(name: str, precision: str = "auto") -> Device:
    """Return the device called "cpu" or "cuda"; "auto" is a GPU where there is one.

    Args:
        name: see above.
        precision: "fp32", "bf16", or "auto": the faster one here, which takes a second to measure on a CPU.

    Raises:
        LearningError: no such device here, or no such precision.
    """
    there = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if there else "cpu"
    if name not in ("cpu", "cuda"):
        raise LearningError(f"no device '{name}': choose auto, cpu or cuda")
    if name == "cuda" and not there:
        raise LearningError("torch finds no CUDA device here: take --device cpu, or a CUDA build of torch")
    if precision not in ARITHMETICS:
        raise LearningError(f"no precision '{precision}': choose one of {', '.join(ARITHMETICS)}")
    if precision != "auto":
        return Device(name, precision == "bf16", "as asked for")
    if name == "cuda":
        half = torch.cuda.is_bf16_supported(including_emulation=False)
        return Device(name, half, "which this GPU has" if half else "this GPU has no bfloat16")
    exact, rough = _step_times()
    # What is hardly faster is not worth its rounding.
    return Device(name, rough < 0.8 * exact, f"a step in bf16 takes {rough / exact:.1f} times as long here")


def device_of_run(run: TrainingRun, name: str, precision: str) -> Device:
    """Return the device of a run, which goes on in the precision that it has there, unless another is asked for.

    Raises:
        LearningError: see `choose_device`.
    """
    if precision == "auto" and (begun := run.arithmetic) is not None:
        device = choose_device(name, begun["precision"])
        if device.name == begun["device"]:
            return replace(device, why="as the run began")
    return choose_device(name, precision)


def _step_times() -> tuple[float, float]:
    """Return the seconds that a small convolution and its gradient take on the CPU in float32 and in bfloat16.

    The best of some runs counts.

    They take turns, on one thread: what else the machine does then disturbs both alike.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            pictures = torch.rand(4, 64, 28, 28).to(memory_format=torch.channels_last).requires_grad_()
            layer = nn.Conv2d(64, 64, 3, padding=1, bias=False).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        times: dict[bool, list[float]] = {False: [], True: []}
        begun = time.perf_counter()
        for _ in range(_TURNS):
            for half in times:
                times[half].append(_step_time(layer, pictures, half))
            if time.perf_counter() - begun > _ENOUGH_S:
                break
        return min(times[False]), min(times[True])
    finally:
        torch.set_num_threads(threads)


def _step_time(layer: nn.Module, pictures: torch.Tensor, half: bool) -> float:
    begun = time.perf_counter()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
        out = layer(pictures)
    out.float().sum().backward()
    return time.perf_counter() - begun
