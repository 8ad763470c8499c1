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
ANYWHERE = (WORKTOP, TRAY, TOP)
"""Where every thing could stand."""


@dataclass(frozen=True, eq=False)
class ThingKind:
    """A kind of things.

    Attributes:
        name: its type in detections and in memories.
        body: what it looks like in a color, by its name, and a state.
        colours: names of those that it comes in, of `COLOURS`.
        states: in which it can be; the first is the usual one, "" where there is nothing to say of it.
        places: where it can be.
        graspable: whether a gripper that opens 8 cm gets around it.
    """

    name: str
    body: Callable[[str, str], ShapedBody]
    colours: tuple[str, ...]
    states: tuple[str, ...] = ("",)
    places: tuple[str, ...] = ANYWHERE
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
        return self.body(colour, state).scaled(scale)

    def size(self, colour: str, state: str, scale: float = 1.0) -> Vector:
        """Return its extent along x, y, z in a color and a state, m."""
        x, y, z = _size(self, colour, state)
        return scale * x, scale * y, scale * z


@cache
def _size(kind: ThingKind, colour: str, state: str) -> Vector:
    return kind.made(colour, state).size


def painted(body: Callable[[Colour, str], ShapedBody]) -> Callable[[str, str], ShapedBody]:
    """Return what makes a body by the name of a color, of what makes it by its linear red, green, blue."""
    return lambda colour, state: body(COLOURS[colour], state)


_DISH = ("red", "blue", "green", "yellow", "white", "purple")

KINDS: dict[str, ThingKind] = {
    kind.name: kind
    for kind in (
        ThingKind(
            "mug", painted(dishes.mug), _DISH, ("cleaned", "dirty", "filled"), (*ANYWHERE, CUPBOARD, MICROWAVE, SINK)
        ),
        ThingKind(
            "cup", painted(dishes.cup), ("blue", "pink", "green", "orange"), ("", "filled"), (*ANYWHERE, CUPBOARD, SINK)
        ),
        ThingKind(
            "bowl", painted(dishes.bowl), _DISH, ("", "filled"), (*ANYWHERE, CUPBOARD, MICROWAVE, SINK), graspable=False
        ),
        ThingKind(
            "plate", painted(dishes.plate), _DISH, ("cleaned", "dirty"), (*ANYWHERE, CUPBOARD, SINK), graspable=False
        ),
        ThingKind("apple", painted(groceries.apple), ("red", "green"), ("", "sliced"), (*ANYWHERE, DRAWER, CUPBOARD)),
        ThingKind("orange", painted(groceries.orange), ("orange",), places=(*ANYWHERE, DRAWER)),
        ThingKind("banana", painted(groceries.banana), ("yellow",), places=(*ANYWHERE, DRAWER)),
        ThingKind("tomato", painted(groceries.tomato), ("red",), ("", "sliced"), (*ANYWHERE, DRAWER)),
        ThingKind("bottle", painted(groceries.bottle), ("green", "brown", "blue")),
        ThingKind("can", painted(groceries.can), ("red", "blue", "green", "yellow"), places=(*ANYWHERE, CUPBOARD)),
        ThingKind("milk", painted(groceries.milk), ("blue", "green", "red"), places=(WORKTOP, TRAY, CUPBOARD)),
        ThingKind("cereal", painted(groceries.cereal), ("orange", "purple", "blue", "red"), places=(WORKTOP, CUPBOARD)),
        ThingKind("sponge", painted(groceries.sponge), ("yellow", "pink", "blue"), places=(*ANYWHERE, DRAWER, SINK)),
        ThingKind(
            "salt_shaker", painted(groceries.salt_shaker), ("silver", "black", "red"), places=(*ANYWHERE, CUPBOARD)
        ),
        ThingKind("spoon", painted(dishes.spoon), ("silver", "brown"), places=(*ANYWHERE, DRAWER, SINK)),
        ThingKind("knife", painted(dishes.knife), ("black", "brown", "red"), places=(*ANYWHERE, DRAWER, SINK)),
        ThingKind("egg", painted(groceries.egg), ("white", "cream"), places=(*ANYWHERE, DRAWER)),
        ThingKind("bread", painted(groceries.bread), ("brown",), ("", "sliced"), (WORKTOP, CUPBOARD)),
        ThingKind(
            "kettle",
            painted(dishes.kettle),
            ("silver", "red", "blue", "black"),
            places=(WORKTOP, STOVE),
            graspable=False,
        ),
        ThingKind(
            "pot",
            painted(dishes.pot),
            ("silver", "red", "blue"),
            ("", "filled"),
            (WORKTOP, STOVE, SINK),
            graspable=False,
        ),
    )
}
"""Every kind by its name."""
