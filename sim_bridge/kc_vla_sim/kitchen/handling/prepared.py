"""Kitchens in which a skill has something to do: the same as ever, but for the furniture that the skill is of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kc_vla.planning.skills import Call
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.kitchen.asset_set import AssetSet
from kc_vla_sim.kitchen.furniture import Moving
from kc_vla_sim.kitchen.layout import REACH, draw_layout
from kc_vla_sim.kitchen.placed import KitchenLayout, PlacedFurniture, PlacedThing
from kc_vla_sim.kitchen.shapes import SHAPES

USUAL_THINGS: Mapping[str, str] = {
    "OpenObject": "drawer_1",
    "CloseObject": "drawer_1",
    "SwitchOn": "stove",
    "SwitchOff": "stove",
}
"""The skills for which kitchens can be prepared, each with the furniture that it is of where nothing else is said."""
_LEAST_OPEN = 0.35
"""What is to be closed is open by this share of its travel at least."""
_STREAM = 0x70726570


@dataclass(frozen=True)
class PreparedLayout:
    """Draws the kitchen of a seed, prepared for a skill; it is a `DrawLayout`.

    What is to be closed is open, what is to be opened is closed, and what is to be switched is off or on.

    Attributes:
        call: the skill.
    """

    call: Call

    def __call__(self, seed: int, reach: float = REACH, assets: AssetSet = SHAPES) -> KitchenLayout:
        """Draw the kitchen of an episode.

        Args:
            seed: of the episode.
            reach: of the arm, m.
            assets: what the kitchen is made of.

        Raises:
            BadTaskError: the kitchen has no such furniture.
        """
        drawn = draw_layout(seed, reach, assets)
        chance = np.random.default_rng((_STREAM, seed))
        (name,) = self.call.arguments
        for placed in drawn.furniture:
            if name == placed.furniture.name or any(each.name == name for each in placed.furniture.moving):
                return _with(drawn, placed, _PREPARED[self.call.skill](placed, name, chance))
        raise BadTaskError(f"{self.call}: there is no furniture '{name}' in a kitchen, such as drawer_1 or stove")


def prepared_for(skill: str, thing: str = "") -> PreparedLayout:
    """Return what draws kitchens for a skill.

    Args:
        skill: of the planner's table.
        thing: id of the furniture that it is of; empty: the usual one.

    Raises:
        BadTaskError: kitchens cannot be prepared for it.
    """
    if skill not in USUAL_THINGS:
        raise BadTaskError(f"no kitchens can be prepared for {skill}: choose one of {', '.join(USUAL_THINGS)}")
    return PreparedLayout(Call(skill, (thing or USUAL_THINGS[skill],)))


def _opened(placed: PlacedFurniture, name: str, chance: np.random.Generator) -> PlacedFurniture:
    share = float(chance.uniform(_LEAST_OPEN, 1.0))
    openings = {each: 0.0 for each in placed.openings} | {name: share * _piece(placed, name).travel}
    return replace(placed, openings=openings, on=False)


def _closed(placed: PlacedFurniture, name: str, chance: np.random.Generator) -> PlacedFurniture:
    _piece(placed, name)
    return replace(placed, openings=dict.fromkeys(placed.openings, 0.0))


def _switched(on: bool) -> Callable[[PlacedFurniture, str, np.random.Generator], PlacedFurniture]:
    def prepared(placed: PlacedFurniture, name: str, chance: np.random.Generator) -> PlacedFurniture:
        if placed.furniture.switch is None:
            raise BadTaskError(f"'{name}' has no switch: choose stove or microwave")
        return replace(placed, openings=dict.fromkeys(placed.openings, 0.0), on=on)

    return prepared


def _piece(placed: PlacedFurniture, name: str) -> Moving:
    """Return the drawer or door of that name.

    Raises:
        BadTaskError: there is none.
    """
    for each in placed.furniture.moving:
        if each.name == name:
            return each
    raise BadTaskError(f"'{name}' has no drawer and no door: choose drawer_1, drawer_2, cupboard or microwave")


_PREPARED: Mapping[str, Callable[[PlacedFurniture, str, np.random.Generator], PlacedFurniture]] = {
    "OpenObject": _closed,
    "CloseObject": _opened,
    "SwitchOn": _switched(False),
    "SwitchOff": _switched(True),
}


def _with(drawn: KitchenLayout, before: PlacedFurniture, after: PlacedFurniture) -> KitchenLayout:
    """Return a kitchen with a piece of furniture in another state; what is in its drawers moves with them."""
    furniture = tuple(after if each is before else each for each in drawn.furniture)
    return replace(drawn, furniture=furniture, things=tuple(_moved(each, before, after) for each in drawn.things))


def _moved(thing: PlacedThing, before: PlacedFurniture, after: PlacedFurniture) -> PlacedThing:
    for space in after.furniture.spaces:
        if space.holder == thing.holder and space.moving and _piece(after, space.moving).pivot is None:
            further = after.openings[space.moving] - before.openings[space.moving]
            (x0, y0), (x1, y1) = after.point(0.0, 0.0), after.point(-further, 0.0)
            return replace(thing, x=thing.x + x1 - x0, y=thing.y + y1 - y0)
    return thing
