"""Looks for the handle of a drawer or a door that was not seen yet."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import product

import numpy as np

from kc_vla.skills.context import SkillContext
from kc_vla.skills.door_panel import door_panel
from kc_vla.skills.hand_turns import facing
from kc_vla.skills.handles import Handle, handle_of
from kc_vla.skills.interface import SkillError, Step, Vector
from kc_vla.skills.looking import look_from, look_towards
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.tool_path import ToolPose

_TILTS, _TURNS, _AWAY_M = np.radians([45.0, 30.0, 60.0]), np.radians([0.0, 30.0, -30.0, 60.0, -60.0]), (0.28, 0.35)
"""How far a hand that looks at a handle is raised from straight down, and turned from straight at it, rad; and how far
away it is, m."""


def seen_handle(context: SkillContext, object_id: str) -> Generator[Step, None, Handle]:
    """Return the handle of a drawer or a door; the hand looks for one that was not seen.

    Raises:
        SkillError: it is not seen.
    """

    def is_known() -> bool:
        try:
            handle_of(context.scene.need(object_id))
        except SkillError:
            return False
        return True

    if not is_known():
        thing = context.scene.need(object_id)
        yield from look_from(context, _views(*_likely(thing)), object_id, is_known)
        if not is_known():
            yield from look_towards(context, thing.position, object_id, is_known)
    return handle_of(context.scene.need(object_id))


def _likely(thing: PerceivedThing) -> tuple[Vector, Vector]:
    """Return where the handle of a thing may be (3,), m, and the direction in which the side with it looks (2,)."""
    panel = door_panel(thing)
    if panel is not None:
        return panel.handle, panel.outwards
    return thing.out(np.array([-thing.size[0] / 2, 0.0, 0.0])), thing.rotation.apply((-1.0, 0.0, 0.0))[:2]


def _views(place: Vector, outwards: Vector) -> Iterator[ToolPose]:
    """Yield poses of a hand from which its camera sees a place on a surface, the best first.

    Args:
        place: that is looked at (3,), m.
        outwards: direction in which the surface looks (2,).
    """
    inwards = float(np.arctan2(-outwards[1], -outwards[0]))
    for away, tilt, turn in product(_AWAY_M, _TILTS, _TURNS):
        turned = facing(inwards + float(turn), float(tilt))
        yield ToolPose(place - away * turned.apply((0.0, 0.0, 1.0)), turned)
