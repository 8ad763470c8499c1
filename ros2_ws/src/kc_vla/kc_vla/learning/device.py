"""What torch computes on, and how exactly."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch

from kc_vla.learning.errors import LearningError


@dataclass(frozen=True)
class Device:
    """A device and its precision.

    Attributes:
        name: "cpu" or "cuda".
        half: multiply in bfloat16, which is two to three times as fast where the processor has it.
    """

    name: str
    half: bool = True

    @property
    def torch(self) -> torch.device:
        """The device as torch calls it."""
        return torch.device(self.name)

    def autocast(self) -> AbstractContextManager[object]:
        """Where the arithmetic of networks runs."""
        return torch.autocast(self.name, dtype=torch.bfloat16, enabled=self.half)


def choose_device(name: str) -> Device:
    """The device called "cpu" or "cuda"; "auto" is a GPU where there is one.

    Raises:
        LearningError: no such device here.
    """
    there = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if there else "cpu"
    if name not in ("cpu", "cuda"):
        raise LearningError(f"no device '{name}': choose auto, cpu or cuda")
    if name == "cuda" and not there:
        raise LearningError("torch finds no CUDA device here: take --device cpu, or a CUDA build of torch")
    return Device(name)
