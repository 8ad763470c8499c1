"""Furniture of several parts, as a depth camera sees it: a cupboard whose door stands open, a cabinet, and a sink."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from box_scene import HEIGHT, LEAST_PIXELS, MATRIX, WIDTH, Thing, Vector, cast, turned
from numpy.typing import NDArray

from kc_vla.core.projection import project
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.image_detection import ImageDetection

Numbers = NDArray[np.float64]
WALL, THICK, STANDOFF = 0.008, 0.018, 0.045
"""Of a board, of a door, and from a front to the middle of its bar, m."""


@dataclass(frozen=True)
class Piece:
    """A piece of furniture.

    Attributes:
        kind: its type.
        parts: boards, bars, and whatever else stands out of it.
        position: of the middle of its body, m.
        size: of its body along its own sides, m.
        state: that a detector reports.
    """

    kind: str
    parts: Sequence[Thing]
    position: Vector
    size: Vector
    state: str = ""


@dataclass(frozen=True)
class Door:
    """A door before the front of a cupboard that looks to -x.

    Attributes:
        opening: rad.
        left: its axis is at the left of who looks into the front, at +y.
        handle: it has one.
    """

    opening: float
    left: bool = True
    handle: bool = True

    def way(self) -> Numbers:
        """Return the direction from its axis to its free edge (3,)."""
        side = -1.0 if self.left else 1.0
        return np.array([-np.sin(self.opening), side * np.cos(self.opening), 0.0])

    def outwards(self) -> Numbers:
        """Return the direction in which its outer side looks (3,)."""
        side = 1.0 if self.left else -1.0
        return np.array([-np.cos(self.opening), side * np.sin(self.opening), 0.0])


def board(low: Iterable[float], high: Iterable[float]) -> Thing:
    """Return a box between two corners, m."""
    (x, y, z), (a, b, c) = low, high
    return Thing("board", ((x + a) / 2, (y + b) / 2, (z + c) / 2), (a - x, b - y, c - z), seen=False)


def cupboard(door: Door | None, x: float = 0.61, y: float = 0.0, size: Vector = (0.21, 0.26, 0.28)) -> Piece:
    """Return a cupboard that stands on the table, its front to -x; without a door it is a closed box."""
    deep, wide, tall = size
    low, high = np.array([x - deep / 2, y - wide / 2, 0.0]), np.array([x + deep / 2, y + wide / 2, tall])
    middle = (x, y, tall / 2)
    if door is None:
        return Piece("cupboard", [board(low, high)], middle, size, "closed")
    parts = [
        board(low, (high[0], high[1], WALL)),
        board((low[0], low[1], tall - WALL), high),
        board((high[0] - WALL, low[1], 0.0), high),
        board(low, (high[0], low[1] + WALL, tall)),
        board((low[0], high[1] - WALL, 0.0), high),
    ]
    axis, way, out = np.array(hinge_of(door, middle, size)), door.way(), door.outwards()
    yaw = float(np.arctan2(way[1], way[0]))
    panel = axis + wide / 2 * way + THICK / 2 * out
    parts.append(Thing("door", (panel[0], panel[1], tall / 2), (wide, THICK, tall - 0.004), seen=False, yaw=yaw))
    if door.handle:
        x, y, z = bar_place(door, middle, size)
        parts.append(Thing("bar", (x, y, z), (0.014, 0.014, 0.1), seen=False, yaw=yaw))
    return Piece("cupboard", parts, middle, size, "opened" if door.opening > 0.05 else "closed")


def hinge_of(door: Door, middle: Vector = (0.61, 0.0, 0.14), size: Vector = (0.21, 0.26, 0.28)) -> Vector:
    """Return where the axis of a door of a cupboard is, at height 0."""
    return middle[0] - size[0] / 2, middle[1] + (0.5 if door.left else -0.5) * size[1], 0.0


def bar_place(door: Door, middle: Vector = (0.61, 0.0, 0.14), size: Vector = (0.21, 0.26, 0.28)) -> Vector:
    """Return the middle of the bar of a door of a cupboard."""
    axis = np.array(hinge_of(door, middle, size))
    x, y, _ = (axis + (size[1] - 0.022) * door.way() + (THICK + STANDOFF) * door.outwards()).tolist()
    return x, y, size[2] - 0.065


def turned_piece(kind: str, parts: Iterable[Thing], middle: Vector, size: Vector, yaw: float) -> Piece:
    """Return furniture on the table whose parts are given about the middle of its bottom, turned about that."""
    placed = [
        replace(each, position=_moved(turned(yaw) @ each.position, middle), yaw=yaw + each.yaw, seen=False)
        for each in parts
    ]
    return Piece(kind, placed, (middle[0], middle[1], middle[2] + size[2] / 2), size)


def _moved(place: Numbers, by: Vector) -> Vector:
    x, y, z = (place + by).tolist()
    return x, y, z


def sink(yaw: float, x: float = 0.5, y: float = 0.0, bottom: float = 0.0) -> Piece:
    """Return a hollow sink with a tap at its back."""
    wide, deep, tall = size = (0.3, 0.24, 0.08)
    half_x, half_y, rim = wide / 2, deep / 2, 0.012
    walls = [
        board((-half_x, -half_y, 0.0), (half_x, half_y, 0.01)),
        board((-half_x, -half_y, 0.0), (-half_x + rim, half_y, tall)),
        board((half_x - rim, -half_y, 0.0), (half_x, half_y, tall)),
        board((-half_x, -half_y, 0.0), (half_x, -half_y + rim, tall)),
        board((-half_x, half_y - rim, 0.0), (half_x, half_y, tall)),
        Thing("tap", (0.0, half_y - 0.01, tall + 0.05), (0.02, 0.02, 0.1)),
        Thing("spout", (0.0, half_y - 0.05, tall + 0.095), (0.016, 0.09, 0.012)),
    ]
    return turned_piece("sink", walls, (x, y, bottom), size, yaw)


def taken(
    eye: NDArray[np.float64], piece: Piece, *others: Thing, noise: float = 0.0, seed: int = 0
) -> tuple[CameraFrame, PixelBox]:
    """Return what a camera sees of furniture and of other things, and the box of what can be seen of the furniture.

    Args:
        eye: pose of the camera.
        piece: the furniture.
        others: what stands on, before or beside it.
        noise: standard deviation of the depth, as a share of its square.
        seed: of that.
    """
    shown = cast([*piece.parts, *others], eye)
    chance = np.random.default_rng(seed)
    depth = shown.depth + noise * shown.depth**2 * chance.standard_normal(shown.depth.shape)
    frame = CameraFrame(
        "third_person", 1_000_000_000, np.zeros((HEIGHT, WIDTH, 3), np.uint8), MATRIX, eye, depth.astype(np.float32)
    )
    rows, columns = np.nonzero((shown.which >= 0) & (shown.which < len(piece.parts)))
    assert len(rows) > LEAST_PIXELS, "the camera does not see it"
    box = PixelBox(float(columns.min()), float(rows.min()), float(columns.max() + 1), float(rows.max() + 1))
    return frame, box


def detected(piece: Piece, box: PixelBox, eye: NDArray[np.float64], size: Vector | None = None) -> ImageDetection:
    """Return what a detector says of furniture: about where it is, and how large with a door that is open."""
    about = np.add(piece.position, (0.02, -0.015, 0.01))
    pixels, _ = project(about[None], eye, MATRIX, "plumb_bob", ())
    x, y = np.clip(pixels[0], (box.left, box.top), (box.right - 0.01, box.bottom - 0.01)).tolist()
    deep = float((about - eye[:3, 3]) @ eye[:3, 2])
    return ImageDetection(
        piece.kind, box, 0.8, piece.state, center=(x, y), size=size or piece.size, depth_m=deep, depth_measured=True
    )


def drawer_cabinet(openings: Sequence[float] = (0.0, 0.0), x: float = 0.62) -> tuple[Piece, list[Piece]]:
    """Return a cabinet with two drawers whose fronts look to -x, and those, the upper one first.

    Args:
        openings: how far they are open, m.
        x: of the middle of the cabinet, m.
    """
    deep, wide, tall = size = (0.25, 0.28, 0.23)
    front, drawers = x - deep / 2, []
    parts = [board((front, -wide / 2, 0.0), (x + deep / 2, wide / 2, tall))]
    for opening, (low, high) in zip(openings, ((0.117, 0.228), (0.006, 0.117)), strict=True):
        face = front - 0.014 - opening
        own = [
            board((face, -wide / 2, low), (face + 0.013, wide / 2, high)),
            board((face, -wide / 2 + 0.02, low), (front + 0.01, wide / 2 - 0.02, low + 0.02)),
            Thing("bar", (face - STANDOFF, 0.0, high - 0.01), (0.014, 0.12, 0.014), seen=False),
        ]
        parts += own
        middle = (face + 0.123, 0.0, (low + high) / 2)
        drawers.append(Piece("drawer", own, middle, (0.246, wide, high - low), "opened" if opening else "closed"))
    return Piece("cabinet", parts, (x, 0.0, tall / 2), size), drawers
