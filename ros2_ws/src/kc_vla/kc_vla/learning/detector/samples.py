"""Training samples: an image in the network's square with its objects, changed by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.detections.folder import LabeledImage
from kc_vla.learning.detector.config import DetectorAugmentation, DetectorConfig
from kc_vla.learning.detector.matching import is_ignored
from kc_vla.learning.detector.targets import SampleObject
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.decoding import area, overlap
from kc_vla.perception.letterbox import inverse_depth, letterboxed

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
_GRAY = 114
_KEPT = 0.25
"""Share of an object's box from which it is still in a cropped or covered image."""
_CUTOUTS = (0.08, 0.3)
"""Sides of a covered rectangle, as shares of the image's."""


@dataclass(frozen=True, eq=False)
class Sample:
    """An image as the network gets it.

    Attributes:
        pixels: (S, S, 3), RGB.
        inverse_depth: (S, S), 1/m, 0 where it is not known.
        objects: in it.
    """

    pixels: Pixels
    inverse_depth: Floats
    objects: tuple[SampleObject, ...]


def plain_sample(image: LabeledImage, config: DetectorConfig) -> Sample:
    """Return an image in the network's square, unchanged; DataSetError where it cannot be read."""
    size = config.image_size
    square, placed = letterboxed(image.pixels(), size)
    label = image.label
    focal = float(label.matrix[0, 0]) * placed.scale / size
    depth = inverse_depth(image.depth_if_any(), float(label.matrix[0, 0]), placed, size)
    objects = []
    for each in label.objects:
        box = PixelBox(*(placed.scale * value for value in each.box))
        moved = PixelBox(box.left + placed.left, box.top + placed.top, box.right + placed.left, box.bottom + placed.top)
        x, y = each.center
        center = (placed.scale * x + placed.left, placed.scale * y + placed.top)
        ignored = is_ignored(each, config.least_share, config.least_pixels)
        objects.append(SampleObject(replace(each, box=moved, center=center), each.position[2] / focal, ignored))
    return Sample(square, depth, tuple(objects))


def changed_sample(sample: Sample, config: DetectorAugmentation, chance: np.random.Generator) -> Sample:
    """Return a sample that is enlarged, moved, mirrored and covered by chance, its depth with noise or left out.

    An enlarged image is that of a camera with a longer lens: what is relative to the focal length changes with it.
    """
    size = len(sample.pixels)
    scale = float(config.zoom ** chance.uniform(-1.0, 1.0))
    room = abs(1.0 - scale) * size
    shift = -room * chance.random(2) if scale > 1 else room * chance.random(2)
    flipped = chance.random() < config.flip
    matrix = np.array([[scale, 0.0, shift[0]], [0.0, scale, shift[1]]])
    if flipped:
        matrix[0] = [-scale, 0.0, size - shift[0]]
    edge = (_GRAY, _GRAY, _GRAY)
    of_middles = matrix.copy()  # OpenCV counts from the middle of the first pixel, boxes from its corner
    of_middles[:, 2] += 0.5 * matrix[:, :2].sum(axis=1) - 0.5
    pixels = np.asarray(cv2.warpAffine(sample.pixels, of_middles, (size, size), borderValue=edge), np.uint8)
    depth = np.zeros((size, size), np.float32)
    if chance.random() >= config.without_depth:
        moved_depth = cv2.warpAffine(sample.inverse_depth, of_middles, (size, size), flags=cv2.INTER_NEAREST)
        depth = np.asarray(scale * _noisy(np.asarray(moved_depth), config.depth_noise, chance), np.float32)
    moved = [_moved(each, matrix, scale, size) for each in sample.objects]
    kept = [each for each in moved if each is not None]
    if chance.random() < config.cutout:
        kept = _covered(pixels, depth, kept, chance)
    return Sample(pixels, depth, tuple(kept))


def _noisy(depth: Floats, most: float, chance: np.random.Generator) -> Floats:
    sigma = most * chance.random()
    return depth * (1.0 + np.float32(sigma) * chance.standard_normal(depth.shape, np.float32))


def _moved(each: SampleObject, matrix: NDArray[np.float64], scale: float, size: int) -> SampleObject | None:
    """Return an object of a moved image, or None where too little of it is left."""
    box = each.label.box
    corners = np.array([[box.left, box.top, 1.0], [box.right, box.bottom, 1.0]]) @ matrix.T
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    inside = PixelBox(max(x0, 0.0), max(y0, 0.0), min(x1, float(size)), min(y1, float(size)))
    whole = PixelBox(x0, y0, x1, y1)
    if inside.right <= inside.left or inside.bottom <= inside.top:
        return None
    ignored = each.ignored or area(inside) < _KEPT * area(whole)
    x, y = matrix @ (*each.label.center, 1.0)
    return SampleObject(replace(each.label, box=inside, center=(float(x), float(y))), each.depth_m / scale, ignored)


def _covered(
    pixels: Pixels, depth: Floats, objects: Sequence[SampleObject], chance: np.random.Generator
) -> list[SampleObject]:
    """Cover a rectangle of an image with noise about a color; what it hides for the most part is not asked for.

    Its depth is not known, as that of what shines or is too near for a camera.
    """
    size = len(pixels)
    wide, high = (int(size * chance.uniform(*_CUTOUTS)) for _ in range(2))
    left, top = int(chance.integers(0, size - wide)), int(chance.integers(0, size - high))
    noise = chance.integers(-12, 13, (high, wide, 3))
    pixels[top : top + high, left : left + wide] = np.clip(chance.integers(0, 256, 3) + noise, 0, 255)
    depth[top : top + high, left : left + wide] = 0.0
    cover = PixelBox(float(left), float(top), float(left + wide), float(top + high))
    return [replace(each, ignored=True) if _hides(cover, each.label.box) else each for each in objects]


def _hides(cover: PixelBox, box: PixelBox) -> bool:
    share = overlap(cover, box)  # of the union: that of the box follows from both areas
    both = share * (area(cover) + area(box)) / (1 + share)
    return both > (1 - 2 * _KEPT) * area(box)
