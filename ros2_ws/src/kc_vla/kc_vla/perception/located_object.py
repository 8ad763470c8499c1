"""An object that was seen and whose place is known, before and after tracking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.front import Front
from kc_vla.perception.open_door import OpenDoor
from kc_vla.perception.standing_shape import StandingShape

Vector = tuple[float, float, float]
POSITION, YAW = "position", "yaw"
"""Attributes that say how a place was found without depth, and that it is not known which side of furniture is its
front."""


@dataclass(frozen=True)
class LocatedObject:
    """One object that a camera sees.

    Attributes:
        object_type: class, e.g. "mug".
        position: of its middle, m, in the frame that objects are located in.
        size: extent along the axes of that frame, m; zeros where it is not known.
        confidence: 0..1; less where the place is estimated without depth.
        sigma_m: standard deviation of the position, m.
        box: of what can be seen of it, px; all zeros for what this image does not show, as something was just closed
            over it.
        state: e.g. "opened"; empty if it is not known.
        attributes: what else is known, e.g. its color; "position" says how a place was found without depth.
        object_id: which object it is; empty before tracking unless the detector knows it again.
        yaw: turn of its own box about the vertical, rad; furniture looks along the negative of its first axis.
        box_size: size along the axes of that box, m; None: `size`.
        shape: how it stands by this image's depth, where that shows it; None after tracking.
        front: its front by this image's depth, likewise.
        door: its door that stands open, likewise.
        others: the other fronts of a cabinet, likewise.
        faint: it is too unsure for something new, and shows that what is known there still is.
    """

    object_type: str
    position: Vector
    size: Vector
    confidence: float
    sigma_m: float
    box: PixelBox
    state: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    object_id: str = ""
    yaw: float = 0.0
    box_size: Vector | None = None
    shape: StandingShape | None = None
    front: Front | None = None
    door: OpenDoor | None = None
    others: tuple[Front, ...] = ()
    faint: bool = False
