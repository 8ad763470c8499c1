"""Where crops are kept: files of a folder that is for them alone, or the memory of the process."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from kc_vla.core.files import PART_OF, locks, write_fresh
from kc_vla.memory.images.crop import CropError

MARKER = "crops.lock"
"""File that says that a folder is for crops, and whose lock the process has that writes there."""
MOST_FILE_BYTES = 1 << 20
_JPEG, _END = b"\xff\xd8\xff", b"\xff\xd9"
_NAME = re.compile(r"\w{0,40}-(?P<key>[0-9a-f]{24})-(?P<stamp>-?\d{1,24})\.jpg", re.ASCII)


class CropName(NamedTuple):
    """What the name of a crop says.

    Attributes:
        key: of the object, the same for the same id.
        stamp_ns: when the image was taken.
    """

    key: str
    stamp_ns: int


def key_of(object_id: str) -> str:
    """Return the key of an object: its id may have any letters, a file's name may not."""
    return hashlib.sha256(object_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def name_for(object_id: str, stamp_ns: int) -> str:
    """Return the name of an object's crop, which begins as its id does: "Mug_1-9f86d081884c7d659a2feaa0-17200.jpg"."""
    readable = re.sub(r"\W+", "_", object_id, flags=re.ASCII).strip("_")[:40]
    return f"{readable}-{key_of(object_id)}-{stamp_ns}.jpg"


def read_name(name: str) -> CropName | None:
    """Return what the name of a file says; None where it is none of a crop."""
    match = _NAME.fullmatch(name)
    return CropName(match["key"], int(match["stamp"])) if match else None


def read_crop(folder: Path, reference: str) -> bytes:
    """Return the JPEG of a crop in a folder, from any process; nothing else of the folder is ever read.

    Args:
        folder: of a `CropStore`.
        reference: as `Unit.image` has it; its last part alone counts.

    Raises:
        CropError: it names no crop, the crop is gone, or it is damaged.
    """
    name = reference.rpartition("/")[2]
    if read_name(name) is None:
        raise CropError(f"{reference[:80]!r} names no crop: it is the reference of another image")
    try:
        with open(os.open(f"{folder}/{name}", os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            data = file.read(MOST_FILE_BYTES + 1)
    except FileNotFoundError:
        raise CropError(f"the crop {name} is gone: its unit left, or newer crops needed the room") from None
    except OSError as error:
        raise CropError(f"the crop {name} cannot be read: {error.strerror}") from error
    if len(data) > MOST_FILE_BYTES or not (data.startswith(_JPEG) and data.endswith(_END)):
        raise CropError(f"the crop {name} is damaged: it is no whole JPEG below {MOST_FILE_BYTES >> 20} MB")
    return data


class CropFiles(Protocol):
    """Keeps bytes by the names of crops. OSError where that cannot be."""

    def kept(self) -> Iterator[tuple[str, CropName, int]]:
        """Yield the name of each crop that is kept, what it says, and the size, bytes."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Keep a crop."""
        ...

    def read(self, name: str) -> bytes:
        """Return a crop; CropError where it is not there."""
        ...

    def remove(self, name: str) -> None:
        """Keep a crop no more; one that is not there is ignored."""
        ...

    def reference(self, name: str) -> str:
        """Return what a unit has in `image`."""
        ...

    def close(self) -> None:
        """Let another process write."""
        ...


class InMemory:
    """Crops in the memory of this process."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def kept(self) -> Iterator[tuple[str, CropName, int]]:
        """Yield what is kept: see `CropFiles`."""
        for name, data in self._kept.items():
            if named := read_name(name):
                yield name, named, len(data)

    def write(self, name: str, data: bytes) -> None:
        """Keep a crop."""
        self._kept[name] = data

    def read(self, name: str) -> bytes:
        """Return a crop; CropError where it is not there."""
        if name not in self._kept:
            raise CropError(f"the crop {name[:120]} is gone: its unit left, or newer crops needed the room")
        return self._kept[name]

    def remove(self, name: str) -> None:
        """Keep a crop no more."""
        self._kept.pop(name, None)

    def reference(self, name: str) -> str:
        """Return what a unit has in `image`: the name alone, which no other process can read."""
        return name

    def close(self) -> None:
        """Forget all."""
        self._kept.clear()


class InFolder:
    """Crops as files of a folder that is for them alone.

    A crop is written whole or not at all. What is no crop is neither read nor removed.
    """

    def __init__(self, folder: Path) -> None:
        """Open a folder; it is made where it is not there, and half-written crops in it are removed.

        Raises:
            CropError: it holds other files, another process writes there, or it cannot be written.
        """
        self.folder = folder.absolute()
        marker = self.folder / MARKER
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not marker.is_file() and any(self.folder.iterdir()):
                raise CropError(f"{folder} holds files that are no crops: name an empty or a new folder for them")
            self._lock = marker.open("ab")
            if not locks(self._lock):
                self._lock.close()
                raise CropError(f"another process keeps its crops in {folder}: end it, or name another folder")
            for path in self.folder.iterdir():
                match = PART_OF.match(path.name)
                if match and read_name(match[1]) is not None:
                    path.unlink()
        except OSError as error:
            raise CropError(f"{folder} cannot be a folder for crops: {error.strerror}") from error

    def kept(self) -> Iterator[tuple[str, CropName, int]]:
        """Yield what is kept: see `CropFiles`."""
        for path in self.folder.iterdir():
            if (named := read_name(path.name)) and path.is_file() and not path.is_symlink():
                yield path.name, named, path.stat().st_size

    def write(self, name: str, data: bytes) -> None:
        """Keep a crop: at a kill it is there whole, or not at all."""
        write_fresh(f"{self.folder}/{name}", data)

    def read(self, name: str) -> bytes:
        """Return a crop; CropError where it is not there or damaged."""
        return read_crop(self.folder, name)

    def remove(self, name: str) -> None:
        """Keep a crop no more."""
        with suppress(FileNotFoundError):
            os.unlink(f"{self.folder}/{name}")

    def reference(self, name: str) -> str:
        """Return what a unit has in `image`: the path of the file."""
        return f"{self.folder}/{name}"

    def close(self) -> None:
        """Let another process write; the files stay."""
        self._lock.close()
