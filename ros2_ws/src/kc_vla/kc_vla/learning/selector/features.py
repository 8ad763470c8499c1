"""Backbone features of whole episodes, computed once and kept, because Stage II freezes the backbone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.files import digest, replacing
from kc_vla.keyframes.image_crop import Picture
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.parallel import on_all_cores
from kc_vla.learning.selector.recordings import LabeledEpisode

Features = NDArray[np.float32]
_BATCH = 64


def trunk_features(trunk: Backbone, pictures: Iterable[Picture], device: Device) -> Features:
    """Return features (T, 512) of T images (S, S, 3) of the backbone as it is at run time.

    Nothing in it learns or drifts.
    """
    trunk.eval()
    parts = []
    with torch.inference_mode(), device.autocast():
        for batch in _batches(pictures):
            seen = trunk(torch.from_numpy(batch).to(device.torch))
            parts.append(seen.float().cpu().numpy())
    return np.concatenate(parts)


def file_features(trunk: onnxruntime.InferenceSession, pictures: Iterable[Picture]) -> Features:
    """Return the same of an exported backbone, as it runs on the robot."""
    return np.concatenate([trunk.run(None, {"pictures": batch})[0] for batch in _batches(pictures)])


def cached_features(
    recordings: Sequence[LabeledEpisode],
    size: int,
    compute: Callable[[Iterable[Picture]], Features],
    folder: Path,
    title: str,
) -> list[Features]:
    """Return features (T, 512) of each recording, from `folder` where they are there already.

    As many are computed at a time as there are cores.

    Args:
        recordings: what to look at.
        size: px of the images.
        compute: the backbone.
        folder: for one backbone, one size and one split only; see `weights_name` and `file_name`.
        title: of the progress bar.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def one(recording: LabeledEpisode) -> Features:
        path = folder / f"{quote(recording.name.replace(' ', '_'), safe='')}-{digest(recording.changed)[:12]}.npy"
        if not path.exists():
            with replacing(path) as part, part.open("wb") as file:
                np.save(file, compute(recording.pictures(size)).astype(np.float16))
        return np.asarray(np.load(path), np.float32)

    return list(tqdm(on_all_cores(one, recordings), desc=title, unit="episode", total=len(recordings)))


def weights_name(trunk: Backbone) -> str:
    """Return a short name that changes with any weight of the backbone."""
    whole = hashlib.sha256()
    for name, weight in sorted(trunk.state_dict().items()):
        whole.update(name.encode())
        whole.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return whole.hexdigest()[:16]


def file_name(trunk: Path) -> str:
    """Return the same of an exported backbone."""
    return digest(trunk.read_bytes())


def _batches(pictures: Iterable[Picture]) -> Iterator[NDArray[np.uint8]]:
    rest = iter(pictures)
    while batch := list(islice(rest, _BATCH)):
        yield np.stack(batch)
