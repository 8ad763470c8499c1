"""What a kitchen is made of: kinds of things, and furniture. `kc_vla_sim.choices` has the names of the sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kc_vla_sim.kitchen.furniture import Furniture
from kc_vla_sim.kitchen.kinds import ThingKind

FurnitureDraw = Callable[[np.random.Generator], tuple[Furniture, ...]]


@dataclass(frozen=True, eq=False)
class AssetSet:
    """Bodies that a kitchen is made of.

    Attributes:
        name: in `kc_vla_sim.choices.ASSETS`.
        kinds: of things, by their names.
        small: names of those that an arm can take and that go into a drawer.
        row: draws the tall furniture: one unit of drawers, one cupboard and one microwave, in this order.
        sides: draws what stands at the sides of the arm: stove, sink and tray, in this order.
    """

    name: str
    kinds: Mapping[str, ThingKind]
    small: tuple[str, ...]
    row: FurnitureDraw
    sides: FurnitureDraw
