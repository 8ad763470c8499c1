"""The table of object detectors: `detector:=` of the launch files, `detector` of the node `perception`.

Another package adds a detector with an entry point of the group `kc_vla.detectors` that names a `DetectorKind`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from kc_vla.core.errors import StackError
from kc_vla.core.tables import OpenTable
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.image_detection import ImageDetection

T = TypeVar("T")
_NOTHING: Mapping[str, Any] = types.MappingProxyType({})


class DetectorError(StackError, ValueError):
    """A detector cannot be had or cannot look at an image; the text says in one line why, and what to do."""


class ObjectDetector(Protocol):
    """Finds objects in images."""

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        """Return the objects of an image, each once.

        Raises:
            DetectorError: It cannot look at this image.
        """
        ...

    def close(self) -> None:
        """Release what it holds; it is asked no more."""
        ...


@dataclass(frozen=True)
class DetectorKind(Generic[T]):
    """A row of the table.

    Attributes:
        meaning: what it finds objects with, half a line, for the documentation.
        options: frozen dataclass of the detector's options, its fields made by `kc_vla.core.options.option`. The node
            fills those that have the name of one of its parameters; all can be given in its parameter `options`.
        make: makes the detector, or raises a `DetectorError`. It imports what it needs, the row does not.
    """

    meaning: str
    options: type[T]
    make: Callable[[T], ObjectDetector]


DETECTORS: OpenTable[DetectorKind[Any]] = OpenTable(
    "kc_vla.detectors",
    "object detector",
    DetectorKind,
    {
        "learned": "kc_vla.perception.learned_kind:LEARNED",
    },
    refusal=DetectorError,
)


def open_detector(
    name: str, given: Mapping[str, Any] = _NOTHING, shared: Mapping[str, Any] = _NOTHING
) -> ObjectDetector:
    """Return the detector of that name.

    Args:
        name: of its row.
        given: the values of its options by their names; they replace the shared ones.
        shared: values of which a detector takes those that are options of its own.

    Raises:
        DetectorError: There is none, its package cannot be loaded, or it cannot be used here or with these options.
    """
    options = DETECTORS.options_of(name, given, shared)
    detector: ObjectDetector = DETECTORS.get(name).make(options)
    return detector
