"""The set of assets `libero`."""

from __future__ import annotations

from functools import cache

import numpy as np

from kc_vla_sim.choices import LIBERO_ASSETS
from kc_vla_sim.kitchen import furnishings
from kc_vla_sim.kitchen.asset_set import AssetSet
from kc_vla_sim.kitchen.furniture import Furniture
from kc_vla_sim.kitchen.libero import furniture, things
from kc_vla_sim.kitchen.libero.models import prepare_models
from kc_vla_sim.kitchen.shapes import PAINT, draw_turn


@cache
def prepare() -> None:
    """Make what is missing of the light meshes, once in a process.

    Raises:
        AssetsError: the packages are not installed or damaged, or the cache cannot be written.
    """
    fixed = (*furniture.CABINETS.values(), furniture.MICROWAVE_MODEL, *furniture.STOVES.values(), furniture.TAP)
    prepare_models((*fixed, *things.models()))


def draw_row(chance: np.random.Generator) -> tuple[Furniture, ...]:
    """Draw a cabinet of LIBERO, a cupboard of this project, and LIBERO's microwave."""
    colour = str(chance.choice(list(furniture.CABINETS)))
    front = str(chance.choice([each for each in PAINT if each != colour]))
    turn = draw_turn(chance)
    return furniture.drawers(colour), furnishings.cupboard(colour, front, turn), furniture.microwave(turn)


def draw_sides(chance: np.random.Generator) -> tuple[Furniture, ...]:
    """Draw a stove of LIBERO, a basin with LIBERO's tap, and a tray of this project."""
    return (
        furniture.stove(str(chance.choice(list(furniture.STOVES)))),
        furniture.sink(str(chance.choice(["silver", "white", "gray"]))),
        furnishings.tray(str(chance.choice(["brown", "blue", "red", "green", "gray"]))),
    )


LIBERO = AssetSet(LIBERO_ASSETS, things.LIBERO_KINDS, things.SMALL, draw_row, draw_sides)
