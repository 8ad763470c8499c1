"""What a hand or a thing may not touch, as upright boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kc_vla.perception.front_record import HANDLE
from kc_vla.skills.fronts import front_boxes
from kc_vla.skills.handles import STANDOFF_M, handle_of
from kc_vla.skills.interface import SkillError, Vector
from kc_vla.skills.perceived import OPENED, PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.upright_box import UprightBox as UprightBox

_WALL, _FLOOR = 0.016, 0.006
"""Thickness that the walls and the floor of what is hollow are taken to have, m ..."""
_TRAY_RIM, _TRAY_FLOOR = 0.009, 0.004
"""... and those of a tray, from which also flat things are taken, m."""
_SIDES = 0.48
"""The sides and the back of a drawer are taken to be as high as this share of its front."""
_CAMERA, _CAMERA_AHEAD, _CAMERA_UP = (0.024, 0.1, 0.022), 0.047, 0.08
"""Size of a camera on the hand (deep, wide, high), and how far its middle is ahead of the tool center point and above
it, m."""
_TAP = (0.035, 0.05, 0.11)
"""Size of the tap of a sink (deep, wide, high), m."""
HOLLOW = frozenset({"drawer", "sink", "tray", "basket", "box", "bin", "bowl", "pot", "pan"})
"""Types that things lie in from above: their boxes are walls around a space."""
SUPPORTS = frozenset({"drawer", "cupboard", "cabinet", "microwave", "fridge", "oven"})
"""Types with a front that opens."""


def meets_any(box: UprightBox, others: Iterable[UprightBox]) -> bool:
    """Return whether a box meets one of several."""
    return any(box.meets(each) for each in others)


def hand_boxes(place: Vector, yaw: float, width: float) -> tuple[UprightBox, ...]:
    """Return what a parallel gripper that points down takes up: two fingers, the palm above them, and a camera on it.

    Args:
        place: of the tool center point (3,), m.
        yaw: of the hand, rad; the fingers are at its sides, and the camera ahead.
        width: between the fingers, m.
    """
    across, ahead = np.array([-np.sin(yaw), np.cos(yaw), 0.0]), np.array([np.cos(yaw), np.sin(yaw), 0.0])
    finger = np.array([0.02, 0.016, 0.05])
    boxes = [
        UprightBox(place + side * (width / 2 + 0.008) * across + (0, 0, 0.015), finger, yaw) for side in (-1.0, 1.0)
    ]
    palm = UprightBox(place + np.array([0.0, 0.0, 0.12]), np.array([0.066, 0.206, 0.15]), yaw)
    camera = UprightBox(place + _CAMERA_AHEAD * ahead + (0.0, 0.0, _CAMERA_UP), np.array(_CAMERA), yaw)
    return (*boxes, palm, camera)


def obstacles(scene: PerceivedScene, without: Iterable[str] = ()) -> list[UprightBox]:
    """Return the boxes of all that was seen and is not shut in: hollow things as their walls."""
    return [box for _, box in named_obstacles(scene, without)]


def named_obstacles(scene: PerceivedScene, without: Iterable[str] = ()) -> list[tuple[str, UprightBox]]:
    """Return the boxes of all that was seen and is not shut in, each with the id of its thing."""
    left_out = set(without)
    found: list[tuple[str, UprightBox]] = []
    for each in scene.all():
        if each.object_id in left_out or scene.is_shut_in(each):
            continue
        found += [(each.object_id, part) for part in front_boxes(each)]
        if each.object_type == "sink":
            found.append((each.object_id, _tap(each)))
        if each.object_type in HOLLOW and (each.object_type != "drawer" or OPENED in each.states):
            found += [(each.object_id, wall) for wall in _walls(each, _lowest_in(scene, each))]
        elif each.object_type != "drawer":  # a closed one is within the box of its cabinet
            found.append((each.object_id, fitted(scene, each)))
    return found


def fitted(scene: PerceivedScene, thing: PerceivedThing) -> UprightBox:
    """Return the box of a thing, and of furniture with a handle no more than what is behind its front.

    Depth shows where a front is far better than how deep the furniture behind it is, and so where its middle is. The
    front of a cabinet is that of its drawers; of drawers in one cabinet, one front is before the other.
    """
    box = UprightBox.around(thing)
    for each in (thing, *_of_one_cabinet(scene, thing)):
        if HANDLE in each.attributes and (cut := _behind_front(box, each)) is not None:
            return cut
    return box


def _of_one_cabinet(scene: PerceivedScene, thing: PerceivedThing) -> Iterator[PerceivedThing]:
    cabinet = thing.object_id if thing.object_type != "drawer" else thing.container[1]
    return (each for each in scene.all() if each.object_type == "drawer" and each.container == ("in", cabinet))


def _behind_front(box: UprightBox, thing: PerceivedThing) -> UprightBox | None:
    """Return what of a box is behind the front, when that is closed, of a thing; None where its numbers are wrong."""
    try:
        handle = handle_of(thing)
    except SkillError:  # the skill that needs this handle says what is wrong with it
        return None
    axes = np.array([[np.cos(box.yaw), np.sin(box.yaw)], [-np.sin(box.yaw), np.cos(box.yaw)]])
    along = axes @ handle.out[:2]
    axis = int(np.argmax(np.abs(along)))
    out = np.sign(along[axis]) * axes[axis]
    before = float((box.middle[:2] - handle.at(0.0, STANDOFF_M)[:2]) @ out) + box.size[axis] / 2
    if not 0.0 < before < box.size[axis] / 2:
        return box
    size, middle = box.size.copy(), box.middle.copy()
    size[axis] -= before
    middle[:2] -= before / 2 * out
    return UprightBox(middle, size, box.yaw)


def _tap(sink: PerceivedThing) -> UprightBox:
    """Return the tap of a sink, which is no object of its own: in the middle of the side that is farthest away."""
    sides = [axis * side for axis in np.eye(3)[:2] * sink.size / 2 for side in (1.0, -1.0)]
    back = max((sink.out(each) - sink.position for each in sides), key=lambda side: float(side @ sink.position))
    deep, _, high = _TAP
    middle = sink.position + back * (1.0 - deep / 2 / float(np.linalg.norm(back)))
    middle[2] = sink.top + high / 2
    return UprightBox(middle, np.array(_TAP), float(np.arctan2(back[1], back[0])))


def _lowest_in(scene: PerceivedScene, holder: PerceivedThing) -> float:
    """Return the height of the lower side of the lowest thing that is seen in something, m; infinity for none.

    From above a depth image shows that side of a thing far better than the floor of what holds it.
    """
    inside = (each.bottom for each in scene.held_in(holder.object_id) if each.container[0] == "in")
    return min(inside, default=np.inf)


def _walls(thing: PerceivedThing, lowest: float = np.inf) -> list[UprightBox]:
    """Return four walls and a floor; the front of a drawer is higher than its other walls.

    Args:
        thing: that is hollow.
        lowest: the floor is no higher than this, m, where its lower side is measured badly.
    """
    x, y, z = thing.size.tolist()
    wide, thick = (_TRAY_RIM, _TRAY_FLOOR) if thing.object_type == "tray" else (_WALL, _FLOOR)
    low = _SIDES * z if thing.object_type == "drawer" else z
    walls = [((-(x - wide) / 2, 0.0, 0.0), (wide, y, z)), (((x - wide) / 2, 0.0, (low - z) / 2), (wide, y, low))] + [
        ((0.0, side * (y - wide) / 2, (low - z) / 2), (x, wide, low)) for side in (-1, 1)
    ]
    sunk = max(0.0, thing.bottom + thick - lowest)
    walls.append(((0.0, 0.0, (thick - z) / 2 - sunk), (x, y, thick)))
    return [UprightBox(thing.out(np.array(place)), np.array(size), thing.yaw) for place, size in walls]
