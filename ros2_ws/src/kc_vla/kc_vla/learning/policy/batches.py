"""Samples as tensors, and what the network gets wrong in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from kc_vla.learning.common.device import Device
from kc_vla.learning.policy.config import PolicyConfig
from kc_vla.learning.policy.networks import Policy, PresentState
from kc_vla.learning.policy.samples import PolicySamples, first_and_newest
from kc_vla.policy.history import KEYFRAMES, History, history_of

_OTHERWISE = 0.7
"""How far what runs already is off, of what actions spread."""
_MENDS = 0.2
"""Share of the remaining error that a step corrects, as in the expert's demonstrations."""


@dataclass(frozen=True, eq=False)
class Batch:
    """N samples on the device; of K keyframes that several have in common there is one row.

    Attributes:
        keyframe_maps: (K, V, C, M, M).
        keyframe_states: (K, S).
        which: (N, L) int64, rows of the keyframes that are known, oldest first; L is the network's slots, or, where
            it condenses them, as many as are known in any of the samples.
        present: (N, L) float, 1 where there is one.
        maps: (N, V, C, M, M).
        states: (N, S).
        instructions: (N,) int64.
        places: (N, P).
        rests: (N,) float, 1 where the expert stays where it is.
        actions: (N, H, A), scaled.
    """

    keyframe_maps: Tensor
    keyframe_states: Tensor
    which: Tensor
    present: Tensor
    maps: Tensor
    states: Tensor
    instructions: Tensor
    places: Tensor
    rests: Tensor
    actions: Tensor


def make_batch(
    samples: PolicySamples,
    config: PolicyConfig,
    rows: NDArray[np.int64],
    device: Device,
    chance: np.random.Generator | None = None,
) -> Batch:
    """Return the samples of these rows, with the chances of learning, or without `chance` as they are."""
    late = np.zeros(len(rows), int) if chance is None else chance.integers(0, config.latest, len(rows))
    history = history_of(config.history)
    known = [_known(samples, history, row, int(n)) for row, n in zip(rows, late, strict=True)]
    if chance is not None and history == KEYFRAMES:
        known = [_mistaken(samples, config, row, each, chance) for row, each in zip(rows, known, strict=True)]
    if config.condensed:
        room = max(1, *map(len, known))
    else:
        room = config.slots
        known = [first_and_newest(each, room) for each in known]
    unique, inverse = np.unique(np.concatenate([*known, rows[:1]]), return_inverse=True)  # at least one row
    which = np.zeros((len(rows), room), np.int64)
    present = np.zeros((len(rows), room), np.float32)
    begin = 0
    for index, each in enumerate(known):
        which[index, : len(each)] = inverse[begin : begin + len(each)]
        present[index, : len(each)] = 1
        begin += len(each)
    states = samples.states[rows]
    if chance is not None:
        states = states + chance.normal(0, config.state_noise, states.shape).astype(np.float32)

    def on_device(values: NDArray[Any]) -> Tensor:
        tensor = torch.from_numpy(values)
        return (tensor.float() if tensor.is_floating_point() else tensor).to(device.torch)

    def noisy(maps: NDArray[np.float16]) -> Tensor:
        shown = on_device(maps)
        if chance is None or config.map_noise == 0:
            return shown
        generator = torch.Generator(device.torch).manual_seed(int(chance.integers(2**31)))
        return shown + config.map_noise * torch.randn(shown.shape, generator=generator, device=device.torch)

    return Batch(
        keyframe_maps=noisy(samples.maps[unique]),
        keyframe_states=on_device(samples.states[unique]),
        which=on_device(which),
        present=on_device(present),
        maps=noisy(samples.maps[rows]),
        states=on_device(states),
        instructions=on_device(samples.instructions[rows]),
        places=on_device(samples.places[rows]),
        rests=on_device(samples.waits[rows].astype(np.float32)),
        actions=on_device(samples.actions[rows]),
    )


def _known(samples: PolicySamples, history: History, row: int, late: int) -> NDArray[np.int64]:
    """Return the rows of what is given of the past, oldest first."""
    if history.strided:
        return samples.before(row, history)
    return samples.known(row, late) if history.remembers else np.empty(0, np.int64)


