"""Draws a frame: its images, and where they are asked for their depth and what they show, all of one rendering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kc_vla.core.views import Views
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.frame import DepthImage, VisibleObject
from kc_vla_sim.geometry import VIEWS

_NO_IMAGE = np.zeros((0, 0, 3), np.uint8)


@dataclass(frozen=True)
class DrawnFrame:
    """What was drawn of a frame; see the fields of these names of `SimulatedFrame`."""

    views: Views
    depth: Mapping[str, DepthImage] = field(default_factory=dict)
    visible: Mapping[str, Mapping[str, VisibleObject]] = field(default_factory=dict)


UNDRAWN = DrawnFrame(dict.fromkeys(VIEWS, _NO_IMAGE))
"""A frame without images."""


def draw_frame(world: Any, task: str, depth: bool) -> DrawnFrame:
    """Draw the present frame.

    Args:
        world: environment of the task.
        task: its name.
        depth: whether depth is asked for.

    Raises:
        BadTaskError: it is, and the environment has none.
    """
    if not depth and not getattr(world, "TELLS_VISIBLE", False):
        images = world.pictures()
        return DrawnFrame({name: images[name] for name in VIEWS})
    if not hasattr(world, "captures"):
        raise BadTaskError(f"the environment of task '{task}' has no captures(): play it without depth")
    captures = world.captures()
    return DrawnFrame(
        {name: captures[name].image for name in VIEWS},
        {name: captures[name].depth for name in VIEWS} if depth else {},
        world.visible(captures),
    )
