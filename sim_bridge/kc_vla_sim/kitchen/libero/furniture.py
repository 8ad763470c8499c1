"""The furniture of LIBERO that fits the kitchen: cabinets of three drawers, a microwave, stoves and a tap.

Numbers are meters in the frame of a model after its turn, and were read from its MJCF file: the boxes that are touched,
and the regions for things. Handles are drawn out to where a finger of a gripper fits behind them.
"""

from __future__ import annotations

import numpy as np

from kc_vla_sim.kitchen import furnishings
from kc_vla_sim.kitchen.bodies import Part, ShapedBody, Solid, Vector
from kc_vla_sim.kitchen.furnishings import DOOR_TRAVEL, STANDOFF
from kc_vla_sim.kitchen.furniture import Furniture, Moving, PushSwitch, StorageSpace
from kc_vla_sim.kitchen.kinds import DRAWER, MICROWAVE, STOVE
from kc_vla_sim.kitchen.libero.models import FIXED, LiberoModel, load_pieces
from kc_vla_sim.kitchen.libero.pieces import PieceFit, drawn_out, solid_between
from kc_vla_sim.kitchen.meshes import ball, box, lathe

DRAWER_TRAVEL = 0.14
"""How far the drawers of the models open, m: they are shorter than those of the standard kitchen."""
_FACING = (0.0, 0.0, -90.0)
"""Turns what looks along -y so that it looks along -x."""
Box = tuple[Vector, Vector]


def _model(name: str, triangles: int, handles: bool = False, turn: tuple[float, float, float] = _FACING) -> LiberoModel:
    return LiberoModel(f"articulated_objects/{name}.xml", turn, triangles, 0.003, handles)


CABINETS = {
    each: _model(f"{name}_cabinet", 200, True)
    for each, name in (("white", "white"), ("brown", "wooden"), ("yellow", "yellow"))
}
MICROWAVE_MODEL = _model("microwave", 400, True)
STOVES = {"gray": _model("flat_stove", 500), "yellow": _model("yellow_stove", 500)}
TAP = _model("basin_faucet", 400, turn=(0.0, 0.0, 0.0))

_CABINET_FIT = PieceFit((0.01635, -0.00355, 0.0046), 0.28 / 0.2565)
_CABINET_BOXES: tuple[Box, ...] = (
    ((-0.079, -0.1318, 0.0046), (0.1117, 0.1247, 0.0095)),
    ((-0.079, -0.1318, 0.2196), (0.1117, 0.1247, 0.2216)),
    ((-0.079, -0.1318, 0.0095), (0.1117, -0.1152, 0.2196)),
    ((-0.079, 0.1079, 0.0095), (0.1117, 0.1247, 0.2196)),
    ((0.0975, -0.1152, 0.0095), (0.1117, 0.1079, 0.2196)),
)
_DRAWERS = (("cabinet_top", 0.1483), ("cabinet_middle", 0.0785), ("cabinet_bottom", 0.0089))
"""Their bodies, and the height of the underside of each."""
_FACE: Box = ((-0.078, -0.1145, 0.001), (-0.0648, 0.1072, 0.0688))
"""Fronts touch one another in the model: a drawer would pull the others along."""
_DRAWER_BOXES: tuple[Box, ...] = (
    _FACE,
    ((-0.0648, -0.1063, 0.003), (0.0944, 0.0993, 0.0108)),
    ((-0.0648, -0.1063, 0.0108), (0.0944, -0.1015, 0.067)),
    ((-0.0648, 0.0945, 0.0108), (0.0944, 0.0993, 0.067)),
    ((0.0872, -0.1015, 0.0108), (0.0944, 0.0945, 0.067)),
)
_DRAWER_SPACE: Box = ((-0.0618, -0.0985, 0.0108), (0.0842, 0.0915, 0.067))
"""Where things lie in a drawer, above its underside."""
_BAR_Z, _BAR_HALF, _BAR_RAISED, _BAR_FROM = 0.0356, (0.0082, 0.0444, 0.0082), 0.0165, -0.0935
_MICROWAVE_SCALE = 0.31 / 0.3446
_MICROWAVE_BOXES: tuple[Box, ...] = (
    ((-0.0885, -0.1723, 0.0), (0.1104, -0.0635, 0.1869)),
    ((-0.1104, -0.1723, 0.0), (-0.0885, -0.088, 0.1869)),
    ((-0.0885, 0.1435, 0.0), (0.1104, 0.1723, 0.1869)),
    ((0.0805, -0.0635, 0.0), (0.1104, 0.1435, 0.1869)),
    ((-0.0885, -0.0635, 0.0), (0.0805, 0.1435, 0.024)),
    ((-0.0885, -0.0635, 0.168), (0.0805, 0.1435, 0.1869)),
)
_DOOR: Box = ((-0.1104, -0.0861, 0.0047), (-0.0904, 0.1723, 0.1869))
_HINGE = (-0.088, 0.1725)
_WINDOW: Box = ((-0.1114, -0.0438, 0.0346), (-0.1104, 0.13, 0.1571))
_LAMP: Box = ((-0.1134, -0.146, 0.125), (-0.1104, -0.106, 0.151))
_KEYS: Box = ((-0.1144, -0.151, 0.045), (-0.1104, -0.101, 0.095))
_CAVITY: Box = ((-0.082, -0.058, 0.024), (0.076, 0.138, 0.168))
_STOVE_FIT = PieceFit((0.0, -0.0975, 0.0), 1.0)
_BURNER = (0.0, -0.15, 0.0254)
_STOVE_LAMP = (-0.078, -0.072, 0.02)


