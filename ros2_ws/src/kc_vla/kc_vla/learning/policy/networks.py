"""The networks of the policy: what is remembered of an image's map, what the robot knows, and what it does next.

Keyframe-Chaining VLA gives a large model the keyframes as images within a structured prompt (section 4.3). Here the
prompt becomes structure: the role of an image (history i or current), its view and its place in the order are
embedded. What is known bends the look at the present (`_Look`), so that memory decides what is looked for; where the
next place is, is predicted, and is an input of the part that makes the actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from kc_vla.learning.policy.condensing import Condense
from kc_vla.learning.policy.matching import COLORS, KEPT, Match, stand_out

_CLOSE = 6.0
"""Factor by which differences of states are enlarged, beside themselves."""

STEPS = 4
"""Steps of Euler's method from noise to a chunk."""


@dataclass(frozen=True)
class Sizes:
    """How large the policy is.

    Attributes:
        map: side of an image's map.
        channels: of a map, those of colors, which are the last ones, included.
        views: cameras.
        slots: keyframes that it attends to at most, or tokens that stand for all of them.
        instructions: that it knows.
        state: numbers of a robot's state as the network sees it.
        action: numbers of an action.
        horizon: actions of a chunk.
        width: of the condition.
        place: numbers of a place, see `kc_vla.policy.numbers`.
        condensed: whether any number of keyframes becomes `slots` tokens, see `Condense`.
        structured: whether it gets the phase of each keyframe; see `Situation`.
        colors: whether what stands out by its color in a keyframe is looked for; see `Match`.
    """

    map: int
    channels: int
    views: int
    slots: int
    instructions: int
    state: int
    action: int
    horizon: int
    width: int = 256
    place: int = 8
    condensed: bool = False
    structured: bool = True
    colors: bool = False

    @property
    def kept(self) -> int:
        """Return numbers of a memory that are what stood out by its color; see `stand_out`."""
        return self.views * KEPT if self.colors else 0


class KeyframeEncoder(nn.Module):
    """A keyframe's maps of all views to what is remembered of it; computed once, when it is kept."""

    def __init__(self, sizes: Sizes, dropout: float, numbers: int = 96) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.convolve = nn.Sequential(
            nn.Conv2d(sizes.channels + 2, 48, 3, 2, 1),
            nn.SiLU(),
            nn.Conv2d(48, 64, 3, 2, 1),
            nn.SiLU(),
        )
        side = (sizes.map + 3) // 4
        self.project = nn.Linear(64 * side * side * sizes.views + sizes.state, numbers)
        self.kept = sizes.kept
        self.numbers = numbers + self.kept + sizes.state
        self._grid = _Grid(sizes.map)

    def forward(self, maps: Tensor, state: Tensor) -> Tensor:
        """Map maps (N, V, C, M, M) and states (N, S) of keyframes to (N, numbers).

        The last S numbers are the states.
        """
        n, views = maps.shape[:2]
        x = self.convolve(self._grid(maps.flatten(0, 1))).reshape(n, views, -1).flatten(1)
        kept = [stand_out(maps[:, :, -COLORS:])] if self.kept else []
        return torch.cat([self.project(torch.cat([self.drop(x), state], 1)), *kept, state], 1)


class PresentState(NamedTuple):
    """What the robot knows now.

    Attributes:
        condition: (N, width).
        place: (N, P), where it believes the next place to be.
        rest: (N,), logit of whether to stay where it is for now. A flow that has to say "nothing" drifts.
    """

    condition: Tensor
    place: Tensor
    rest: Tensor


