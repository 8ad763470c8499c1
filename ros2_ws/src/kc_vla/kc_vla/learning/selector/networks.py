"""The networks of the keyframe selector (paper, section 4.2): projection of Stage I, query head of Stage II."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from kc_vla.learning.common.backbone import FEATURES, Backbone

WIDTH = 128
HEADS = 4
EMBEDDING = 128
"""Size of the metric space of Stage I."""


class Projection(nn.Module):
    """Features to the unit sphere of the metric space. Only Stage I has it: the backbone alone goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, 256), nn.BatchNorm1d(256), nn.ReLU(inplace=True), nn.Linear(256, EMBEDDING)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Map (N, 512) to unit vectors (N, 128)."""
        return functional.normalize(self.layers(features), dim=1)


class Attention(nn.Module):
    """Multi-head attention with the residual and the norm after it, written out so that it exports to plain ONNX."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Let queries (N, Q, 128) look at keys (N, K, 128); the result has the queries' shape."""

        def split(x: Tensor) -> Tensor:
            return x.view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)

        q, k, v = split(self.query(queries)), split(self.key(keys)), split(self.value(keys))
        weights = torch.softmax(q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5, dim=-1)
        seen = (weights @ v).transpose(1, 2).flatten(2)
        return cast(Tensor, self.norm(queries + self.output(seen)))


class QueryHead(nn.Module):
    """A window of features, a task and a phase to a score: equations 2 to 5.

    Features are taken relative to the mean and spread of the training images'. The paper does not say so, but what
    distinguishes two moments of a task is small beside what all its images have in common.
    """

    mean: Tensor
    spread: Tensor

    def __init__(self, tasks: int, phases: int, window: int) -> None:
        """Make layers with fresh weights.

        Args:
            tasks: how many there are at most.
            phases: how many there are at most.
            window: features in a window.
        """
        super().__init__()
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("spread", torch.ones(FEATURES))
        self.reduce = nn.Linear(FEATURES, WIDTH)
        self.time = nn.Parameter(torch.randn(1, window, WIDTH) * 0.02)
        self.self_attention = Attention()
        self.task = nn.Embedding(tasks, WIDTH)
        self.phase = nn.Embedding(phases, WIDTH)
        self.film = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, 2 * WIDTH))
        self.cross_attention = Attention()
        self.score = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Dropout(0.3), nn.Linear(WIDTH, 1))

    def forward(self, features: Tensor, task: Tensor, phase: Tensor) -> Tensor:
        """Map features (N, window, 512), oldest first, task (N,) and phase (N,), int64, to logits (N,)."""
        seen = self.reduce((features - self.mean) / self.spread) + self.time
        seen = self.self_attention(seen, seen)
        gamma, beta = self.film(self.task(task)).chunk(2, dim=-1)
        query = gamma * self.phase(phase) + beta
        matched = self.cross_attention(query[:, None], seen)
        return cast(Tensor, self.score(matched[:, 0])[:, 0])

    def standardise(self, features: Tensor) -> None:
        """Take mean and spread from `features` (N, 512) of training images."""
        self.mean.copy_(features.mean(dim=0))
        self.spread.copy_(features.std(dim=0).clamp(min=1e-3))


class Selector(nn.Module):
    """Backbone and head as one network, for the baseline that learns both (paper, table 2, "Joint End-to-End")."""

    def __init__(self, trunk: Backbone, head: QueryHead) -> None:
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, pictures: Tensor, task: Tensor, phase: Tensor) -> Tensor:
        """Map images (N, window, H, W, 3), task (N,), phase (N,) to logits (N,)."""
        features = self.trunk(pictures.flatten(0, 1)).view(*pictures.shape[:2], FEATURES)
        return cast(Tensor, self.head(features, task, phase))