def drawers(colour: str) -> Furniture:
    """Return the cabinet of a color: three drawers, the upper one "drawer_1"."""
    pieces, fit = load_pieces(CABINETS[colour]), _CABINET_FIT
    moving, spaces = [], []
    for number, (body, bottom) in enumerate(_DRAWERS, start=1):
        name = f"drawer_{number}"
        boxes = [(_up(low, bottom), _up(high, bottom)) for low, high in _DRAWER_BOXES]
        face = fit.box(*boxes[0])
        x, y, z = fit.point(-0.078, 0.0026, bottom + _BAR_Z + _BAR_RAISED)
        handle = (x - STANDOFF, y, z)
        bar_from = fit.point(_BAR_FROM, 0, 0)[0]
        bar = drawn_out(fit.part(pieces[f"{body}/handle"]), x, bar_from, STANDOFF, fit.scale * _BAR_RAISED)
        moving.append(
            Moving(
                name,
                "drawer",
                (fit.part(pieces[body]), bar),
                (*fit.solids(boxes), *_bar_solids(handle, x, fit.scale * np.array(_BAR_HALF))),
                DRAWER_TRAVEL,
                face[0],
                (fit.point(0.0944, 0, 0)[0], face[1][1], face[1][2]),
                handle,
            )
        )
        low, high = (_up(each, bottom) for each in _DRAWER_SPACE)
        spaces.append(StorageSpace(DRAWER, name, "in", *fit.box(low, high), moving=name, door=name))
    size = _extent(fit.box((-0.079, -0.1318, 0.0046), (0.1117, 0.1247, 0.2216)))
    spaces.append(furnishings.top_of(size, "cabinet"))
    return Furniture(
        "cabinet",
        "cabinet",
        (fit.part(pieces[FIXED]),),
        fit.solids(_CABINET_BOXES),
        size,
        tuple(moving),
        tuple(spaces),
        swing=DRAWER_TRAVEL + 0.07,
        colour=colour,
    )


def microwave(turn: int) -> Furniture:
    """Return the microwave, its door hinged at +y for a `turn` of -1 and at -y for one of 1."""
    pieces = load_pieces(MICROWAVE_MODEL)
    fit = PieceFit((0.0, 0.0, 0.0), _MICROWAVE_SCALE, mirrored=turn > 0)
    size = _extent(fit.box((-0.1104, -0.1723, 0.0), (0.1104, 0.1723, 0.1869)))
    front = fit.point(-0.1104, 0, 0)[0]
    _, y, z = fit.point(0.0, -0.065, 0.096)
    handle = (front - STANDOFF, y, z)
    bar = drawn_out(fit.part(pieces["microdoorroot/handle"]), front, fit.point(-0.132, 0, 0)[0], STANDOFF)
    upright = fit.scale * np.array([0.01, 0.01, 0.065])
    x, hinge, _ = fit.point(*_HINGE, 0.0)
    low, high = fit.box(*_DOOR)
    door = Moving(
        "microwave",
        "microwave",
        (fit.part(pieces["microdoorroot"]), bar),
        (*fit.solids([_DOOR]), *_bar_solids(handle, front, upright)),
        DOOR_TRAVEL,
        low,
        high,
        handle,
        pivot=(x, hinge),
        turn=turn,
        lit=(_glowing(fit.box(*_WINDOW), (1.0, 0.62, 0.12)),),
    )
    lamp = fit.box(*_LAMP)
    space = StorageSpace(MICROWAVE, "microwave", "in", *fit.box(*_CAVITY), door="microwave")
    return Furniture(
        "microwave",
        "microwave",
        (fit.part(pieces[FIXED]), _boxed(lamp, (0.02, 0.06, 0.02))),
        fit.solids(_MICROWAVE_BOXES),
        size,
        (door,),
        (space, furnishings.top_of(size, "microwave")),
        lit=(_glowing(lamp, (0.1, 1.0, 0.15)),),
        swing=0.25,
        aside=STANDOFF + 0.025,
        colour="black",
        switch=_switch(fit.box(*_KEYS), 0),
    )


