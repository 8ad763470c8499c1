"""Crops of objects for those who take in detections: a new one of each object now and then, not with each image."""

from __future__ import annotations

from kc_vla.memory.images.crop import CropError
from kc_vla.memory.images.store import CropLimits, CropStore
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.located_object import LocatedObject

_MOST = 1000


class FreshCrops:
    """Cuts objects out of images, each at most once a second."""

    def __init__(self, longest: int, every_s: float = 1.0) -> None:
        """Begin without any.

        Args:
            longest: of the sides of a crop, px.
            every_s: between two crops of an object, s.
        """
        self._store = CropStore(None, CropLimits(longest, _MOST, every_s=every_s))

    def of(self, frame: CameraFrame, thing: LocatedObject) -> bytes:
        """Return a JPEG of what an image shows of an object; empty where none is due or nothing of it is shown."""
        before = self._store.reference(thing.object_id)
        try:
            reference = self._store.put(thing.object_id, frame.image, thing.box, frame.stamp_ns / 1e9)
            return b"" if reference == before else self._store.read(reference)
        except CropError:
            return b""
