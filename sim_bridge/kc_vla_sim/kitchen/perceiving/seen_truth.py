"""What of the truth the cameras have shown so far: a memory has to know that, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kc_vla.core.projection import project
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla_sim.frame import GroundTruthObject, SimulatedFrame
from kc_vla_sim.kitchen.events import KitchenEvent
from kc_vla_sim.kitchen.perceiving.judging import TrueObject
from kc_vla_sim.kitchen.perceiving.truth_detector import LEAST_PIXELS
from kc_vla_sim.kitchen.words import FURNITURE_TYPES

Vector = tuple[float, float, float]
WELL_SHARE, WELL_PIXELS = 0.3, 0.001
"""An image shows an object well by this share of it, on this share of its pixels, both at least, and on no fewer pixels
than the truth is reported for ..."""
LEAST_LOOKS = 3
"""... and a memory has to know it from so many such images on."""
_STAYED_M = 0.015
"""What has moved less is where it was."""
_BEHIND_M = 0.03
"""A place is seen empty where the surface in its direction is so much deeper."""


@dataclass
class _Sighting:
    images: int = 0
    position: Vector = (0.0, 0.0, 0.0)
    state: str = ""


@dataclass
class LeftPlace:
    """A place that something was moved away from.

    Attributes:
        event: the change.
        object_type: of what was moved.
        known: whether it had been seen well there before.
        holder: id of the drawer that the place moves with; empty where it stays.
        offset: from the middle of that drawer, or from the base, m.
        empty: images that showed the place empty since.
    """

    event: KitchenEvent
    object_type: str
    known: bool
    holder: str
    offset: Vector
    empty: int = 0

    def position(self, objects: dict[str, GroundTruthObject]) -> Vector:
        """Return where the place is now, m."""
        begin = objects[self.holder].pose.position if self.holder else (0.0, 0.0, 0.0)
        x, y, z = np.add(begin, self.offset).tolist()
        return x, y, z


@dataclass
class SeenTruth:
    """Follows a tour, image by image.

    Attributes:
        left: the places that things were moved away from.
        put: changes that put a thing, in view, into something that closes.
    """

    left: list[LeftPlace] = field(default_factory=list)
    put: list[KitchenEvent] = field(default_factory=list)
    _sightings: dict[str, _Sighting] = field(default_factory=dict)
    _resting: dict[tuple[str, str], Vector] = field(default_factory=dict)
    _objects: dict[str, GroundTruthObject] = field(default_factory=dict)
    _noted: int = 0

    def note(self, frame: SimulatedFrame, images: Sequence[CameraFrame], events: Sequence[KitchenEvent]) -> None:
        """Take in a moment that perception looks at, its images with depth, and all changes so far."""
        for event in events[self._noted :]:
            self._note_event(event)
        self._noted = len(events)
        self._objects = {each.object_id: each for each in frame.detections}
        for name, each in self._objects.items():
            self._resting[name, each.attributes.get("place", "")] = each.pose.position
        for image in images:
            self._note_image(frame, image)

    def objects(self) -> Iterator[TrueObject]:
        """Yield all objects as they are now."""
        for name, each in self._objects.items():
            seen = self._sightings.get(name, _Sighting())
            stayed = float(np.linalg.norm(np.subtract(seen.position, each.pose.position))) <= _STAYED_M
            yield TrueObject(
                name,
                each.object_type,
                each.state,
                each.pose.position,
                each.attributes.get("place", ""),
                each.object_type not in FURNITURE_TYPES,
                seen.images if seen.images >= LEAST_LOOKS else 0,
                stayed and seen.state == each.state,
            )

    def now(self) -> dict[str, GroundTruthObject]:
        """Return all objects as the last image had them."""
        return self._objects

    def _note_event(self, event: KitchenEvent) -> None:
        if event.what != "moved":
            return
        relation, _, holder = event.after.partition(" ")
        if event.in_view and relation == "in" and holder in self._objects and self._objects[holder].state:
            self.put.append(event)
        before = self._resting.get((event.object_id, event.before))
        if before is None or event.object_id not in self._objects:
            return
        known = self._sightings.get(event.object_id, _Sighting())
        gap = float(np.linalg.norm(np.subtract(known.position, before)))
        was_in = event.before.partition(" ")[2]
        drawer = was_in if was_in in self._objects and self._objects[was_in].object_type == "drawer" else ""
        begin = self._resting_of(drawer) if drawer else (0.0, 0.0, 0.0)
        x, y, z = np.subtract(before, begin).tolist()
        seen = known.images >= LEAST_LOOKS and (bool(drawer) or gap <= _STAYED_M)
        self.left.append(LeftPlace(event, self._objects[event.object_id].object_type, seen, drawer, (x, y, z)))

    def _resting_of(self, name: str) -> Vector:
        return self._objects[name].pose.position

    def _note_image(self, frame: SimulatedFrame, image: CameraFrame) -> None:
        height, width = image.image.shape[:2]
        for name, seen in frame.visible[image.camera].items():
            if seen.share >= WELL_SHARE and seen.pixels >= max(LEAST_PIXELS, WELL_PIXELS * width * height):
                known, sighting = self._objects[name], self._sightings.setdefault(name, _Sighting())
                sighting.images += 1
                sighting.position, sighting.state = known.pose.position, known.state
        for place in self.left:
            place.empty += _shows_empty(image, place.position(self._objects))


def _shows_empty(image: CameraFrame, position: Vector) -> bool:
    """Return whether an image shows that nothing is at a place: it sees what is behind it."""
    assert image.depth_m is not None
    (pixel,), (deep,) = project(np.array([position]), image.pose, image.matrix)
    height, width = image.depth_m.shape
    if not deep > 0.0 or not (0 <= pixel[0] < width and 0 <= pixel[1] < height):
        return False
    return bool(image.depth_m[int(pixel[1]), int(pixel[0])] > deep + _BEHIND_M)