class Situation(nn.Module):
    """Keyframes, images, measured state and instruction to one vector.

    The structured prompt of the paper (section 4.3, appendix C) says which image is history i of n. Here a keyframe
    has its embedding and its place in the order; without structure (table 3) it has neither, and what it says goes
    into a mean.
    """

    def __init__(self, sizes: Sizes, numbers: int, dropout: float) -> None:
        super().__init__()
        width = sizes.width
        self.drop = nn.Dropout(dropout)
        self.instruction = nn.Embedding(sizes.instructions, 64)
        self.structured = sizes.structured
        self.order = nn.Parameter(torch.randn(sizes.slots, 32) * 0.1)
        self.remember = nn.Sequential(
            nn.Linear(numbers + 32 + 64 + 2 * sizes.state, 192), nn.SiLU(), nn.Linear(192, 192)
        )
        self.slots = sizes.slots
        # Each keyframe keeps its place in the order; an attention over so few would have to learn that first.
        self.gather = nn.Sequential(nn.Linear(192 * sizes.slots + 64 + sizes.state, width), nn.SiLU())
        self.looks = nn.ModuleList(_Look(sizes, width, dropout) for _ in range(sizes.views))
        seen = sum(cast(_Look, look).numbers for look in self.looks)
        self.match = Match(sizes.slots, sizes.views, 64, sizes.map) if sizes.colors else None
        found = self.match.numbers if self.match else 0
        self.kept = sizes.kept
        self.mix = _Mlp(width + seen + sizes.state + 64 + found, width, width)
        self.place = nn.Sequential(nn.Linear(width + found, width), nn.SiLU(), nn.Linear(width, sizes.place))
        self.feed_back = _Mlp(width + sizes.place, width, width)
        self.rest = nn.Linear(width, 1)

    def forward(
        self, memory: Tensor, present: Tensor, maps: Tensor, state: Tensor, instruction: Tensor
    ) -> PresentState:
        """Return the condition for a chunk, and the predictions of the next place and of rest.

        Args:
            memory: (N, slots, numbers) of the keyframes, oldest first, or of the tokens.
            present: (N, slots) float, 1 where there is a keyframe.
            maps: (N, V, C, M, M) of the current images.
            state: (N, S), normalized.
            instruction: (N,) int64.
        """
        asked = self.instruction(instruction)
        order = (self.order if self.structured else torch.zeros_like(self.order)).expand(len(memory), -1, -1)
        # Where the robot was then, seen from where it is: where a cube was put down, where it waits.
        away = memory[..., -state.shape[1] :] - state[:, None]
        then = [self.drop(memory), order, asked[:, None].expand(-1, self.slots, -1), away, torch.tanh(_CLOSE * away)]
        each = self.remember(torch.cat(then, -1)) * present[..., None]
        if not self.structured:
            each = (each.sum(1, keepdim=True) / present.sum(1).clamp(min=1)[:, None, None]).expand(each.shape)
        context = self.gather(torch.cat([each.flatten(1), asked, state], 1))
        seen = [look(maps[:, view], context) for view, look in enumerate(self.looks)]
        found: list[Tensor] = []
        if self.match is not None:
            own = memory.shape[-1] - state.shape[1]
            found = [self.match(memory[..., own - self.kept : own], present, maps[:, :, -COLORS:], asked)]
        mixed = self.drop(self.mix(torch.cat([context, *seen, state, asked, *found], 1)))
        place = self.place(torch.cat([mixed, *found], 1))
        condition = self.feed_back(torch.cat([mixed, place], 1))
        return PresentState(condition, place, self.rest(condition).squeeze(1))


class _Look(nn.Module):
    """A view's map to keypoints, and a coarse impression, in the light of a context."""

    def __init__(self, sizes: Sizes, context: int, dropout: float, points: int = 32) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.first = nn.Conv2d(sizes.channels + 2, 64, 3, 1, 1)
        self.bend = nn.Linear(context, 128)
        self.second = nn.Conv2d(64, 64, 3, 1, 1)
        self.points = nn.Conv2d(64, points, 1)
        self.coarse = nn.Sequential(nn.Conv2d(64, 16, 3, 2, 1), nn.SiLU())
        side = (sizes.map + 1) // 2
        self.impression = nn.Linear(16 * side * side, 64)
        self.numbers = 3 * points + 64
        self._grid = _Grid(sizes.map)

    def forward(self, maps: Tensor, context: Tensor) -> Tensor:
        """Map (N, C, M, M) and (N, context) to (N, numbers): place and presence of each keypoint, and impression."""
        x = self.first(self._grid(maps))
        scale, offset = self.bend(context)[..., None, None].chunk(2, 1)
        x = functional.silu(x * (1 + scale) + offset)
        x = functional.silu(self.second(x)) + x
        heat = self.points(x).flatten(2)
        share = heat.softmax(-1)
        grid = self._grid.places.flatten(1)  # (2, M M)
        where = torch.einsum("nkp,dp->nkd", share, grid)
        strength = torch.einsum("nkp,nkp->nk", share, heat)
        return torch.cat([where.flatten(1), strength / 4, self.impression(self.drop(self.coarse(x).flatten(1)))], 1)


