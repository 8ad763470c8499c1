"""Memory and disk of a short-term memory with images, after many observations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
from tqdm import tqdm

from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.store import CropLimits, CropStore
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import Position, Unit

from .measuring import Table

_CAPACITY, _OBJECTS = 100, 1000


def measure(quick: bool, work: Path) -> Table:
    """Observe objects, each with a new crop of an image, and look at the process and the folder."""
    count = 5_000 if quick else 100_000
    rows = [row for folder in (None, work / "crops") for row in _rows(folder, count)]
    return Table(
        f"{count:,} observations with images",
        rows,
        [
            f"{_OBJECTS} objects, every third observation one of 20 of them, a memory of {_CAPACITY} units; each "
            "observation cuts 200x200 px out of an image of 640x480 and keeps 128x128 px.",
        ],
    )


def _rows(folder: Path | None, count: int) -> Iterator[dict[str, Any]]:
    memory, crops = ShortTermMemory(_CAPACITY), CropStore(folder, CropLimits(every_s=0.0))
    crops.follow(memory)
    coarse = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
    image = np.asarray(cv2.resize(coarse, (640, 480), interpolation=cv2.INTER_CUBIC), np.uint8)
    began = time.perf_counter()
    for at in tqdm(range(count), desc="crops", unit="observations"):
        name = f"Mug_{at % _OBJECTS if at % 3 else at % 20}"
        x, y = (at * 37) % 440, (at * 53) % 280
        reference = crops.put(name, image, PixelBox(x, y, x + 200, y + 200), float(at))
        memory.observe(Unit("Mug", name, Position(0, 0, 0), float(at), image=reference))
        if at + 1 in (count // 10, count // 2, count):
            files = [] if folder is None else [path.stat().st_size for path in folder.iterdir()]
            yield {
                "crops": "in memory" if folder is None else "in a folder",
                "observations": at + 1,
                "process, MB": round(psutil.Process().memory_info().rss / 1e6, 1),
                "crops kept": len(crops),
                "their size, KB": round(crops.size / 1e3),
                "on disk, KB": round(sum(files) / 1e3),
                "files": len(files),
                "time of one, ms": round((time.perf_counter() - began) / (at + 1) * 1e3, 2),
            }
    crops.close()
