"""What a policy learns from: the kept frames of all episodes, the keyframes known in each, and what is held out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.datasets.planned import PlannedEpisode
from kc_vla.keyframes.image_crop import trunk_picture
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.config import PolicyConfig
from kc_vla.learning.policy.demonstrated import RESTS
from kc_vla.learning.policy.image_backbone import ImageBackbone
from kc_vla.learning.policy.map_cache import MapCache
from kc_vla.learning.policy.material import Material
from kc_vla.policy.history import History
from kc_vla.policy.numbers import ActionScale, Space, space_of

_BATCH = 32
_CLOSE, _STARTS = 8, 6
"""The gripper changes soon, control steps; so many frames after a wait are its end."""


@dataclass(frozen=True, eq=False)
class PolicySamples:
    """P frames of all episodes, in order.

    Attributes:
        maps: (P, V, C, M, M) float16, of the images.
        states: (P, S), as the network sees them.
        actions: (P, H, A), scaled.
        plans: (P, H, A), as they are learned, in their own units.
        places: (P, G), see `Space.place_numbers`.
        frames: (P,) index of the frame in its episode.
        episodes: (P,) which episode, counted over all.
        instructions: (P,) which instruction.
        waits: (P,) whether the expert waits.
        shares: (P,) how often a frame is drawn, relative to others of its task; 0 for one that is only remembered.
        keyframes: of each episode, the rows of its keyframes.
        names: of each episode, see `material.EpisodeSource`.
        scale: of the actions.
    """

    maps: NDArray[np.float16]
    states: NDArray[np.float32]
    actions: NDArray[np.float32]
    plans: NDArray[np.float32]
    places: NDArray[np.float32]
    frames: NDArray[np.int64]
    episodes: NDArray[np.int64]
    instructions: NDArray[np.int64]
    waits: NDArray[np.bool_]
    shares: NDArray[np.float64]
    keyframes: Sequence[NDArray[np.int64]]
    names: Sequence[str]
    scale: ActionScale

    def known(self, row: int, late: int) -> NDArray[np.int64]:
        """Return the rows of the keyframes that are known in a frame, `late` frames after they were, oldest first.

        The frame itself is none of them.
        """
        rows = self.keyframes[self.episodes[row]]
        known: NDArray[np.int64] = rows[self.frames[rows] < int(self.frames[row]) - late]
        return known

    def first(self, row: int) -> int:
        """Return the first row of the episode of a row."""
        return int(np.searchsorted(self.episodes, self.episodes[row]))

    def before(self, row: int, history: History) -> NDArray[np.int64]:
        """Return the rows of the frames at a stride before that of a row; see `kept_before`."""
        begin, end = np.searchsorted(self.episodes, self.episodes[row] + np.arange(2))
        return int(begin) + kept_before(self.frames[begin:end], row - int(begin), history)

    def in_units_of(self, scale: ActionScale) -> PolicySamples:
        """Return the same with the actions in other units; the range of what was learned from grows to that of both."""
        lowest = tuple(map(min, scale.lowest, self.scale.lowest))
        both = replace(scale, lowest=lowest, highest=tuple(map(max, scale.highest, self.scale.highest)))
        return replace(self, actions=both.scaled(self.plans), scale=both)

    def beside(self, keyframe: int, row: int, most: int) -> NDArray[np.int64]:
        """Return the rows of frames that a selector might take for a keyframe.

        They are up to `most` frames after it, or half as many before.

        None of them is later than the frame of `row`, which is of the same episode; nobody mistakes frame 0.
        """
        if self.frames[keyframe] == 0:
            return np.array([keyframe])
        begin, end = np.searchsorted(self.episodes, self.episodes[keyframe] + np.arange(2))
        frames, at = self.frames[begin:end], self.frames[keyframe]
        first = np.searchsorted(frames, at - most // 2)
        last = np.searchsorted(frames, min(at + most, self.frames[row] - 1), "right")
        return np.arange(begin + first, begin + max(last, first + 1))


def kept_before(frames: NDArray[np.int64], index: int, history: History) -> NDArray[np.int64]:
    """Return where the frames at a stride before `frames[index]` are in `frames`, ascending.

    The nearest of those that are there count.

    All of them are before it.
    """
    earlier = frames[:index]
    if not len(earlier):
        return np.empty(0, np.int64)
    found = [int(np.abs(earlier - wanted).argmin()) for wanted in history.frames(int(frames[index]))]
    return np.unique(np.array(found, np.int64))


def first_and_newest(keyframes: NDArray[np.int64], slots: int) -> NDArray[np.int64]:
    """Return those of the keyframes, oldest first, for which there is room."""
    return keyframes if len(keyframes) <= slots else np.delete(keyframes, slice(1, len(keyframes) - slots + 1))


def pictures_of(material: Material, size: int, number: int) -> list[NDArray[np.uint8]]:
    """Return at least `number` images of all cameras, evenly from the first episodes of all tasks."""
    pictures: list[NDArray[np.uint8]] = []
    tasks = material.instructions
    for task in tasks:
        firsts = [episode for episode in material.episodes if episode.instruction == task][:4]
        for episode in (source.read(size) for source in firsts):
            each = -(-number // (len(firsts) * len(tasks) * len(material.views)))
            for view in material.views:
                shown = episode.pictures[view]
                chosen = np.linspace(0, len(shown) - 1, each).astype(int)
                pictures += [trunk_picture(shown[index], size) for index in chosen]
    return pictures


def load_samples(
    material: Material,
    instructions: Sequence[str],
    stem: ImageBackbone,
    config: PolicyConfig,
    before: Path,
    device: Device,
) -> PolicySamples:
    """Read all episodes; the maps of their images are computed once and kept, see `MapCache`.

    Earlier versions kept them in the folder `before` of the run.

    Raises:
        DataSetError: an episode cannot be read.
        DataError: one has other cameras.
    """
    columns: dict[str, list[NDArray[np.generic]]] = {}
    keyframes: list[NDArray[np.int64]] = []
    rows = 0
    space, views = space_of(material.robot, material.action), material.views
    cache = MapCache(stem, views, config.image_size)
    for source in tqdm(material.episodes, desc="pictures", unit="episode"):
        episode = source.read(config.image_size)
        if missing := set(views) - set(episode.pictures):
            raise DataError(f"an episode of '{source.instruction}' has no images of {', '.join(sorted(missing))}")
        count = len(episode.frames)
        for name, values in _columns(episode, space).items():
            columns.setdefault(name, []).append(values)
        maps = _maps(source.key, episode, views, stem, config.image_size, before, device, cache)
        columns.setdefault("maps", []).append(maps)
        columns.setdefault("episodes", []).append(np.full(count, len(keyframes)))
        columns.setdefault("instructions", []).append(np.full(count, instructions.index(source.instruction)))
        columns.setdefault("shares", []).append(_shares(episode, columns["waits"][-1].astype(bool), config))
        keyframes.append(np.searchsorted(episode.frames, episode.keyframes) + rows)
        rows += count
    tqdm.write(cache.report())
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    scale = ActionScale.of(joined["plans"])
    names = [source.name for source in material.episodes]
    return PolicySamples(actions=scale.scaled(joined["plans"]), keyframes=keyframes, names=names, scale=scale, **joined)


def held_out(samples: PolicySamples, share: float) -> NDArray[np.bool_]:
    """Return which rows are not learned from: episodes of each task, at least one of those that have two.

    Chance decides for each episode by its name alone. So one that is held out is so in every run that goes on from
    this one, too, whatever was recorded meanwhile.
    """
    held = np.zeros(len(samples.frames), bool)
    dealt = np.array([int(hashlib.sha256(name.encode()).hexdigest()[:12], 16) / 16**12 for name in samples.names])
    for instruction in np.unique(samples.instructions):
        episodes = np.unique(samples.episodes[samples.instructions == instruction])
        ordered = episodes[np.argsort(dealt[episodes], kind="stable")]
        count = min(max(1, int((dealt[episodes] < share).sum())), len(episodes) - 1)
        held |= np.isin(samples.episodes, ordered[:count])
    return held


def balanced(samples: PolicySamples, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of each row, the same for every instruction in sum."""
    shares = samples.shares[rows]
    sums = np.bincount(samples.instructions[rows], shares)
    shares = shares / sums[samples.instructions[rows]]
    return np.asarray(shares / shares.sum())