class Flow(nn.Module):
    """The velocity field of a chunk from noise to actions (rectified flow, Liu et al., 2022)."""

    def __init__(self, sizes: Sizes, width: int = 512) -> None:
        super().__init__()
        chunk = sizes.horizon * sizes.action
        # the actions that run while the policy thinks are given, and which of them
        self.enter = nn.Linear(2 * chunk + sizes.horizon + sizes.width + 32, width)
        self.blocks = nn.ModuleList(_Block(width, sizes.width) for _ in range(3))
        self.leave = nn.Linear(width, chunk)

    def forward(self, noisy: Tensor, time: Tensor, condition: Tensor, frozen: Tensor, runs: Tensor) -> Tensor:
        """Return the velocity (N, H, A) of `noisy` (N, H, A) at `time` (N,) in 0..1.

        Args:
            noisy: chunk between noise (time 0) and actions (time 1).
            time: see above.
            condition: (N, width).
            frozen: (N, H, A), actions that will have run, 0 elsewhere.
            runs: (N, H) float, 1 for those.
        """
        angles = time[:, None] * torch.pi * 2.0 ** torch.arange(16, device=time.device)[None] / 8
        x = self.enter(torch.cat([noisy.flatten(1), frozen.flatten(1), runs, condition, angles.sin(), angles.cos()], 1))
        for block in self.blocks:
            x = block(x, condition)
        return cast(Tensor, self.leave(functional.silu(x))).view_as(noisy)


class Policy(nn.Module):
    """All that learns."""

    def __init__(self, sizes: Sizes, dropout: float = 0.0) -> None:
        """Make networks with fresh weights.

        Args:
            sizes: of the networks.
            dropout: while it learns, of what reveals one episode from another.
        """
        super().__init__()
        self.sizes = sizes
        self.memory = KeyframeEncoder(sizes, dropout)
        self.condense = Condense(sizes.slots, self.memory.numbers, sizes.instructions) if sizes.condensed else None
        self.situation = Situation(sizes, self.memory.numbers, dropout)
        self.flow = Flow(sizes)


class _Block(nn.Module):
    def __init__(self, width: int, condition: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.bend = nn.Linear(condition, 2 * width)
        self.inner = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        scale, offset = self.bend(condition).chunk(2, 1)
        return cast(Tensor, x + self.inner(self.norm(x) * (1 + scale) + offset))


class _Mlp(nn.Sequential):
    def __init__(self, inputs: int, inner: int, outputs: int) -> None:
        super().__init__(nn.Linear(inputs, inner), nn.SiLU(), nn.Linear(inner, outputs), nn.SiLU())


class _Grid(nn.Module):
    """Tells a map where its pixels are."""

    places: Tensor

    def __init__(self, side: int) -> None:
        super().__init__()
        line = torch.linspace(-1, 1, side)
        self.register_buffer("places", torch.stack(torch.meshgrid(line, line, indexing="xy")), persistent=False)

    def forward(self, maps: Tensor) -> Tensor:
        return torch.cat([maps, self.places.expand(len(maps), -1, -1, -1)], 1)


def draw_chunks(
    flow: Flow,
    noise: Tensor,
    condition: Tensor,
    frozen: Tensor | None = None,
    runs: Tensor | None = None,
    steps: int = STEPS,
) -> Tensor:
    """Return scaled chunks (N, H, A) out of `noise` of that shape, by Euler steps along the learned velocity.

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
