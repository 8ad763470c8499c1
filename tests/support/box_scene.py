"""Scenes of boxes and cylinders on a table, as a depth camera sees them, by casting a ray for each pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.projection import project, rays
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.image_detection import ImageDetection

Vector = tuple[float, float, float]
WIDTH, HEIGHT = 160, 120
MATRIX = np.array([[150.0, 0.0, 79.5], [0.0, 150.0, 59.5], [0.0, 0.0, 1.0]])
FRAME_NS = 100_000_000
LEAST_PIXELS = 12
"""A thing that shows less is not detected."""


@dataclass(frozen=True)
class Thing:
    """A solid on or above the table; its sides are along the axes where it is not turned about the vertical."""

    kind: str
    position: Vector
    size: Vector
    state: str = ""
    color: str = ""
    round: bool = False
    seen: bool = True
    """Whether the detector knows its class: a hand or a wall is never detected."""
    yaw: float = 0.0
    """Rad."""

    def at(self, x: float, y: float, z: float | None = None) -> Thing:
        """Return it somewhere else."""
        return replace(self, position=(x, y, self.position[2] if z is None else z))


def on_table(kind: str, x: float, y: float, size: Vector, **values: object) -> Thing:
    """Return a thing that stands on the table at height 0."""
    return replace(Thing(kind, (x, y, size[2] / 2), size), **values)  # type: ignore[arg-type]


def looking(eye: Vector, target: Vector = (0.0, 0.0, 0.0)) -> NDArray[np.float64]:
    """Return the pose of an optical frame that looks from a point at another one."""
    ahead = np.asarray(target, float) - eye
    ahead /= np.linalg.norm(ahead)
    up = np.array([0.0, 0.0, 1.0]) if abs(ahead[2]) < 0.99 else np.array([1.0, 0.0, 0.0])
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 1], pose[:3, 2], pose[:3, 3] = right, np.cross(ahead, right), ahead, eye
    return pose


ABOVE = looking((0.5, 0.0, 0.6))


@dataclass
class Shown:
    """What a camera sees of a scene: depth of each pixel, m, and which thing it shows (-1: the table, or nothing)."""

    depth: NDArray[np.float32]
    which: NDArray[np.int64]
    things: Sequence[Thing]

    def box(self, number: int) -> PixelBox | None:
        """Return the box of what can be seen of a thing; None where that is too little."""
        rows, columns = np.nonzero(self.which == number)
        if len(rows) < LEAST_PIXELS:
            return None
        return PixelBox(float(columns.min()), float(rows.min()), float(columns.max() + 1), float(rows.max() + 1))


def cast(
    things: Sequence[Thing],
    pose: NDArray[np.float64],
    model: str = "plumb_bob",
    distortion: Sequence[float] = (),
    table: bool = True,
) -> Shown:
    """Return what a camera sees of things on an endless table."""
    across, down = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    pixels = np.column_stack([across.ravel(), down.ravel()]).astype(float)
    steps = rays(pixels, MATRIX, model, distortion) @ pose[:3, :3].T
    nearest = np.full(len(steps), np.inf)
    which = np.full(len(steps), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if table:
            deep = -pose[2, 3] / steps[:, 2]
            nearest = np.where(deep > 0, deep, np.inf)
        for number, each in enumerate(things):
            deep = _hit(each, pose[:3, 3], steps)
            closer = deep < nearest
            nearest[closer], which[closer] = deep[closer], number
    depth = np.where(np.isfinite(nearest), nearest, 0.0).astype(np.float32)
    return Shown(depth.reshape(HEIGHT, WIDTH), which.reshape(HEIGHT, WIDTH), things)


def _hit(each: Thing, origin: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the depth at which each ray enters a thing, infinite where it does not."""
    half, away = np.asarray(each.size) / 2, origin - np.asarray(each.position)
    if each.yaw:
        away, steps = away @ turned(each.yaw), steps @ turned(each.yaw)
    low, high = (-half - away) / steps, (half - away) / steps
    first, last = np.minimum(low, high), np.maximum(low, high)
    if each.round:  # a cylinder: what of the ray is in the circle, and between its two ends
        near, far = _circle(each.size[0] / 2, away, steps)
        enter, leave = np.maximum(near, first[:, 2]), np.minimum(far, last[:, 2])
    else:
        enter, leave = first.max(axis=1), last.min(axis=1)
    return np.where((enter <= leave) & (enter > 0.0), enter, np.inf)


def turned(yaw: float) -> NDArray[np.float64]:
    """Return the rotation about the vertical by an angle, rad."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _circle(
    radius: float, away: NDArray[np.float64], steps: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a = (steps[:, :2] ** 2).sum(axis=1)
    b = steps[:, :2] @ away[:2]
    root = b * b - a * (away[:2] @ away[:2] - radius * radius)
    with np.errstate(invalid="ignore"):
        wide = np.where(root >= 0.0, np.sqrt(root), np.nan)
    return np.where(root >= 0.0, (-b - wide) / a, np.inf), np.where(root >= 0.0, (-b + wide) / a, -np.inf)


@dataclass
class Camera:
    """A camera that takes images of scenes, and a detector that makes errors."""

    pose: NDArray[np.float64] = field(default_factory=lambda: ABOVE)
    name: str = "third_person"
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    noise: float = 0.0
    """Standard deviation of the depth, as a share of its square."""
    unknown: float = 0.0
    """Share of pixels without depth."""
    missed: float = 0.0
    """Share of the things that a look does not detect."""
    false: float = 0.0
    """Chance of a look to detect something that is not there."""
    with_depth: bool = True
    model: str = "plumb_bob"
    distortion: Sequence[float] = ()
    at_ns: int = 1_000_000_000

    def take(self, things: Sequence[Thing]) -> tuple[CameraFrame, list[ImageDetection]]:
        """Return the next image and what is detected in it."""
        self.at_ns += FRAME_NS
        shown = cast(things, self.pose, self.model, self.distortion)
        depth = shown.depth + self.noise * shown.depth**2 * self.random.standard_normal(shown.depth.shape)
        depth = np.where(self.random.random(depth.shape) < self.unknown, np.nan, depth).astype(np.float32)
        image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        frame = CameraFrame(
            self.name,
            self.at_ns,
            image,
            MATRIX,
            self.pose,
            depth if self.with_depth else None,
            self.model,
            self.distortion,
        )
        found = [
            detection(each, box, self)
            for number, each in enumerate(things)
            if each.seen and (box := shown.box(number)) is not None and self.random.random() >= self.missed
        ]
        if self.random.random() < self.false:
            left, top = self.random.uniform(10, 120), self.random.uniform(10, 90)
            found.append(ImageDetection("mug", PixelBox(left, top, left + 16, top + 16), 0.6, size=(0.06, 0.06, 0.08)))
        return frame, found


def detection(each: Thing, box: PixelBox, camera: Camera) -> ImageDetection:
    """Return what a detector says of a thing that is seen in a box: it knows sizes and middles."""
    pixels, _ = project(np.array([each.position]), camera.pose, MATRIX, camera.model, camera.distortion)
    center = (
        float(np.clip(pixels[0, 0], box.left, box.right - 0.01)),
        float(np.clip(pixels[0, 1], box.top, box.bottom - 0.01)),
    )
    attributes = {"color": each.color} if each.color else {}
    confidence = float(camera.random.uniform(0.7, 0.95))
    return ImageDetection(each.kind, box, confidence, each.state, attributes, center=center, size=each.size)


def off(one: Vector, other: Vector) -> float:
    """Return the distance of two points, m."""
    return math.dist(one, other)