def _columns(episode: PlannedEpisode, space: Space) -> dict[str, NDArray[np.generic]]:
    return {
        "states": space.state_numbers(episode.states),
        "plans": np.asarray(space.learnt(episode.plans, episode.states), np.float32),
        "places": space.place_numbers(episode.states, episode.places, episode.ahead),
        "frames": episode.frames,
        "waits": space.motion(episode.plans)[:, :RESTS].max(axis=1) < space.still,
    }


def _shares(episode: PlannedEpisode, waits: NDArray[np.bool_], config: PolicyConfig) -> NDArray[np.float64]:
    """Return how often each frame is drawn."""
    shares = np.where(waits, config.waiting, 1.0)
    for start in np.flatnonzero(waits[:-1] & ~waits[1:]) + 1:
        shares[start : start + _STARTS] *= config.starting
    shares = np.where((episode.ahead < _CLOSE) & ~waits, config.close, 1.0) * shares
    return shares if episode.learnt is None else np.where(episode.learnt, shares, 0.0)


def _maps(
    key: str,
    episode: PlannedEpisode,
    views: Sequence[str],
    stem: ImageBackbone,
    size: int,
    before: Path,
    device: Device,
    cache: MapCache,
) -> NDArray[np.float16]:
    """Return the maps (K, V, C, M, M) of an episode, out of the cache where they are there."""
    what = f"{key} {size} {' '.join(views)}" + (" colors" if stem.with_colors else "")
    kept_before = before / f"{hashlib.sha256(what.encode()).hexdigest()[:20]}.npy"

    def compute() -> NDArray[np.float16]:
        return np.stack([np.concatenate(list(_seen(stem, episode.pictures[v], size, device))) for v in views], 1)

    return cache.get(episode, kept_before, compute)


def _seen(stem: ImageBackbone, pictures: NDArray[np.uint8], size: int, device: Device) -> Iterator[NDArray[np.float16]]:
    with torch.inference_mode():
        for start in range(0, len(pictures), _BATCH):
            batch = np.stack([trunk_picture(picture, size) for picture in pictures[start : start + _BATCH]])
            yield stem(torch.from_numpy(batch).to(device.torch)).half().cpu().numpy()
