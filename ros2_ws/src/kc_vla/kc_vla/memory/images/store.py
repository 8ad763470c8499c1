"""Crops of what was seen, one an object: the newest one, within a count and a number of bytes."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from kc_vla.media.images import ImageError, file_pixels, jpeg
from kc_vla.memory.images.crop import CropError, PixelBox, Pixels, cropped
from kc_vla.memory.images.files import MOST_FILE_BYTES, CropFiles, InFolder, InMemory, key_of, name_for

_QUALITY = 85
_MOST_SIDE = 512
_LEAST_BYTES = 1 << 16
_MOST_STAMP_S = 1e13
MOST_GIVEN_BYTES = 1 << 20
"""Bytes of a crop that a detector gives as a file."""


@dataclass(frozen=True)
class CropLimits:
    """What a store of crops holds at most.

    Attributes:
        longest: side of a crop, px (8 to 512); larger ones are scaled down.
        most: crops.
        most_bytes: of all crops together (64 KB and more).
        margin: of its surroundings that a crop has on each side, as a share of that side of the box (0 to 1).
        every_s: of an object that stays in view, a new crop is taken after so long, s; 0: each time.

    Raises:
        CropError: a number makes no sense.
    """

    longest: int = 128
    most: int = 1000
    most_bytes: int = 16 << 20
    margin: float = 0.1
    every_s: float = 1.0

    def __post_init__(self) -> None:
        if not 8 <= self.longest <= _MOST_SIDE:
            raise CropError(f"crops of {self.longest} px: give a longest side of 8 to {_MOST_SIDE}")
        if self.most < 1 or self.most_bytes < _LEAST_BYTES:
            raise CropError(
                f"{self.most} crops in {self.most_bytes} bytes: give 1 crop and {_LEAST_BYTES} bytes or more"
            )
        if not 0 <= self.margin <= 1 or not 0 <= self.every_s < math.inf:
            raise CropError(f"a margin of {self.margin}, each {self.every_s} s: give 0 to 1, and 0 s or more")


class ObservableUnits(Protocol):
    """A memory that says which unit changed, as `ShortTermMemory` does."""

    def listen(self, listener: Callable[[str, object | None], None]) -> None:
        """Call back with the id of each unit that changes; None for one that left."""
        ...


class _Held(NamedTuple):
    name: str
    stamp: float
    size: int


class CropStore:
    """The newest crop of each object, for any threads.

    A new crop has a new reference; the one before it is removed. Where count or bytes are at their limit, the crop that
    was taken first is removed: the reference that its unit has then leads to nothing, and `read` says so.
    """

    def __init__(self, folder: Path | None = None, limits: CropLimits = CropLimits()) -> None:  # it cannot be changed
        """Open a store.

        Args:
            folder: for crops alone; those that it holds are known again. None: they are kept in this process.
            limits: of the crops; what a folder holds beyond them is removed, the oldest first.

        Raises:
            CropError: the folder holds other files, another process writes there, or it cannot be used.
        """
        self.limits = limits
        self._files: CropFiles = InMemory() if folder is None else InFolder(folder)
        self._lock = threading.Lock()
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._bytes = 0
        self.problem = ""
        """Why a crop could not be removed, in one line; empty where all could."""
        found = [(named.stamp_ns, named.key, name, size) for name, named, size in self._files.kept()]
        for stamp_ns, key, name, size in sorted(found):
            self._hold(key, _Held(name, stamp_ns / 1e9, size))

    def __len__(self) -> int:
        return len(self._held)

    @property
    def size(self) -> int:
        """Return the bytes of all crops."""
        return self._bytes

    def put(self, object_id: str, image: Pixels, box: PixelBox, stamp: float) -> str:
        """Keep what an image shows of an object, in the place of the crop before.

        Args:
            object_id: of its unit.
            image: (H, W, 3) uint8, RGB.
            box: of the object in the image, px.
            stamp: of the image, s.

        Returns:
            The reference for `Unit.image`. It is that of the crop before where this image is older than that, or less
            than `CropLimits.every_s` newer.

        Raises:
            CropError: nothing of the box is in the image, or the crop cannot be kept; the one before stays then.
        """
        if held := self._recent(object_id, stamp):
            return held
        return self._keep(object_id, cropped(image, box, self.limits.margin), stamp)

    def put_file(self, object_id: str, data: bytes, stamp: float) -> str:
        """Keep a crop that a detector gives as JPEG or PNG: it is read, scaled and written anew; see `put`."""
        if held := self._recent(object_id, stamp):
            return held
        if len(data) > MOST_GIVEN_BYTES:
            raise CropError(f"a crop of {len(data)} bytes: a detector can give {MOST_GIVEN_BYTES}")
        try:
            pixels = file_pixels(data)
        except ImageError as error:
            raise CropError(f"the crop that a detector gave {error}") from error
        return self._keep(object_id, pixels, stamp)

    def read(self, reference: str) -> bytes:
        """Return the JPEG of a crop; raise CropError if it is gone, damaged or no crop of a store."""
        name = reference.rpartition("/")[2]
        with self._lock:
            return self._files.read(name)

    def stamp(self, object_id: str) -> float | None:
        """Return when the image of an object's crop was taken, s; None where there is no crop of it."""
        held = self._held.get(key_of(object_id))
        return None if held is None else held.stamp

    def reference(self, object_id: str) -> str:
        """Return the reference of an object's crop; empty where there is none."""
        held = self._held.get(key_of(object_id))
        return "" if held is None else self._files.reference(held.name)

    def forget(self, object_id: str) -> None:
        """Remove the crop of an object, if there is one."""
        with self._lock:
            self._drop(key_of(object_id))

    def retain(self, object_ids: Collection[str]) -> None:
        """Remove the crops of all objects but these."""
        kept = {key_of(each) for each in object_ids}
        with self._lock:
            for key in [each for each in self._held if each not in kept]:
                self._drop(key)

    def clear(self) -> None:
        """Remove all crops, as a memory does that is empty at each start."""
        self.retain(())

    def follow(self, memory: ObservableUnits) -> None:
        """Remove from now on the crop of each unit that leaves a memory."""
        memory.listen(lambda object_id, unit: self.forget(object_id) if unit is None else None)

    def close(self) -> None:
        """Let another process open the folder; the crops in it stay."""
        self._files.close()

    def _recent(self, object_id: str, stamp: float) -> str:
        """Return the reference of the crop that does for an image of that time; empty where a new one is due."""
        if not abs(stamp) < _MOST_STAMP_S:
            raise CropError(f"the image of {object_id[:40]!r} has the stamp {stamp:.6g} s, which is no time")
        held = self._held.get(key_of(object_id))
        due = held is None or (stamp >= held.stamp and stamp - held.stamp >= self.limits.every_s)
        return "" if due or held is None else self._files.reference(held.name)

    def _keep(self, object_id: str, pixels: Pixels, stamp: float) -> str:
        data = jpeg(pixels, self.limits.longest, _QUALITY)
        if len(data) > min(self.limits.most_bytes, MOST_FILE_BYTES):
            raise CropError(f"the crop of {object_id[:40]!r} has {len(data)} bytes, more than all crops may have")
        name = name_for(object_id, round(stamp * 1e9))
        with self._lock:
            try:
                self._files.write(name, data)
                self._hold(key_of(object_id), _Held(name, stamp, len(data)))
            except OSError as error:
                raise CropError(f"the crop of {object_id[:40]!r} cannot be written: {error.strerror}") from error
        return self._files.reference(name)

    def _hold(self, key: str, held: _Held) -> None:
        """Note a crop that is written, and remove what it replaces and what there is no more room for."""
        before = self._held.pop(key, None)
        self._held[key] = held
        self._bytes += held.size - (before.size if before else 0)
        if before is not None and before.name != held.name:
            self._remove(before.name)
        while len(self._held) > self.limits.most or self._bytes > self.limits.most_bytes:
            self._drop(next(iter(self._held)))

    def _drop(self, key: str) -> None:
        held = self._held.pop(key, None)
        if held is not None:
            self._bytes -= held.size
            self._remove(held.name)

    def _remove(self, name: str) -> None:
        """Remove a file; one that cannot be removed does not hold up the memory, but is a problem."""
        try:
            self._files.remove(name)
        except OSError as error:
            self.problem = f"the crop {name} cannot be removed: {error.strerror}"
