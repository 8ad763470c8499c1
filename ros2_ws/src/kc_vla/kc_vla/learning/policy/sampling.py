"""From noise to chunks: Euler steps along the learned velocity."""

from __future__ import annotations

import torch
from torch import Tensor

from kc_vla.learning.policy.networks import Flow

STEPS = 4


def draw_chunks(
    flow: Flow,
    noise: Tensor,
    condition: Tensor,
    frozen: Tensor | None = None,
    runs: Tensor | None = None,
    steps: int = STEPS,
) -> Tensor:
    """Return scaled chunks (N, H, A) out of `noise` of that shape.

    Args:
        flow: see `Flow`.
        noise: normal.
        condition: (N, width).
        frozen: (N, H, A), actions that will have run by then, which the chunk begins with.
        runs: (N, H) float, 1 for those.
        steps: of Euler's method.
    """
    frozen = torch.zeros_like(noise) if frozen is None else frozen
    runs = torch.zeros_like(noise[..., 0]) if runs is None else runs
    given = runs[..., None] > 0
    chunk = torch.where(given, frozen, noise)
    for step in range(steps):
        time = torch.full_like(noise[:, 0, 0], step / steps)
        chunk = torch.where(given, frozen, chunk + flow(chunk, time, condition, frozen, runs) / steps)
    return chunk
