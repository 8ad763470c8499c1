"""Drawn scenes of shapes with known boxes, colors, states and depth, as `kc-vla collect --detections` writes them."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.detections.folder import writing_scenes
from kc_vla.datasets.detections.labels import ImageLabel, ObjectLabel
from kc_vla.datasets.detections.scene_file import write_scene
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.vocabulary import DetectionVocabulary

WORDS = DetectionVocabulary(
    types=("ball", "box"),
    colors=("red", "blue"),
    states={"door": ("closed", "opened"), "cut": ("", "sliced")},
    groups={"box": ("door",), "ball": ("cut",)},
)
_RGB = {"red": (220, 40, 40), "blue": (40, 60, 220)}
_TABLE_M = 1.0
_BEHIND_M = {"ball": 0.02, "box": 0.05}


def write_drawn(
    folder: Path, seeds: range, images: int = 4, size: int = 64, words: DetectionVocabulary = WORDS
) -> None:
    """Fill a folder with a scene for each seed."""
    with writing_scenes(folder, {"split": folder.name}, words) as scenes:
        for seed in scenes.missing(seeds):
            chance = np.random.default_rng(seed)
            write_scene(scenes.file(seed), [drawn_image(chance, size) for _ in range(images)])


def drawn_image(chance: np.random.Generator, size: int) -> tuple[NDArray[np.uint8], NDArray[np.float32], ImageLabel]:
    """Return an image of two shapes on a gray table, its depth, and its label."""
    pixels = np.full((size, size, 3), int(chance.integers(90, 160)), np.uint8)
    depth = np.full((size, size), _TABLE_M, np.float32)
    matrix = np.array([[size, 0.0, size / 2], [0.0, size, size / 2], [0.0, 0.0, 1.0]])
    places = ((0.27, 0.5), (0.73, 0.5)) if chance.random() < 0.5 else ((0.5, 0.27), (0.5, 0.73))
    objects = []
    for index, place in enumerate(places):
        kind, color = str(chance.choice(["ball", "box"])), str(chance.choice(list(_RGB)))
        marked = bool(chance.random() < 0.5)
        radius = int(size * chance.uniform(0.09, 0.17))
        x, y = (int(size * (at + chance.uniform(-0.06, 0.06))) for at in place)
        # a shape of a fixed size is the larger the nearer it is
        middle = 0.1 * size / radius * 0.5
        _draw(pixels, depth, kind, color, marked, (x, y), radius, middle - _BEHIND_M[kind])
        surface = middle - _BEHIND_M[kind]
        objects.append(
            ObjectLabel(
                object_id=f"{kind}_{index}",
                object_type=kind,
                box=PixelBox(float(x - radius), float(y - radius), float(x + radius + 1), float(y + radius + 1)),
                visible_share=1.0,
                pixels=3 * radius * radius,
                center=(x + 0.5, y + 0.5),
                position=(
                    (x + 0.5 - size / 2) / size * middle,
                    (y + 0.5 - size / 2) / size * middle,
                    middle,
                ),
                size=(0.1, 0.1, 0.1),
                surface_m=surface,
                color=color,
                states={"door": "opened" if marked else "closed"}
                if kind == "box"
                else {"cut": "sliced" if marked else ""},
            )
        )
    return pixels, depth, ImageLabel("", "", "third_person", matrix, np.eye(4), (size, size), tuple(objects))


def _draw(
    pixels: NDArray[np.uint8],
    depth: NDArray[np.float32],
    kind: str,
    color: str,
    marked: bool,
    place: tuple[int, int],
    radius: int,
    surface: float,
) -> None:
    x, y = place
    corners = ((x - radius, y - radius), (x + radius, y + radius))
    for image, value in ((pixels, _RGB[color]), (depth, surface)):
        if kind == "ball":
            cv2.circle(image, place, radius, value, -1)
        else:
            cv2.rectangle(image, *corners, value, -1)
    if marked:
        cv2.rectangle(
            pixels, (x - radius // 2, y - radius // 2), (x + radius // 2, y + radius // 2), (245, 245, 245), -1
        )
