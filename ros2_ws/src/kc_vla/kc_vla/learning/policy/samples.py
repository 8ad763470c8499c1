"""What a policy learns from: every kept frame of all episodes, and which keyframes were known in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.files import replacing
from kc_vla.datasets.planned import PlannedEpisode, PlannedFolder, read_folder, read_planned
from kc_vla.keyframes.pictures import trunk_picture
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.config import PolicyConfig
from kc_vla.learning.policy.networks import Stem
from kc_vla.policy.numbers import ActionScale, place_numbers, state_numbers

_BATCH = 32
_STILL, _RESTS = 1e-3, 8
"""An action that moves less is none, m or rad; the expert waits where so many are none."""
_CLOSE, _STARTS = 8, 6
"""The gripper changes soon, control steps; so many frames after a wait are its end."""


@dataclass(frozen=True, eq=False)
class Samples:
    """P frames of all episodes, in order.

    Attributes:
        maps: (P, V, C, M, M) float16, of the pictures.
        states: (P, S), as the network sees them.
        actions: (P, H, A), scaled.
        plans: (P, H, A), in their own units.
        places: (P, PLACE).
        frames: (P,) index of the frame in its episode.
        episodes: (P,) which episode, counted over all.
        instructions: (P,) which instruction.
        waits: (P,) whether the expert waits.
        shares: (P,) how often a frame is drawn, relative to others of its task.
        keyframes: of each episode, the rows of its keyframes.
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
    scale: ActionScale

    def known(self, row: int, late: int, slots: int) -> NDArray[np.int64]:
        """The rows of the keyframes that are known in a frame, `late` frames after they were, oldest first.

        The frame itself is none of them. Where there are more than `slots`, the first and the newest are.
        """
        rows = self.keyframes[self.episodes[row]]
        rows = rows[self.frames[rows] < int(self.frames[row]) - late]
        return rows if len(rows) <= slots else np.concatenate([rows[:1], rows[len(rows) - slots + 1 :]])

    def beside(self, keyframe: int, row: int, most: int) -> NDArray[np.int64]:
        """The rows of frames that a selector might take for a keyframe: up to `most` after it, half as many before.

        None of them is later than the frame of `row`, which is of the same episode; nobody mistakes frame 0.
        """
        if self.frames[keyframe] == 0:
            return np.array([keyframe])
        begin, end = np.searchsorted(self.episodes, self.episodes[keyframe] + np.arange(2))
        frames, at = self.frames[begin:end], self.frames[keyframe]
        first = np.searchsorted(frames, at - most // 2)
        last = np.searchsorted(frames, min(at + most, self.frames[row] - 1), "right")
        return np.arange(begin + first, begin + max(last, first + 1))


def planned_folders(folder: Path) -> tuple[PlannedFolder, ...]:
    """The folder of episodes with plans, or all those below it, sorted by name.

    Raises:
        DataSetError: there is none, or one is not as it should be.
    """
    found = sorted(path for path in (folder, *folder.glob("[!.]*")) if (path / "collection.json").exists())
    if not found:
        raise DataError(f"there are no episodes with plans in {folder}: record some with kc-vla collect --plans")
    return tuple(read_folder(path) for path in found)


def pictures_of(folders: Sequence[PlannedFolder], size: int, number: int) -> list[NDArray[np.uint8]]:
    """At least `number` pictures of all cameras, spread over the folders and the time of their first episodes."""
    pictures: list[NDArray[np.uint8]] = []
    for folder in folders:
        for file in folder.files()[:4]:
            episode = read_planned(file)
            each = -(-number // (4 * len(folders) * len(episode.pictures)))
            for shown in episode.pictures.values():
                chosen = np.linspace(0, len(shown) - 1, each).astype(int)
                pictures += [trunk_picture(shown[index], size) for index in chosen]
    return pictures


def load_samples(
    folders: Sequence[PlannedFolder],
    instructions: Sequence[str],
    views: Sequence[str],
    stem: Stem,
    config: PolicyConfig,
    cache: Path,
    device: Device,
) -> Samples:
    """Read all episodes; the maps of their pictures are computed once and kept in `cache`.

    Raises:
        DataSetError: an episode cannot be read.
        DataError: one has other cameras, or an instruction that is not among `instructions`.
    """
    columns: dict[str, list[NDArray[np.generic]]] = {}
    keyframes: list[NDArray[np.int64]] = []
    rows = 0
    for file in tqdm([file for folder in folders for file in folder.files()], desc="pictures", unit="episode"):
        episode = read_planned(file)
        if set(views) - set(episode.pictures):
            raise DataError(f"{file} has the cameras {', '.join(episode.pictures)}, others have {', '.join(views)}")
        if episode.about["instruction"] not in instructions:
            raise DataError(f"{file}: the instruction '{episode.about['instruction']}' is not among those to learn")
        count = len(episode.frames)
        for name, values in _columns(episode).items():
            columns.setdefault(name, []).append(values)
        columns.setdefault("maps", []).append(_maps(file, episode, views, stem, config.image_size, cache, device))
        columns.setdefault("episodes", []).append(np.full(count, len(keyframes)))
        number = instructions.index(episode.about["instruction"])
        columns.setdefault("instructions", []).append(np.full(count, number))
        columns.setdefault("shares", []).append(_shares(episode, config))
        keyframes.append(np.searchsorted(episode.frames, episode.keyframes) + rows)
        rows += count
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    scale = ActionScale.of(joined["plans"])
    return Samples(actions=scale.scaled(joined["plans"]), keyframes=keyframes, scale=scale, **joined)


def _columns(episode: PlannedEpisode) -> dict[str, NDArray[np.generic]]:
    return {
        "states": state_numbers(episode.states),
        "plans": episode.plans,
        "places": place_numbers(episode.states, episode.places, episode.ahead),
        "frames": episode.frames,
        "waits": _waits(episode),
    }


def _waits(episode: PlannedEpisode) -> NDArray[np.bool_]:
    return np.asarray(np.abs(episode.plans[:, :_RESTS, :6]).max(axis=(1, 2)) < _STILL)


def _shares(episode: PlannedEpisode, config: PolicyConfig) -> NDArray[np.float64]:
    """How often each frame is drawn."""
    waits = _waits(episode)
    shares = np.where(waits, config.waiting, 1.0)
    for start in np.flatnonzero(waits[:-1] & ~waits[1:]) + 1:
        shares[start : start + _STARTS] *= config.starting
    return np.where((episode.ahead < _CLOSE) & ~waits, config.close, 1.0) * shares


def _maps(
    file: Path,
    episode: PlannedEpisode,
    views: Sequence[str],
    stem: Stem,
    size: int,
    cache: Path,
    device: Device,
) -> NDArray[np.float16]:
    """Maps (K, V, C, M, M) of an episode, out of the cache where they are there."""
    changed = file.stat()
    name = hashlib.sha256(f"{file.resolve()} {changed.st_mtime_ns} {changed.st_size}".encode()).hexdigest()[:20]
    kept = cache / f"{name}.npy"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        seen = np.stack([np.concatenate(list(_seen(stem, episode.pictures[v], size, device))) for v in views], 1)
        with replacing(kept) as part, part.open("wb") as out:
            np.save(out, seen)
    found: NDArray[np.float16] = np.load(kept)
    return found


def _seen(stem: Stem, pictures: NDArray[np.uint8], size: int, device: Device) -> Iterator[NDArray[np.float16]]:
    with torch.inference_mode():
        for start in range(0, len(pictures), _BATCH):
            batch = np.stack([trunk_picture(picture, size) for picture in pictures[start : start + _BATCH]])
            yield stem(torch.from_numpy(batch).to(device.torch)).half().cpu().numpy()
