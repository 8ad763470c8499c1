"""A robot that looks at a table and tracks what it sees, for tests of tracking."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from box_scene import FRAME_NS, Camera, Thing

from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.localization import Localizer
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.tracking import Tracked, Tracker

MUG, CAN, PLATE = (0.08, 0.08, 0.1), (0.065, 0.065, 0.12), (0.18, 0.18, 0.03)


@dataclass
class Room:
    """A robot that looks at a table through some cameras."""

    cameras: Sequence[Camera] = field(default_factory=lambda: [Camera()])
    tracker: Tracker = field(default_factory=Tracker)
    localizer: Localizer = field(default_factory=Localizer)
    now_ns: int = 10**12
    reported: dict[str, LocatedObject] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)

    def look(self, *things: Thing, camera: int = 0, lies: Sequence[ImageDetection] | None = None) -> Tracked:
        """Take one image, of which a detector may say something else."""
        self.now_ns += FRAME_NS
        self.cameras[camera].at_ns = self.now_ns
        frame, found = self.cameras[camera].take(things)
        located = self.localizer.locate(frame, found if lies is None else [*found, *lies])
        tracked = self.tracker.update(located.frame, located.objects)
        self.reported |= {each.object_id: each for each in tracked.objects}
        self.gone += tracked.gone
        return tracked

    def looks(self, count: int, *things: Thing) -> Tracked:
        """Take some images and return what the last one shows."""
        for _ in range(count):
            tracked = self.look(*things)
        return tracked


def ids(tracked: Tracked) -> dict[str, LocatedObject]:
    """Return what is reported, by its id."""
    return {each.object_id: each for each in tracked.objects}


def in_camera(room: Room, place: tuple[float, float, float]) -> np.ndarray:
    """Return a place of the map in the optical frame of the first camera (3,), m."""
    pose = room.cameras[0].pose
    return np.asarray((np.array(place) - pose[:3, 3]) @ pose[:3, :3])
