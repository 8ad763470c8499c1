"""Any number of keyframes to a fixed number of tokens: what Keyframe-Chaining VLA leaves to future work."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

_OWN, _OTHERS = 6.0, -4.0
"""Logits that a token begins with, of the keyframe at its place and of all others: of 500 it takes 98 % of its own."""


class Condensed(NamedTuple):
    """What stands in the place of keyframes.

    Attributes:
        tokens: (N, T, R).
        present: (N, T) float, 1 where a token has something of a keyframe.
    """

    tokens: Tensor
    present: Tensor


class Condense(nn.Module):
    """Learned queries, other ones for each instruction, attend to all kept keyframes.

    They ask for places in the order as well as for contents, and begin as places alone: the first keyframe and the
    newest ones, which is all that is kept without this. So nothing has to be learned for a history that has room.
    Whatever a token takes of several keyframes is a mean of them, so that a token that has learned to be sure still
    says where the robot was.
    """

    def __init__(self, tokens: int, numbers: int, instructions: int, width: int = 64) -> None:
        """Make layers with fresh weights.

        Args:
            tokens: T to make.
            numbers: R of a keyframe.
            instructions: that are known.
            width: of a query.
        """
        super().__init__()
        self.tokens, self._scale = tokens, width**-0.5
        self.ask = nn.Embedding(instructions, tokens * width)
        nn.init.normal_(self.ask.weight, std=0.1)
        self.key = nn.Linear(numbers, width)
        own = torch.full((tokens, tokens + 1), _OTHERS)
        own[:, :tokens] += (_OWN - _OTHERS) * torch.eye(tokens)
        self.places = nn.Parameter(own)

    def forward(self, memory: Tensor, present: Tensor, instruction: Tensor) -> Condensed:
        """Map keyframes to tokens.

        Args:
            memory: (N, K, R), of the keyframes in order, oldest first, those that are there before all others.
            present: (N, K) float, 1 where there is a keyframe.
            instruction: (N,) int64.
        """
        count = present.sum(1, keepdim=True)
        place = torch.arange(memory.shape[1], device=memory.device)[None].to(present.dtype)
        newest = self.tokens - (count - place)  # its place counted from the end
        crowded = torch.where(newest >= 1, newest, torch.where(place == 0, 0.0, float(self.tokens)))
        at = torch.where(count <= self.tokens, place, crowded).clamp(0, self.tokens).long()
        asked = self.ask(instruction).view(len(memory), self.tokens, -1)
        logits = asked @ self.key(memory).transpose(1, 2) * self._scale + self.places[:, at].transpose(0, 1)
        shares = logits.masked_fill(present[:, None] == 0, -1e4).softmax(-1)
        there = (torch.arange(self.tokens, device=memory.device)[None] < count).to(present.dtype)
        return Condensed(shares @ memory, there)
