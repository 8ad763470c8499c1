"""Whether a hand from above has room at a thing in a kitchen as it begins: no arm takes what stands in a narrow gap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.perception.front_record import front_attributes
from kc_vla.skills.grasping import grasps
from kc_vla.skills.interface import SkillError
from kc_vla.skills.perceived import CLOSED, OPENED, PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla_sim.kitchen.furniture import Moving
from kc_vla_sim.kitchen.placed import KitchenLayout, PlacedFurniture, PlacedThing
from kc_vla_sim.robot import ROBOT


def hand_has_room(layout: KitchenLayout, thing: PlacedThing) -> bool:
    """Return whether a hand gets to a thing; the drawer that it is in is pulled out for that.

    Args:
        layout: of the kitchen.
        thing: of it, on something or in a drawer.
    """
    scene = PerceivedScene()
    scene.take(_seen(layout, thing.holder), 0.0)
    try:
        return any(True for _ in grasps(scene, ROBOT.opening, scene.need(thing.thing_id)))
    except SkillError:
        return False


def _seen(layout: KitchenLayout, pulled: str) -> Iterator[PerceivedThing]:
    """Yield all that is in a kitchen, with the drawer of a name pulled out as far as it opens."""
    shift = np.zeros(2)
    for placed in layout.furniture:
        furniture, openings = placed.furniture, dict(placed.openings)
        for piece in furniture.moving:
            if piece.name == pulled and piece.pivot is None:
                out = np.subtract(placed.point(-1.0, 0.0), placed.point(0.0, 0.0))
                shift = (piece.travel - openings[piece.name]) * out
                openings[piece.name] = piece.travel
        own = {each.name: _front(placed, each, openings[each.name]) for each in furniture.moving}
        turn = Rotation.from_euler("z", placed.yaw)
        middle = np.array([placed.x, placed.y, furniture.size[2] / 2])
        state = "" if furniture.name not in openings else OPENED if openings[furniture.name] else CLOSED
        size, front = np.array(furniture.size), own.get(furniture.name, {})
        yield PerceivedThing(furniture.name, furniture.object_type, middle, turn, size, state, front)
        for piece in furniture.moving:
            if piece.name != furniture.name:
                x, y, z = (np.add(piece.low, piece.high) / 2).tolist()
                place = np.array([*placed.point(x - openings[piece.name], y), z])
                state = OPENED if openings[piece.name] else CLOSED
                attributes = own[piece.name] | {"place": f"in {furniture.name}"}
                size = np.subtract(piece.high, piece.low)
                yield PerceivedThing(piece.name, piece.object_type, place, turn, size, state, attributes)
    for each in layout.things:
        x, y = np.array([each.x, each.y]) + (shift if each.holder == pulled else 0.0)
        turn = Rotation.from_euler("z", each.yaw)
        attributes = {"place": f"{each.relation} {each.holder}"}
        place, size = np.array([x, y, each.z]), np.array(each.body.size)
        yield PerceivedThing(each.thing_id, each.kind.name, place, turn, size, each.state, attributes)


def _front(placed: PlacedFurniture, piece: Moving, opening: float) -> dict[str, str]:
    """Return what a detector says of a handle, see `kc_vla.skills.handles`."""
    x, y, z = piece.handle_at(opening).tolist()
    hinge = None if piece.pivot is None else placed.point(*piece.pivot)
    return front_attributes([*placed.point(x, y), z], hinge, opening)
