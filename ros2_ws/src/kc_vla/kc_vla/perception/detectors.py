"""The table of object detectors: `detector:=` of the launch files, `detector` of the node `perception`.

Another package adds a detector with an entry point of the group `kc_vla.detectors` that names a `DetectorKind`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from kc_vla.core.choice import LaunchChoice
from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.tables import OpenTable
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.image_detection import ImageDetection

T = TypeVar("T")
_NOTHING: Mapping[str, Any] = types.MappingProxyType({})


class DetectorError(StackError, ValueError):
    """A detector cannot be made or cannot process an image; the text says in one line why, and what to do."""


class SkippedImageError(DetectorError):
    """A detector left out an image without an error, so the objects in it are unknown."""


class ObjectDetector(Protocol):
    """Finds objects in images."""

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        """Return the objects of an image, each once.

        Raises:
            DetectorError: The detector cannot process this image.
        """
        ...

    def close(self) -> None:
        """Release all resources; this is the last call."""
        ...


@dataclass(frozen=True, eq=False)
class DetectorReport:
    """The report of an external detector on one image.

    Attributes:
        stamp_ns: stamp of that image, ns.
        frame_id: frame of the camera, or of the poses; empty if the message names none.
        posed: whether the message has poses. Then the camera does not matter.
        in_image: returns the objects for the image and the pose of `frame_id` (m) in the frame of the objects; the pose
            is None if it is unknown.
        remark: the problem of the message in one line; empty without one.
    """

    stamp_ns: int
    frame_id: str
    posed: bool
    in_image: Callable[[CameraFrame, Pose | None], Sequence[ImageDetection]]
    remark: str = ""


class ListeningDetector(Protocol):
    """Takes objects from the messages of an external detector.

    Attributes:
        topics: the type of each topic to subscribe to, such as "vision_msgs/msg/Detection2DArray".
        camera: the view of the detector's images; empty: the messages name it.
        tolerance_s: largest difference between the stamps of a message and of its image, s.
    """

    topics: Mapping[str, str]
    camera: str
    tolerance_s: float

    def hear(self, topic: str, message: Any) -> DetectorReport | None:
        """Return the report of a message; None if it belongs to no image.

        Raises:
            DetectorError: The message cannot be used.
        """
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


@dataclass(frozen=True)
class DetectorKind(LaunchChoice, Generic[T]):
    """A row of the table.

    Attributes:
        options: frozen dataclass of the detector's options, its fields made by `kc_vla.core.options.option`. The node
            fills those that have the name of one of its parameters; all can be given in its parameter `options`.
        make: makes the detector, or raises a `DetectorError`. It imports what it needs; the row must not import that.
        listens: message types of an external detector. If there are any, `make` returns a `ListeningDetector`,
            otherwise an `ObjectDetector`.
        passes_on: whether the messages are kc_vla_msgs/ObjectDetections, which the node publishes unchanged.
        types: returns the types of objects that the detector can report with these options, all of them; none where
            that is not known. It loads no network.
    """

    options: type[T]
    make: Callable[[T], ObjectDetector | ListeningDetector]
    listens: tuple[str, ...] = field(default=(), kw_only=True)
    passes_on: bool = field(default=False, kw_only=True)
    types: Callable[[T], tuple[str, ...]] = field(default=lambda options: (), kw_only=True)


NO_DETECTOR, TRUTH = "none", "truth"
_ROWS = "kc_vla.perception.rows"
DETECTORS: OpenTable[DetectorKind[Any]] = OpenTable(
    "kc_vla.detectors",
    "object detector",
    DetectorKind,
    {
        "learned": f"{_ROWS}:LEARNED",
        "vision_msgs": f"{_ROWS}:VISION_MSGS",
        "vlm": f"{_ROWS}:VLM",
        TRUTH: f"{_ROWS}:TRUTH",
    },
    refusal=DetectorError,
)


class ReportedObjects:
    """An `ObjectDetector` that returns what the last report says."""

    def __init__(self) -> None:
        self._report: DetectorReport | None = None
        self._where: Pose | None = None

    def put(self, report: DetectorReport, where: Pose | None) -> None:
        """Take the report of the next image, and the pose of its frame in the frame that objects are located in."""
        self._report, self._where = report, where

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        """Return the objects of the last report."""
        return () if self._report is None else self._report.in_image(frame, self._where)

    def close(self) -> None:
        """Do nothing."""


def reported_types(name: str, given: Mapping[str, Any] = _NOTHING) -> tuple[str, ...]:
    """Return the types of objects that a detector can report, all of them; none where that is not known.

    Args:
        name: of its row.
        given: the values of its options by their names.

    Raises:
        DetectorError: There is none, its package cannot be loaded, or it cannot be used with these options.
    """
    options = DETECTORS.options_of(name, given)
    with DETECTORS.making(name):
        return DETECTORS.get(name).types(options)


def open_detector(
    name: str, given: Mapping[str, Any] = _NOTHING, shared: Mapping[str, Any] = _NOTHING
) -> ObjectDetector:
    """Return the detector of that name, which looks at images.

    Args:
        name: of its row.
        given: the values of its options by their names; they replace the shared ones.
        shared: values of which a detector takes those that are options of its own.

    Raises:
        DetectorError: There is none, its package cannot be loaded, or it cannot be used here or with these options; or
            it listens to an external node.
    """
    options, row = DETECTORS.options_of(name, given, shared), DETECTORS.get(name)
    if row.listens:
        raise DetectorError(f"object detector '{name}' listens to {row.listens[0]}: run it in the node 'perception'")
    with DETECTORS.making(name):
        return row.make(options)  # type: ignore[return-value]  # its row listens to nothing


def open_listener(name: str, given: Mapping[str, Any] = _NOTHING) -> ListeningDetector:
    """Return the detector of that name, whose row says what it listens to.

    Args:
        name: of its row.
        given: the values of its options by their names.

    Raises:
        DetectorError: There is none, its package cannot be loaded, or it cannot be used with these options.
    """
    options = DETECTORS.options_of(name, given)
    with DETECTORS.making(name):
        return DETECTORS.get(name).make(options)  # type: ignore[return-value]  # its row says what it listens to
