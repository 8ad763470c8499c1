"""One scene as a file: its images, their depth, and a line of JSON for each image.

It is a zip archive, stored without compression and without times: `images.jsonl`, `000.png` (RGB), `000.depth.png`
(16 bits of gray, mm).
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipInfo

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.files import replacing
from kc_vla.datasets.detections.labels import ImageLabel, LabelError, label_as_dict, label_from
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.perception.vocabulary import DetectionVocabulary

Pixels = NDArray[np.uint8]
Depths = NDArray[np.float32]
_LABELS = "images.jsonl"
_AGAIN = "delete it and collect again, it is made anew"
_DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
_MOST_MM = 65535


def write_scene(path: Path, images: Sequence[tuple[Pixels, Depths | None, ImageLabel]]) -> None:
    """Write a scene whole or not at all.

    Args:
        path: of the file.
        images: each with its depth (H, W), m, and its label; the names of the files are given here.
    """
    lines = []
    with replacing(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        for index, (pixels, depth, label) in enumerate(images):
            image, of_depth = f"{index:03d}.png", f"{index:03d}.depth.png" if depth is not None else ""
            archive.writestr(ZipInfo(image), _png(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)))
            if depth is not None:
                archive.writestr(ZipInfo(of_depth), _png(_millimeters(depth)))
            lines.append(json.dumps(label_as_dict(replace(label, image=image, depth=of_depth))))
        archive.writestr(ZipInfo(_LABELS), "".join(f"{line}\n" for line in lines))


def read_labels(path: Path, vocabulary: DetectionVocabulary) -> list[ImageLabel]:
    """Return the labels of a scene's images.

    Raises:
        DataSetError: the file is cut off or damaged, or a label is none; the text says which file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            lines = archive.read(_LABELS).decode().splitlines()
            names = set(archive.namelist())
        found = [label_from(json.loads(line), vocabulary) for line in lines]
    except LabelError as error:
        raise DataSetError(f"{path}: {error}: collect with one version of the stack, or {_AGAIN}") from error
    except _DAMAGED as error:
        raise DataSetError(f"{path} cannot be read ({error}): {_AGAIN}") from error
    missing = {name for label in found for name in (label.image, label.depth) if name} - names
    if missing:
        raise DataSetError(f"{path} lacks {', '.join(sorted(missing))}: {_AGAIN}")
    return found


def read_pixels(path: Path, label: ImageLabel) -> Pixels:
    """Return an image (H, W, 3), RGB.

    Raises:
        DataSetError: it is cut off or damaged.
    """
    stored = _stored(path, label.image, cv2.IMREAD_COLOR)
    if stored.shape != (label.size[1], label.size[0], 3):
        raise DataSetError(f"{path}: {label.image} is not of {label.size[0]}x{label.size[1]} px: {_AGAIN}")
    return np.asarray(cv2.cvtColor(stored, cv2.COLOR_BGR2RGB), np.uint8)


def read_depth(path: Path, label: ImageLabel) -> Depths:
    """Return the depth (H, W) of an image, m; 0 where it is not known.

    Raises:
        DataSetError: there is none, or it is cut off or damaged.
    """
    if not label.depth:
        raise DataSetError(f"{path}: {label.image} has no depth: collect it with depth")
    return _stored(path, label.depth, cv2.IMREAD_UNCHANGED).astype(np.float32) * np.float32(1e-3)


def _stored(path: Path, name: str, how: int) -> NDArray[Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            data = archive.read(name)
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), how)
    except (*_DAMAGED, cv2.error) as error:
        raise DataSetError(f"{path}: {name} cannot be read ({error}): {_AGAIN}") from error
    if pixels is None:
        raise DataSetError(f"{path}: {name} is no image: {_AGAIN}")
    return pixels


def _png(pixels: NDArray[Any]) -> bytes:
    done, data = cv2.imencode(".png", pixels)
    if not done:
        raise DataSetError(f"an image of {pixels.shape} cannot be made a PNG")
    return bytes(data)


def _millimeters(depth: Depths) -> NDArray[np.uint16]:
    """Return depths in mm, 0 where they are not known or too far."""
    mm = np.nan_to_num(np.round(depth * 1e3), nan=0.0, posinf=0.0, neginf=0.0)
    return np.where((mm > 0) & (mm <= _MOST_MM), mm, 0).astype(np.uint16)