def stove(colour: str) -> Furniture:
    """Return the stove of a color, one burner and a knob; the burner glows with a lamp beside it while it is on."""
    pieces, fit = load_pieces(STOVES[colour]), _STOVE_FIT
    knob = fit.part(pieces["button"])
    x, y, z = fit.point(*_BURNER)
    hot = lathe([(0.0625, z + 0.0004), (0.0625, z + 0.002), (0.0, z + 0.002)], segments=20).moved((x, y, 0.0))
    at = fit.point(*_STOVE_LAMP)
    dome = lathe([(r, z) for r, z in ball(0.009) if z >= -0.001], segments=10).moved(at)
    shine = lathe([(r, z) for r, z in ball(0.0105) if z >= -0.001], segments=10).moved(at)
    plate = fit.box((-0.095, -0.245, 0.0), (0.095, -0.055, 0.02))
    low, high = fit.box((-0.09, -0.24, 0.0254), (0.09, -0.06, 0.0254 + 0.15))
    return Furniture(
        "stove",
        "stove",
        (fit.part(pieces[FIXED]), knob, Part(dome, (0.12, 0.02, 0.02))),
        (solid_between(*plate), Solid("cylinder", (0.13, 0.13, 0.0254), (x, y, 0.0127))),
        (0.19, 0.295, 0.0254),
        spaces=(StorageSpace(STOVE, "stove", "on", low, high),),
        lit=(Part(hot, (0.9, 0.07, 0.01), True), Part(shine, (1.0, 0.08, 0.02), True)),
        colour=colour,
        switch=_switch(fit.box((-0.04, -0.035, 0.0), (0.04, 0.045, 0.04)), 2),
    )


def sink(colour: str) -> Furniture:
    """Return the basin of the standard kitchen with LIBERO's tap; its lever does not move."""
    depth, _, height = furnishings.SINK_SIZE
    back = depth / 2 - 0.018
    fit = PieceFit((0.0355 - back, 0.0, -0.0545 - height), 1.0)
    parts = tuple(fit.part(each) for each in load_pieces(TAP).values())
    post = Solid("box", (0.03, 0.04, 0.1), (back, 0.0, height + 0.05))
    return furnishings.sink(colour, ShapedBody(parts, (post,), (0.093, 0.043, 0.109)))


def _up(corner: Vector, by: float) -> Vector:
    return corner[0], corner[1], corner[2] + by


def _extent(ends: Box) -> Vector:
    x, y, z = np.subtract(ends[1], ends[0]).tolist()
    return x, y, z


def _bar_solids(handle: Vector, front: float, half: np.ndarray) -> tuple[Solid, ...]:
    """Return what is touched of a handle: its bar, and a post at each end."""
    low, high = np.subtract(handle, half), np.add(handle, half)
    along = 1 if half[1] > half[2] else 2
    solids = [solid_between((low[0], low[1], low[2]), (high[0], high[1], high[2]))]
    for end in (-1, 1):
        middle = np.array(handle)
        middle[along] += end * (half[along] - 0.008)
        a, b = middle - 0.005, middle + 0.005
        solids.append(solid_between((handle[0], float(a[1]), float(a[2])), (front, float(b[1]), float(b[2]))))
    return tuple(solids)


def _boxed(ends: Box, colour: tuple[float, float, float], glows: bool = False) -> Part:
    low, high = ends
    return Part(box(np.subtract(high, low)).moved(np.add(high, low) / 2), colour, glows)


def _glowing(ends: Box, colour: tuple[float, float, float]) -> Part:
    low, high = ends
    return _boxed(((low[0] - 0.001, low[1], low[2]), high), colour, glows=True)


def _switch(ends: Box, axis: int) -> PushSwitch:
    """Return a switch that fills a box and is pressed at its front (`axis` 0) or at its upper side (2)."""
    place = np.add(*ends) / 2
    place[axis] = ends[1][2] if axis else ends[0][0]
    normal = (0.0, 0.0, 1.0) if axis else (-1.0, 0.0, 0.0)
    x, y, z = place.tolist()
    return PushSwitch(solid_between(*ends), (x, y, z), normal)
