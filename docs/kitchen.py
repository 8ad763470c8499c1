"""Draws the kitchen into docs/images/kitchen.png: `python docs/kitchen.py`; with `libero` into kitchen_libero.png.

The first row shows kitchens of several seeds, the second what one episode of the expert shows: the second hand above
the open drawer, the wrist camera before the open cupboard, and the depth of the third-person camera. With the meshes
of LIBERO, the rows are what the two cameras see of some kitchens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from kc_vla.media.canvas import Canvas, Picture
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulator import Simulator

IMAGES = Path(__file__).resolve().parent / "images"
SEED = 5
KITCHENS = (("standard", SEED), ("varied", 11), ("varied", 4))
LIBERO_KITCHENS = (("standard", 5), ("varied", 3), ("varied", 8))
VIEW, GAP = 264, 6
FARTHEST_M = 2.2


def kitchen(looks: str, seed: int) -> Picture:
    """What the third-person camera sees at the beginning."""
    simulator = Simulator(VIEW, looks=looks)
    image = simulator.reset("kitchen", seed).views["third_person"]
    simulator.close()
    return image


def played(simulator: Simulator, frame: SimulatedFrame, until: Callable[[], bool], after: int) -> SimulatedFrame:
    """The frame so many steps after something has come true in an episode of the expert, with images."""
    while not until():
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    for _ in range(after):
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    return simulator.redrawn(frame)


def tour() -> list[Picture]:
    """What an episode shows."""
    simulator = Simulator(VIEW, draw=False, depth=True)
    frame = simulator.reset("kitchen", SEED)
    hand = simulator._world.tour.hand  # type: ignore[attr-defined]  # of the kitchen
    put = played(simulator, frame, lambda: hand.busy, 106)
    door = played(simulator, put, lambda: "door opened" in [each.label for each in simulator.keyframes], 45)
    simulator.close()
    near = 1 - np.clip(put.depth["third_person"] / FARTHEST_M, 0, 1)
    depth = cv2.cvtColor((255 * near).astype(np.uint8), cv2.COLOR_GRAY2RGB)
    return [put.views["third_person"], door.views["wrist"], np.asarray(depth, np.uint8)]


def libero() -> list[list[Picture]]:
    """What both cameras see of kitchens of LIBERO's meshes, the last with all drawers and doors open."""
    rows: list[list[Picture]] = [[], []]
    for looks, seed in LIBERO_KITCHENS:
        simulator = Simulator(VIEW, looks=looks, assets="libero")
        frame = simulator.reset("kitchen", seed)
        if seed == LIBERO_KITCHENS[-1][1]:
            for unit in simulator._world.kitchen.units.values():  # type: ignore[attr-defined]  # of the kitchen
                unit.set_openings({each.name: 0.9 * each.travel for each in unit.furniture.moving})
            frame = simulator.hold()
        for row, view in zip(rows, ("third_person", "wrist"), strict=True):
            row.append(frame.views[view])
        simulator.close()
    return rows


def main() -> None:
    """Play, draw and write."""
    if sys.argv[1:] == ["libero"]:
        rows, path = libero(), IMAGES / "kitchen_libero.png"
    else:
        rows, path = [[kitchen(*each) for each in KITCHENS], tour()], IMAGES / "kitchen.png"
    canvas = Canvas(3 * (VIEW + GAP) - GAP, 2 * (VIEW + GAP) - GAP)
    for row, images in enumerate(rows):
        for column, image in enumerate(images):
            canvas.picture(column * (VIEW + GAP), row * (VIEW + GAP), VIEW, image)
    few = cv2.cvtColor(canvas.pixels, cv2.COLOR_RGB2BGR)
    if not cv2.imwrite(str(path), few, [cv2.IMWRITE_PNG_COMPRESSION, 9]):
        raise OSError(f"cannot write {path}")
    print(path)


if __name__ == "__main__":
    main()
