"""Draws a kitchen from a seed: which furniture stands where, and what is in and on it.

Positions are in the frame of the arm's base: x ahead, y to the left, z up from the worktop, m. A straight row of tall
furniture stands ahead of the arm and looks at it; a stove, a sink and a tray stand to its sides. Everything is placed
by the reach of the arm alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kc_vla_sim.kitchen.asset_set import AssetSet
from kc_vla_sim.kitchen.furniture import Furniture
from kc_vla_sim.kitchen.placed import KitchenLayout, PlacedFurniture
from kc_vla_sim.kitchen.shapes import SHAPES
from kc_vla_sim.kitchen.stocking import Stocking

REACH = 0.7
"""How far from its base's axis the arm works on the table, m."""
LEAST_REACH, MOST_REACH = 0.69, 0.78
"""Between these the furniture has its place, m."""
_ROW_FRONT, _WING = 0.2, 0.1
"""The row's front, and the middle of what stands at the sides, are by so much nearer than the reach, m."""
_WING_PLACES = (0.31, -0.015)
"""x of what stands at the sides, m."""
_OFTEN_CLOSED, _OFTEN_OFF = 0.7, 0.6
_STREAM = 0x6B697463
"""Beside the episode's seed, what seeds the kitchen."""

DrawLayout = Callable[[int, float, AssetSet], KitchenLayout]
"""Draws a kitchen from the seed of an episode, the reach of the arm (m), and what it is made of."""


def draw_layout(seed: int, reach: float = REACH, assets: AssetSet = SHAPES) -> KitchenLayout:
    """Draw the kitchen of the episode with `seed`.

    Args:
        seed: of the episode.
        reach: of the arm, m.
        assets: what the kitchen is made of.

    Raises:
        ValueError: the furniture has no place within such a reach.
    """
    if not LEAST_REACH <= reach <= MOST_REACH:
        raise ValueError(f"no kitchen for a reach of {reach:g} m: choose {LEAST_REACH:g} to {MOST_REACH:g} m")
    chance = np.random.default_rng((_STREAM, seed))
    furniture = (*_row(chance, reach, assets), *_sides(chance, reach, assets))
    stocking = Stocking(chance, furniture, reach, reach - _ROW_FRONT, assets.kinds, assets.small)
    return KitchenLayout(furniture, tuple(stocking.things), reach)


def _row(chance: np.random.Generator, reach: float, assets: AssetSet) -> Iterator[PlacedFurniture]:
    """Yield the tall furniture ahead of the arm, from left to right."""
    pieces = assets.row(chance)
    row = [pieces[which] for which in chance.permutation(3)]
    gaps = chance.uniform(0.018, 0.026, 2)
    left = (sum(each.size[1] for each in row) + gaps.sum()) / 2 + chance.uniform(-0.005, 0.005)
    for each, gap in zip(row, (*gaps, 0.0), strict=True):
        yield _placed(chance, each, reach - _ROW_FRONT + each.size[0] / 2, left - each.size[1] / 2, 0.0)
        left -= each.size[1] + gap


def _sides(chance: np.random.Generator, reach: float, assets: AssetSet) -> Iterator[PlacedFurniture]:
    """Yield stove, sink and tray at three of the four places at the sides."""
    pieces = assets.sides(chance)
    places = [(x, side) for x in _WING_PLACES for side in (1, -1)]
    for piece, place in zip(pieces, chance.permutation(4), strict=False):
        x, side = places[place]
        stray = chance.uniform(-0.008, 0.008, 2)
        y = side * (reach - _WING + abs(float(stray[1])))
        yield _placed(chance, piece, x + float(stray[0]), y, side * np.pi / 2)


def _placed(chance: np.random.Generator, furniture: Furniture, x: float, y: float, yaw: float) -> PlacedFurniture:
    """Return furniture in its place, opened and switched on by chance."""
    openings = {
        each.name: 0.0 if chance.random() < _OFTEN_CLOSED else each.travel * float(chance.uniform(0.6, 1.0))
        for each in furniture.moving
    }
    on = bool(chance.random() > _OFTEN_OFF) and furniture.switched and not any(openings.values())
    return PlacedFurniture(furniture, float(x), float(y), float(yaw), openings, on)