def _mistaken(
    samples: PolicySamples, config: PolicyConfig, row: int, known: NDArray[np.int64], chance: np.random.Generator
) -> NDArray[np.int64]:
    """Return keyframes as a selector finds them: in half of the cases some frames off, at times false ones."""
    if config.shifted > 0 and chance.random() >= 0.5:
        known = np.array([chance.choice(samples.beside(each, row, config.shifted)) for each in known], np.int64)
    if chance.random() < config.invented:
        known = with_a_false_one(known, row, chance)
    return with_superfluous(samples, known, row, config.superfluous, chance) if config.superfluous > 0 else known


def with_a_false_one(known: NDArray[np.int64], row: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """Return the known keyframes with a false one, which ends the phase.

    It is a frame after the newest one, or before it in its place.
    """
    in_place = len(known) > 1 and chance.random() < 0.5
    true, end = (known[:-1], int(known[-1])) if in_place else (known, row)
    if len(true) == 0 or true[-1] + 1 >= end:
        return known
    return np.append(true, chance.integers(true[-1] + 1, end))


def with_superfluous(
    samples: PolicySamples, known: NDArray[np.int64], row: int, most: int, chance: np.random.Generator
) -> NDArray[np.int64]:
    """Return the known keyframes, in half of the cases with up to `most` earlier frames of the episode among them."""
    first = samples.first(row)
    if chance.random() < 0.5 or row - first < 2:
        return known
    return np.union1d(known, chance.integers(first + 1, row, chance.integers(1, most + 1)))


def know(policy: Policy, batch: Batch) -> PresentState:
    """Return what `policy` makes of each sample."""
    remembered, present = policy.memory(batch.keyframe_maps, batch.keyframe_states)[batch.which], batch.present
    if policy.condense is not None:
        remembered, present = policy.condense(remembered, present, batch.instructions)
    known: PresentState = policy.situation(remembered, present, batch.maps, batch.states, batch.instructions)
    return known


def losses(
    policy: Policy, batch: Batch, most_frozen: int, deltas: int, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the mean errors of the velocity, of the next place, and of whether to rest.

    That of the velocity counts where no action runs already.

    In half of the samples, by chance, up to `most_frozen` actions run already when the answer comes: they are given
    (training-time real-time chunking), as another chunk began them: see `begun_otherwise`.
    """
    known = know(policy, batch)
    place = functional.smooth_l1_loss(known.place.float(), batch.places, beta=0.1)
    rest = functional.binary_cross_entropy_with_logits(known.rest.float(), batch.rests)
    count, horizon, _ = batch.actions.shape
    device = batch.actions.device
    time = torch.rand(count, generator=generator).to(device)
    noise = torch.randn(batch.actions.shape, generator=generator).to(device)
    late = torch.randint(1, max(most_frozen, 1) + 1, (count,), generator=generator)
    late = torch.where(torch.rand(count, generator=generator) < (0.5 if most_frozen else 0.0), late, 0).to(device)
    runs = (torch.arange(horizon, device=device)[None] < late[:, None]).float()
    actions = begun_otherwise(batch.actions, late, deltas, generator)
    on_the_way = torch.lerp(noise, actions, time[:, None, None])
    noisy = torch.where(runs[..., None] > 0, actions, on_the_way)
    velocity = policy.flow(noisy, time, known.condition, actions * runs[..., None], runs)
    free = (1 - runs)[..., None]
    error = ((velocity.float() - (actions - noise)) ** 2 * free).sum()
    return error / (free.sum() * actions.shape[-1]), place, rest


def begun_otherwise(actions: Tensor, late: Tensor, deltas: int, generator: torch.Generator) -> Tensor:
    """Return actions (N, H, A), scaled, as they are where another chunk ran the first `late` (N,) of them.

    What runs while a policy thinks comes from its answer before, which was not this one. Who was only ever given the
    beginning of the very actions to tell reads the rest off it, and goes on with its own mistakes. So what runs is off,
    by chance, and each step after it corrects a share of that: of the first `deltas` numbers, which add up.
    """
    count, horizon, size = actions.shape
    after = torch.arange(horizon, device=actions.device)[None, :, None] - late[:, None, None]
    off = _OTHERWISE * torch.randn((count, 1, size), generator=generator).to(actions.device) * (after < 0)
    off[..., deltas:] = 0.0
    mends = _MENDS * (1 - _MENDS) ** after.clamp(min=0) * (after >= 0)
    return actions + off - off.sum(dim=1, keepdim=True) * mends
