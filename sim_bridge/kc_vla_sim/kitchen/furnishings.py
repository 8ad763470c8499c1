"""The furniture of the kitchen, made of boxes and cylinders: each function returns one piece in its colors."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla_sim.kitchen.bodies import COLOURS, Part, ShapedBody, Solid, Vector
from kc_vla_sim.kitchen.furniture import Furniture, Moving, Pile, PushSwitch, StorageSpace
from kc_vla_sim.kitchen.kinds import CUPBOARD, DRAWER, MICROWAVE, SINK, STOVE, TOP, TRAY
from kc_vla_sim.kitchen.meshes import Mesh, ball, box, joined, lathe, pillar

WALL = 0.01
STANDOFF = 0.045
"""From a front to the middle of its handle, m: a finger of a gripper fits between them."""
DOOR_TRAVEL = 1.6
"""How far doors open, rad."""
DRAWER_TRAVEL = 0.175
"""How far drawers open, m: nearly all of what is in them comes out, and an arm pulls the bar so far in any kitchen."""
_DRAWER_SIDES = 0.045
"""The sides and the back of a drawer are so high, m: a hand that is wider than a drawer reaches in over them."""
_PALM, _FINGERS = 0.045, 0.024
"""Room that a hand needs around the middle of what it takes out of a drawer: for half of the palm, between the front
of the drawer and that of the cabinet, m; and beside a thing, for a finger, m."""
SINK_SIZE = (0.24, 0.3, 0.07)
"""Depth, width and height of the basin, m."""
_FRONT_KEPT = 0.06
"""Nothing stands on furniture so near to its front, m: a hand that opens it is above."""
_STEEL, _BLACK, _DARK = COLOURS["silver"], COLOURS["black"], COLOURS["gray"]
_INSIDE = (0.5, 0.42, 0.32)
_LAMP_OFF, _LAMP_ON = (0.12, 0.02, 0.02), (1.0, 0.08, 0.02)
_WINDOW_OFF, _WINDOW_ON = (0.02, 0.02, 0.025), (1.0, 0.62, 0.12)


def drawers(colour: str, fronts: str) -> Furniture:
    """Return a unit of two drawers, the upper one "drawer_1"."""
    depth, width, height = size = (0.25, 0.28, 0.23)
    fixed = Pile()
    fixed.cabinet(size, WALL, COLOURS[colour], _DARK)
    middle = height / 2
    fixed.add((-depth / 2, -width / 2 + WALL, middle - 0.004), (depth / 2, width / 2 - WALL, middle + 0.004), _DARK)
    moving, spaces = [], []
    for name, bottom, top in (("drawer_1", middle + 0.004, height - WALL), ("drawer_2", WALL, middle - 0.004)):
        pile, front = Pile(), -depth / 2
        low, high = (
            (front, -width / 2 + WALL + 0.003, bottom + 0.003),
            (depth / 2 - WALL - 0.01, width / 2 - WALL - 0.003),
        )
        rim = low[2] + _DRAWER_SIDES
        pile.add((low[0], low[1], low[2]), (high[0], high[1], low[2] + 0.005), _INSIDE)
        pile.add((low[0], low[1], low[2]), (high[0], low[1] + 0.006, rim), _INSIDE)
        pile.add((low[0], high[1] - 0.006, low[2]), (high[0], high[1], rim), _INSIDE)
        pile.add((high[0] - 0.006, low[1], low[2]), (high[0], high[1], rim), _INSIDE)
        face = (front - 0.014, -width / 2 + 0.001, bottom - 0.002), (front - 0.001, width / 2 - 0.001, top + 0.006)
        pile.add(*face, COLOURS[fronts])
        handle = (face[0][0] - STANDOFF, 0.0, top - 0.004)
        pile.bar(handle, 0.12, False, face[0][0], _STEEL if fronts != "silver" else _BLACK)
        moving.append(
            Moving(
                name,
                "drawer",
                tuple(pile.parts),
                tuple(pile.solids),
                DRAWER_TRAVEL,
                face[0],
                (high[0], face[1][1], face[1][2]),
                handle,
            )
        )
        inner = (low[0] + 0.004, low[1] + 0.01, low[2] + 0.005), (high[0] - 0.01, high[1] - 0.01, top - 0.012)
        spaces.append(drawer_space(name, *inner, front, DRAWER_TRAVEL))
    spaces.append(top_of(size, "cabinet"))
    return Furniture(
        "cabinet",
        "cabinet",
        tuple(fixed.parts),
        tuple(fixed.solids),
        size,
        tuple(moving),
        tuple(spaces),
        swing=DRAWER_TRAVEL + 0.07,
        colour=fronts,
    )


def cupboard(colour: str, fronts: str, turn: int) -> Furniture:
    """Return a cupboard with a door, hinged at +y for a `turn` of -1 and at -y for one of 1."""
    depth, width, height = size = (0.21, 0.26, 0.28)
    fixed = Pile()
    fixed.cabinet(size, WALL, COLOURS[colour], _INSIDE)
    pile = Pile()
    door = _door(pile, size, (-width / 2, width / 2), turn, COLOURS[fronts], _STEEL if fronts != "silver" else _BLACK)
    space = StorageSpace(
        CUPBOARD,
        "cupboard",
        "in",
        (-depth / 2 + 0.008, -width / 2 + WALL + 0.004, WALL),
        (depth / 2 - WALL - 0.004, width / 2 - WALL - 0.004, height - WALL),
        door="cupboard",
    )
    return Furniture(
        "cupboard",
        "cupboard",
        tuple(fixed.parts),
        tuple(fixed.solids),
        size,
        (Moving("cupboard", "cupboard", tuple(pile.parts), tuple(pile.solids), DOOR_TRAVEL, *door, turn=turn),),
        (space, top_of(size, "cupboard")),
        swing=0.25,
        aside=STANDOFF + 0.025,
        colour=fronts,
    )


def microwave(colour: str, turn: int) -> Furniture:
    """Return a microwave: a door with a window that is lit while it is on, a panel with a lamp beside it."""
    depth, width, height = size = (0.21, 0.31, 0.2)
    panel = 0.075
    # the panel is at the free edge of the door
    low, high = (-width / 2 + panel, width / 2) if turn < 0 else (-width / 2, width / 2 - panel)
    fixed = Pile()
    fixed.cabinet(size, WALL, COLOURS[colour], COLOURS["cream"])
    beside = (-width / 2, low) if turn < 0 else (high, width / 2)
    fixed.add((-depth / 2 - 0.014, beside[0], 0), (-depth / 2, beside[1], height), _DARK)
    wall = (beside[1], beside[1] + 0.006) if turn < 0 else (beside[0] - 0.006, beside[0])
    fixed.add((-depth / 2, wall[0], WALL), (depth / 2 - WALL, wall[1], height - WALL), COLOURS["cream"])
    front, centre = -depth / 2 - 0.014, sum(beside) / 2
    buttons = [
        box((0.004, 0.014, 0.01)).moved((front - 0.001, centre + y, z)) for y in (-0.014, 0.014) for z in (0.05, 0.08)
    ]
    fixed.parts.append(Part(joined(buttons), COLOURS["white"]))
    lamp = box((0.006, 0.045, 0.026)).moved((front - 0.001, centre, 0.15))
    keys = Solid("box", (0.004, 0.05, 0.05), (front - 0.002, centre, 0.065))
    fixed.parts.append(Part(lamp, (0.02, 0.06, 0.02)))
    pile = Pile()
    door = _door(pile, size, (low, high), turn, COLOURS[colour], _BLACK if colour != "black" else _STEEL)
    edge, top = 0.025, height - 0.03
    free = 0.035 if turn < 0 else 0.0
    window = (low + edge + free, high - edge - (0.035 - free))
    glass = box((0.003, window[1] - window[0], top - 0.03)).moved((front, sum(window) / 2, (top + 0.03) / 2))
    pile.parts.append(Part(glass, _WINDOW_OFF))
    shine = glass.moved((-0.001, 0, 0))
    inside = (
        (beside[1] + 0.012, width / 2 - WALL - 0.004) if turn < 0 else (-width / 2 + WALL + 0.004, beside[0] - 0.012)
    )
    space = StorageSpace(
        MICROWAVE,
        "microwave",
        "in",
        (-depth / 2 + 0.008, inside[0], WALL),
        (depth / 2 - WALL - 0.004, inside[1], height - WALL),
        door="microwave",
    )
    door_piece = Moving(
        "microwave",
        "microwave",
        tuple(pile.parts),
        tuple(pile.solids),
        DOOR_TRAVEL,
        *door,
        turn=turn,
        lit=(Part(shine, _WINDOW_ON, True),),
    )
    return Furniture(
        "microwave",
        "microwave",
        tuple(fixed.parts),
        tuple(fixed.solids),
        size,
        (door_piece,),
        (space, top_of(size, "microwave")),
        lit=(Part(lamp.moved((-0.001, 0, 0)), (0.1, 1.0, 0.15), True),),
        swing=0.25,
        aside=STANDOFF + 0.025,
        colour=colour,
        switch=PushSwitch(keys, (front - 0.004, centre, 0.07), (-1.0, 0.0, 0.0)),
    )


def stove(colour: str) -> Furniture:
    """Return a hob with two plates, one of which glows with the lamp while it is on."""
    depth, width, height = size = (0.22, 0.28, 0.05)
    fixed = Pile()
    fixed.add((-depth / 2, -width / 2, 0), (depth / 2, width / 2, height), COLOURS[colour])
    fixed.add(
        (-depth / 2 + 0.04, -width / 2 + 0.01, height), (depth / 2 - 0.006, width / 2 - 0.01, height + 0.002), _BLACK
    )
    spots = ((0.02, -0.065, 0.05), (0.02, 0.068, 0.058))
    rings = []
    for x, y, radius in spots:
        for outer, inner in ((radius, radius - 0.008), (radius - 0.018, radius - 0.026)):
            flat = [(outer, height + 0.002), (outer, height + 0.0035), (inner, height + 0.0035)]
            rings.append(lathe(flat, segments=20).moved((x, y, 0)))
    fixed.parts.append(Part(joined(rings), _DARK))
    lamp = lathe([(r, z) for r, z in ball(0.012) if z >= -0.001], segments=10).moved((-0.09, -0.1, height))
    knob = Solid("cylinder", (0.028, 0.028, 0.014), (-0.09, 0.1, height + 0.007))
    knobs = [lathe(pillar(0.014, 0.014, height), segments=10).moved((-0.09, y, 0)) for y in (0.0, 0.05, 0.1)]
    fixed.parts += [Part(lamp, _LAMP_OFF), Part(joined(knobs), _STEEL if colour == "black" else _BLACK)]
    x, y, radius = spots[1]
    hot = lathe([(radius, height + 0.002), (radius, height + 0.0045), (0, height + 0.0045)], segments=20).moved(
        (x, y, 0)
    )
    shine = lathe([(r, z) for r, z in ball(0.0135) if z >= -0.001], segments=10).moved((-0.09, -0.1, height))
    space = StorageSpace(
        STOVE, "stove", "on", (-0.06, -width / 2, height + 0.0045), (depth / 2, width / 2, height + 0.15)
    )
    return Furniture(
        "stove",
        "stove",
        tuple(fixed.parts),
        tuple(fixed.solids),
        size,
        spaces=(space,),
        lit=(Part(hot, (0.9, 0.07, 0.01), True), Part(shine, _LAMP_ON, True)),
        colour=colour,
        switch=PushSwitch(knob, (-0.09, 0.1, height + 0.014), (0.0, 0.0, 1.0)),
    )


def sink(colour: str, tap: ShapedBody | None = None) -> Furniture:
    """Return a basin with a tap at its back.

    Args:
        colour: of the basin.
        tap: in the frame of the basin; a simple one where there is none.
    """
    depth, width, height = size = SINK_SIZE
    fixed = Pile()
    shade = COLOURS[colour]
    inner = tuple(0.8 * each for each in shade)
    bottom = (inner[0], inner[1], inner[2])
    back = depth / 2 - 0.03
    fixed.add((-depth / 2, -width / 2, 0), (depth / 2, width / 2, 0.008), bottom)
    fixed.add((-depth / 2, -width / 2, 0), (-depth / 2 + 0.012, width / 2, height), shade)
    fixed.add((back, -width / 2, 0), (depth / 2, width / 2, height), shade)
    fixed.add((-depth / 2 + 0.012, -width / 2, 0), (back, -width / 2 + 0.012, height), shade)
    fixed.add((-depth / 2 + 0.012, width / 2 - 0.012, 0), (back, width / 2, height), shade)
    drain = lathe(pillar(0.016, 0.0015, 0.008), segments=10).moved((0, 0.05, 0))
    fixed.parts.append(Part(drain, _BLACK))
    if tap is None:
        tap = ShapedBody(
            (Part(_tap(depth, height), _STEEL if colour != "silver" else _BLACK),),
            (Solid("box", (0.02, 0.02, 0.1), (depth / 2 - 0.015, 0, height + 0.05)),),
            (0.09, 0.02, 0.11),
        )
    fixed.parts += tap.parts
    fixed.solids += tap.solids
    space = StorageSpace(
        SINK,
        "sink",
        "in",
        (-depth / 2 + 0.016, -width / 2 + 0.016, 0.008),
        (back - 0.004, width / 2 - 0.016, height + 0.1),
    )
    return Furniture("sink", "sink", tuple(fixed.parts), tuple(fixed.solids), size, spaces=(space,), colour=colour)


def _tap(depth: float, height: float) -> Mesh:
    """Return a bent pipe at the back of a basin."""
    post = lathe(pillar(0.01, 0.1, height), segments=8).moved((depth / 2 - 0.015, 0, 0))
    arm = lathe(pillar(0.008, 0.09), segments=8).moved(
        (depth / 2 - 0.01, 0, height + 0.1), Rotation.from_euler("y", -np.pi / 2)
    )
    tip = lathe(pillar(0.008, 0.03), segments=8).moved((depth / 2 - 0.09, 0, height + 0.075))
    return joined([post, arm, tip])


def tray(colour: str) -> Furniture:
    """Return a flat tray with a rim."""
    depth, width, height = size = (0.2, 0.28, 0.016)
    fixed = Pile()
    shade = COLOURS[colour]
    base = (0.75 * shade[0], 0.75 * shade[1], 0.75 * shade[2])
    fixed.add((-depth / 2, -width / 2, 0), (depth / 2, width / 2, 0.004), base)
    for x in (-1, 1):
        fixed.add((x * depth / 2 - 0.004, -width / 2, 0), (x * depth / 2 + 0.004, width / 2, height), shade)
    for y in (-1, 1):
        fixed.add((-depth / 2, y * width / 2 - 0.004, 0), (depth / 2, y * width / 2 + 0.004, height), shade)
    space = StorageSpace(
        TRAY,
        "tray",
        "on",
        (-depth / 2 + 0.006, -width / 2 + 0.006, 0.004),
        (depth / 2 - 0.006, width / 2 - 0.006, 0.25),
    )
    return Furniture("tray", "tray", tuple(fixed.parts), tuple(fixed.solids), size, spaces=(space,), colour=colour)


def drawer_space(name: str, low: Vector, high: Vector, front: float, travel: float) -> StorageSpace:
    """Return the space in a drawer, where things lie so that a hand from above takes them out of the open drawer.

    Args:
        name: of the drawer.
        low: least corner of the space, m.
        high: greatest corner, m.
        front: x of the front of its cabinet, m: the hand stays before it.
        travel: how far the drawer opens, m.
    """
    middles = front + _PALM, front + travel - _PALM
    return StorageSpace(DRAWER, name, "in", low, high, moving=name, door=name, middles=middles, beside=_FINGERS)


def top_of(size: tuple[float, float, float], holder: str) -> StorageSpace:
    """Return the space on top of a piece of furniture of that depth, width and height, m."""
    depth, width, height = size
    low = (-depth / 2 + _FRONT_KEPT, -width / 2, height)
    return StorageSpace(TOP, holder, "on", low, (depth / 2, width / 2, height + 0.25))


def _door(
    pile: Pile,
    size: tuple[float, float, float],
    span: tuple[float, float],
    turn: int,
    colour: tuple[float, float, float],
    metal: tuple[float, float, float],
) -> tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float], tuple[float, float]]:
    """Add a door over `span` of the width with a handle at its free edge; return low, high, handle and pivot."""
    depth, _, height = size
    back, front = -depth / 2 - 0.001, -depth / 2 - 0.014
    low, high = (front, span[0] + 0.001, 0.003), (back, span[1] - 0.001, height - 0.001)
    pile.add(low, high, colour)
    free, hinge = (span[0], span[1]) if turn < 0 else (span[1], span[0])
    inwards = 1 if hinge > free else -1
    handle = (front - STANDOFF, free + 0.022 * inwards, height - 0.065)
    pile.bar(handle, 0.1, True, front, metal)
    return low, high, handle, (back, hinge)
