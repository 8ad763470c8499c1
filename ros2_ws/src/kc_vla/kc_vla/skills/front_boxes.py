"""Boxes of furniture with a front: the walls of what is open, its door, and the bars of handles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.skills.boxes import UprightBox, named_obstacles
from kc_vla.skills.handles import HANDLE, Handle, handle_of
from kc_vla.skills.interface import SkillError
from kc_vla.skills.perceived import PerceivedScene

_BAR_M, _LYING_M, _STANDING_M = 0.014, 0.12, 0.1
"""Thickness of a bar, and the lengths of those of drawers and of doors, m."""


def bars(scene: PerceivedScene) -> Iterator[tuple[str, UprightBox]]:
    """Yield the bar of each handle that was seen, with the id of what it opens."""
    for each in scene.all():
        if HANDLE not in each.attributes:
            continue
        try:
            handle = handle_of(each)
        except SkillError:
            continue  # what is reported of it is no place
        yield each.object_id, bar_of(handle)


def bar_of(handle: Handle) -> UprightBox:
    """Return the box of the bar of a handle as it is now."""
    size = (_BAR_M, _LYING_M, _BAR_M) if handle.hinge is None else (_BAR_M, _BAR_M, _STANDING_M)
    return UprightBox(handle.position, np.array(size), handle.yaw(handle.opening))


def with_bars(scene: PerceivedScene, *without: str) -> list[tuple[str, UprightBox]]:
    """Return the boxes of all that was seen, and the bars of handles, each with the id of its thing."""
    return [*named_obstacles(scene, without), *bars(scene)]
