"""Keeps the maps of images between trainings, by what the images and the backbone are; see `samples.load_samples`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.home import cache_home
from kc_vla.datasets.planned import PlannedEpisode
from kc_vla.learning.policy.image_backbone import ImageBackbone

FOLDER = "KC_VLA_MAPS"
"""Environment variable that names another folder than that in the user's cache."""
MOST = 8 * 10**9
"""Bytes that are kept: what was used longest ago makes room."""
Maps = NDArray[np.float16]


def maps_folder() -> Path:
    """Return the folder of the maps; OSError where nothing says where the user's cache is."""
    return Path(named) if (named := os.environ.get(FOLDER)) else cache_home() / "kc_vla" / "maps"


class MapCache:
    """Maps of episodes, kept as files whose names tell their content: images, their size, and the backbone.

    So a training that was interrupted, one with other settings, and one of data that were moved or added to take over
    what is there. A file that is damaged is computed anew. Where nothing can be written, a line says so once.
    """

    def __init__(self, stem: ImageBackbone, views: Sequence[str], size: int, most: int = MOST) -> None:
        """Find the folder of the maps; nothing is kept where there is none.

        Args:
            stem: that makes the maps.
            views: whose images are kept.
            size: of the images that it sees, px.
            most: bytes kept.
        """
        self._views, self._size, self._most = tuple(views), size, most
        digest = hashlib.blake2b(f"{size} {' '.join(views)} {stem.with_colors}".encode())
        for name, values in sorted(stem.state_dict().items()):
            digest.update(name.encode() + values.cpu().numpy().tobytes())
        self._of_stem = digest.digest()
        self.found, self.computed, self._trouble = 0, 0, ""
        try:
            self._folder: Path | None = maps_folder()
            self._total = sum(file.stat().st_size for file in self._folder.glob("*.npy"))
        except OSError as error:
            self._folder = None
            self._tell(error)

    def get(self, episode: PlannedEpisode, kept_before: Path, compute: Callable[[], Maps]) -> Maps:
        """Return the maps (K, V, C, M, M) of an episode's K images.

        Args:
            episode: whose images they are.
            kept_before: a file with them that an earlier version may have left, which kept them with each run.
            compute: computes them where there are none.
        """
        count = len(episode.frames)
        file = None if self._folder is None else self._folder / f"{self._name(episode)}.npy"
        for each in (kept_before, file):
            if each is not None and (maps := _read(each, count, len(self._views))) is not None:
                self.found += 1
                return maps
        self.computed += 1
        maps = compute()
        if file is not None and not self._trouble:
            self._keep(file, maps)
        return maps

    def report(self) -> str:
        """Return what was taken over and what was computed, in words."""
        where = "" if self._folder is None else f", of {self._total / 1e9:.2f} GB in {self._folder}"
        return f"Maps of pictures: {self.found} episodes were there{where}; {self.computed} computed"

    def _name(self, episode: PlannedEpisode) -> str:
        digest = hashlib.blake2b(self._of_stem, digest_size=16)
        for view in self._views:
            pictures = np.ascontiguousarray(episode.pictures[view])
            digest.update(f"{view} {pictures.shape}".encode())
            digest.update(pictures.data)
        return digest.hexdigest()

    def _keep(self, file: Path, maps: Maps) -> None:
        part = file.with_name(f".{file.stem}.{os.getpid()}.part")  # another training may keep the same
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                with part.open("wb") as out:
                    np.save(out, maps)
                part.replace(file)
            finally:
                part.unlink(missing_ok=True)
            self._total += file.stat().st_size
            if self._total > self._most:
                self._make_room(file.parent)
        except OSError as error:
            self._tell(error)

    def _make_room(self, folder: Path) -> None:
        """Remove what was used longest ago, down to nine tenths of what may be kept."""
        told = sorted((file.stat().st_mtime_ns, file.stat().st_size, file) for file in folder.glob("*.npy"))
        self._total = sum(size for _, size, _ in told)
        for _, size, file in told:
            if self._total <= 0.9 * self._most:
                break
            file.unlink(missing_ok=True)
            self._total -= size

    def _tell(self, error: OSError) -> None:
        self._trouble = str(error.strerror or error)
        tqdm.write(f"Maps of pictures are not kept ({self._trouble}): {FOLDER} names another folder for them")


def _read(file: Path, count: int, views: int) -> Maps | None:
    """Return the maps in a file, which is marked as used; None where there are none, or not of so many images."""
    try:
        found: Maps = np.load(file)
        os.utime(file)
    except (OSError, ValueError, EOFError):
        return None
    fits = found.dtype == np.float16 and found.ndim == 5 and found.shape[:2] == (count, views)
    return found if fits and np.isfinite(found).all() else None
