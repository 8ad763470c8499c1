"""What a detector finds in one image, before it has a place in 3-D."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kc_vla.memory.images.crop import PixelBox

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class ImageDetection:
    """One object in an image.

    Attributes:
        object_type: class, e.g. "mug".
        box: of what can be seen of it, px.
        confidence: that it is there and is of this class, 0..1.
        state: e.g. "opened"; empty if the detector does not say.
        attributes: what else the detector reports, e.g. its color.
        object_id: by which the detector knows it again; empty if it does not.
        center: pixel of the object's middle, x and y; None: the middle of the box.
        depth_m: depth of the object's middle along the optical axis, m, by the detector's own estimate; None without.
        depth_measured: whether that rests on the image's depth; then it is not only known up to scale.
        size: extent along the axes of the frame that objects are located in, m; None where it is not known.
        position: of its middle in the camera's optical frame, m; of a detector that works in 3-D, otherwise None.
        faint: it is too unsure for something new, and shows that what is known there still is.
    """

    object_type: str
    box: PixelBox
    confidence: float
    state: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    object_id: str = ""
    center: tuple[float, float] | None = None
    depth_m: float | None = None
    depth_measured: bool = False
    size: Vector | None = None
    position: Vector | None = None
    faint: bool = False
