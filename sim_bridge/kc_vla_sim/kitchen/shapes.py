"""The kitchen's standard bodies: simple shapes in clear colors, which this project makes."""

from __future__ import annotations

import numpy as np

from kc_vla_sim.choices import STANDARD_ASSETS
from kc_vla_sim.kitchen import furnishings
from kc_vla_sim.kitchen.asset_set import AssetSet
from kc_vla_sim.kitchen.furniture import Furniture
from kc_vla_sim.kitchen.kinds import KINDS

PAINT = ("white", "cream", "gray", "blue", "green", "yellow", "red")
"""Colors of cabinets and fronts."""
_OFTEN_TO_THE_RIGHT = 0.6
"""Doors that turn to the right show a camera at the left of the arm what is behind them."""


def draw_turn(chance: np.random.Generator) -> int:
    """Draw to which side all doors turn, 1 or -1: those beside one another would meet otherwise."""
    return 1 if chance.random() < _OFTEN_TO_THE_RIGHT else -1


def draw_row(chance: np.random.Generator) -> tuple[Furniture, ...]:
    """Draw drawers, cupboard and microwave in their colors."""
    body, front = (str(each) for each in chance.choice(PAINT, 2, replace=False))
    other = str(chance.choice([each for each in PAINT if each != body]))
    turn = draw_turn(chance)
    return (
        furnishings.drawers(body, front),
        furnishings.cupboard(body, other, turn),
        furnishings.microwave(str(chance.choice(["white", "silver", "black", "red"])), turn),
    )


def draw_sides(chance: np.random.Generator) -> tuple[Furniture, ...]:
    """Draw stove, sink and tray in their colors."""
    return (
        furnishings.stove(str(chance.choice(["white", "silver", "gray"]))),
        furnishings.sink(str(chance.choice(["silver", "white", "gray"]))),
        furnishings.tray(str(chance.choice(["brown", "blue", "red", "green", "gray"]))),
    )


_SMALL = ("apple", "orange", "tomato", "egg", "sponge")
SHAPES = AssetSet(STANDARD_ASSETS, KINDS, _SMALL, draw_row, draw_sides)
