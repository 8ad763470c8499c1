"""Whether objects that a look did not find are gone, or only hidden or out of view."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.line_of_sight import SightLines, hidden_by, look_at
from kc_vla.core.projection import project
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.track import ObjectTrack

Numbers = NDArray[np.float64]
_EDGE = 0.05
"""Share of the image's sides at its edge where a detector may not know an object that is cut off."""


class Absence(Enum):
    """What a look says of an object that it did not find."""

    EMPTY = "its place is empty"
    UNSEEN = "nothing stands before it, and it was not found"
    HIDDEN = "something is at its place or before it"
    OUT_OF_VIEW = "its place is not in view"


def sight_lines(frame: CameraFrame, farthest_m: float) -> SightLines:
    """Return the lines of sight of an image."""
    height, width = frame.image.shape[:2]
    return SightLines(
        frame.pose,
        frame.matrix,
        (width, height),
        farthest_m,
        frame.depth_m,
        frame.distortion_model,
        frame.distortion,
    )


def absences(
    lines: SightLines, missed: Sequence[ObjectTrack], known: Sequence[ObjectTrack], seen: Sequence[LocatedObject]
) -> list[Absence]:
    """Return for each object that a look did not find what that says.

    Args:
        lines: of the image.
        missed: the objects.
        known: all that are believed: without depth they can hide others.
        seen: what the look shows.
    """
    if not missed:
        return []
    middles, sizes = np.array([each.position for each in missed]), np.array([each.size for each in missed])
    sights = look_at(lines, middles, sizes)
    if lines.depth_m is None:
        hidden = _hidden(lines, middles, missed, known, seen)
        return [
            Absence.OUT_OF_VIEW if not inside else Absence.HIDDEN if behind else Absence.UNSEEN
            for inside, behind in zip(sights.in_view & _well_inside(lines, middles), hidden, strict=True)
        ]
    found = []
    for at in range(len(missed)):
        if not sights.in_view[at]:
            found.append(Absence.OUT_OF_VIEW)
        elif sights.empty[at]:
            found.append(Absence.EMPTY)
        else:
            found.append(Absence.UNSEEN if sights.thin[at] and sights.free[at] else Absence.HIDDEN)
    return found


def empty_places(lines: SightLines, seen: Sequence[LocatedObject]) -> NDArray[np.bool_]:
    """Return of which detections the depth image shows that nothing is where they would be: (N,)."""
    if lines.depth_m is None or not seen:
        return np.zeros(len(seen), bool)
    return look_at(lines, np.array([each.position for each in seen]), np.array([each.size for each in seen])).empty


def _well_inside(lines: SightLines, middles: Numbers) -> NDArray[np.bool_]:
    pixels, _ = project(middles, lines.camera, lines.matrix, lines.model, lines.distortion)
    edge = _EDGE * np.array(lines.size)
    return np.asarray(((pixels >= edge) & (pixels <= np.array(lines.size) - edge)).all(axis=1))


def _hidden(
    lines: SightLines,
    middles: Numbers,
    missed: Sequence[ObjectTrack],
    known: Sequence[ObjectTrack],
    seen: Sequence[LocatedObject],
) -> NDArray[np.bool_]:
    """Return which objects are hidden by something else that is known or seen: its box, or its part of the image."""
    own: Collection[int] = {id(each) for each in missed}
    places = [each.position for each in known if id(each) not in own] + [np.array(each.position) for each in seen]
    sizes = [each.size for each in known if id(each) not in own] + [np.array(each.size) for each in seen]
    shown = np.reshape(places, (-1, 3)), np.reshape(sizes, (-1, 3))
    pixels, deep = project(middles, lines.camera, lines.matrix, lines.model, lines.distortion)
    hidden = hidden_by(lines, middles, shown)
    for each in seen:
        depth_m = float((np.array(each.position) - lines.camera[:3, 3]) @ lines.camera[:3, 2])
        hidden |= _inside(pixels, each.box) & (deep > depth_m)
    return hidden


def _inside(pixels: Numbers, box: PixelBox) -> NDArray[np.bool_]:
    left, top, right, bottom = box
    return np.asarray((pixels >= (left, top)).all(axis=1) & (pixels <= (right, bottom)).all(axis=1))
