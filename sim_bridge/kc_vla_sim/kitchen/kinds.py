"""The kinds of things in the kitchen: how they look, in which states they can be, and where they are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from kc_vla_sim.kitchen import dishes, groceries
from kc_vla_sim.kitchen.bodies import COLOURS, Colour, ShapedBody, Vector

SCALES = (0.92, 1.08)
"""Things of one kind are so much smaller or larger than others of it."""
WORKTOP, TRAY, DRAWER, CUPBOARD, MICROWAVE, SINK, STOVE, TOP = (
    "worktop",
    "tray",
    "drawer",
    "cupboard",
    "microwave",
    "sink",
    "stove",
    "top",
)
"""Where a thing can be; "top" is on top of the drawers, the cupboard or the microwave."""
_ANYWHERE = (WORKTOP, TRAY, TOP)


@dataclass(frozen=True)
class ThingKind:
    """A kind of things.

    Attributes:
        name: its type in detections and in memories.
        body: what it looks like in a color (linear red, green, blue) and a state.
        colours: names of those that it comes in, of `COLOURS`.
        states: in which it can be; the first is the usual one, "" where there is nothing to say of it.
        places: where it can be.
        graspable: whether a gripper that opens 8 cm gets around it.
    """

    name: str
    body: Callable[[Colour, str], ShapedBody]
    colours: tuple[str, ...]
    states: tuple[str, ...] = ("",)
    places: tuple[str, ...] = _ANYWHERE
    graspable: bool = True

    def made(self, colour: str, state: str, scale: float = 1.0) -> ShapedBody:
        """Return the body in a color and a state.

        Raises:
            KeyError: there is no such color.
            ValueError: it has no such state.
        """
        if state not in self.states:
            told = ", ".join(f"'{each}'" for each in self.states)
            raise ValueError(f"a {self.name} is never '{state}': choose one of {told}")
        return self.body(COLOURS[colour], state).scaled(scale)

    def size(self, state: str, scale: float = 1.0) -> Vector:
        """Return its extent along x, y, z in a state, m."""
        x, y, z = _size(self.name, state)
        return scale * x, scale * y, scale * z


@cache
def _size(name: str, state: str) -> Vector:
    kind = KINDS[name]
    return kind.made(kind.colours[0], state).size


_DISH = ("red", "blue", "green", "yellow", "white", "purple")

KINDS: dict[str, ThingKind] = {
    kind.name: kind
    for kind in (
        ThingKind("mug", dishes.mug, _DISH, ("cleaned", "dirty", "filled"), (*_ANYWHERE, CUPBOARD, MICROWAVE, SINK)),
        ThingKind("cup", dishes.cup, ("blue", "pink", "green", "orange"), ("", "filled"), (*_ANYWHERE, CUPBOARD, SINK)),
        ThingKind("bowl", dishes.bowl, _DISH, ("", "filled"), (*_ANYWHERE, CUPBOARD, MICROWAVE, SINK), graspable=False),
        ThingKind("plate", dishes.plate, _DISH, ("cleaned", "dirty"), (*_ANYWHERE, CUPBOARD, SINK), graspable=False),
        ThingKind("apple", groceries.apple, ("red", "green"), ("", "sliced"), (*_ANYWHERE, DRAWER, CUPBOARD)),
        ThingKind("orange", groceries.orange, ("orange",), places=(*_ANYWHERE, DRAWER)),
        ThingKind("banana", groceries.banana, ("yellow",), places=(*_ANYWHERE, DRAWER)),
        ThingKind("tomato", groceries.tomato, ("red",), ("", "sliced"), (*_ANYWHERE, DRAWER)),
        ThingKind("bottle", groceries.bottle, ("green", "brown", "blue")),
        ThingKind("can", groceries.can, ("red", "blue", "green", "yellow"), places=(*_ANYWHERE, CUPBOARD)),
        ThingKind("milk", groceries.milk, ("blue", "green", "red"), places=(WORKTOP, TRAY, CUPBOARD)),
        ThingKind("cereal", groceries.cereal, ("orange", "purple", "blue", "red"), places=(WORKTOP, CUPBOARD)),
        ThingKind("sponge", groceries.sponge, ("yellow", "pink", "blue"), places=(*_ANYWHERE, DRAWER, SINK)),
        ThingKind("salt_shaker", groceries.salt_shaker, ("silver", "black", "red"), places=(*_ANYWHERE, CUPBOARD)),
        ThingKind("spoon", dishes.spoon, ("silver", "brown"), places=(*_ANYWHERE, DRAWER, SINK)),
        ThingKind("knife", dishes.knife, ("black", "brown", "red"), places=(*_ANYWHERE, DRAWER, SINK)),
        ThingKind("egg", groceries.egg, ("white", "cream"), places=(*_ANYWHERE, DRAWER)),
        ThingKind("bread", groceries.bread, ("brown",), ("", "sliced"), (WORKTOP, CUPBOARD)),
        ThingKind(
            "kettle", dishes.kettle, ("silver", "red", "blue", "black"), places=(WORKTOP, STOVE), graspable=False
        ),
        ThingKind(
            "pot", dishes.pot, ("silver", "red", "blue"), ("", "filled"), (WORKTOP, STOVE, SINK), graspable=False
        ),
    )
}
"""Every kind by its name."""
