"""Detections as a detector or the simulator says them, from a topic or from a bag: what the memories can take of them.

Whatever is in a message is looked at before it is believed: a frame that nobody knows, text without end, numbers that
are none. What cannot be is left out, with a reason; the rest is taken.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import MountedCamera, Pose, pose_matrix
from kc_vla.core.stamps import nanoseconds
from kc_vla.memory.long_term.detections import Detection, upright_size
from kc_vla.memory.long_term.errors import told
from kc_vla.memory.long_term.nodes import MOST_ATTRIBUTES, MOST_NAME, Vector
from kc_vla.memory.long_term.views import CameraView, RegionView, UnionView
from kc_vla.memory.regions import regions_of
from kc_vla.memory.short_term.unit import Position, Unit, UnitError, state_of
from kc_vla.memory.things import ObservedThing, attributes_of

MOST_DETECTIONS = 1000
"""Most detections that are taken from one message."""
_BEFORE_ALL_ROBOTS_NS = 946_684_800_000_000_000
"""The year 2000: what is stamped earlier has the clock of a simulator, which begins anew with each of its runs."""
_NEAR_NS = 100_000_000
_BACK_NS = 1_000_000_000
_POSES = 200


class IntakeError(StackError):
    """A message, or a detection of one, cannot be used; the text says why, in one line."""


class FlangePath:
    """Where the flange was lately, for a camera on it."""

    def __init__(self) -> None:
        self._poses: list[tuple[int, tuple[float, ...]]] = []

    def put(self, message: Any) -> None:
        """Take in a geometry_msgs/PoseStamped; one with an impossible pose is ignored."""
        numbers = _numbers(message.pose)
        if all(map(math.isfinite, numbers)) and any(numbers[3:]):
            stamp_ns = nanoseconds(message.header.stamp)
            if self._poses and stamp_ns < self._poses[-1][0] - _BACK_NS:  # time has begun anew
                self._poses.clear()
            insort(self._poses, (stamp_ns, numbers))
            del self._poses[:-_POSES]

    def at(self, stamp_ns: int) -> Pose | None:
        """Return the pose (4, 4) in the base frame, m, that is nearest in time; None where none is within 0.1 s."""
        near = min(self._poses, key=lambda each: abs(each[0] - stamp_ns), default=None)
        return (
            pose_matrix(near[1][:3], near[1][3:]) if near is not None and abs(near[0] - stamp_ns) <= _NEAR_NS else None
        )


@dataclass(frozen=True)
class Taken:
    """What a message says.

    Attributes:
        stamp_ns: when it was seen; simulated time, if it is that.
        episode_id: in which episode.
        detections: in the frame of the memory.
        refused: of each detection that is left out, why.
        view: what was in view; None where that is not known.
    """

    stamp_ns: int
    episode_id: str
    detections: list[Detection]
    refused: list[str] = field(default_factory=list)
    view: RegionView | None = None


class Intake:
    """Takes kc_vla_msgs/ObjectDetections, as ROS gives them or decoded from a bag."""

    def __init__(self, frame: str, camera: MountedCamera | None = None, farthest_m: float = 4.0) -> None:
        """Set up.

        Args:
            frame: that the memory's positions are in; where there is a camera, the base frame that its place is in.
            camera: whose detections come in its own frame; with a lens, what it has in view is known, too.
            farthest_m: what lies deeper is not taken for seen.
        """
        self.frame, self.camera, self._farthest_m = frame, camera, farthest_m
        self.flange = FlangePath()

    def take(self, message: Any) -> Taken:
        """Return what a message says, its poses in the frame of the memory.

        Raises:
            IntakeError: it is in a frame that is not known here, too long, or has no stamp.
        """
        stamp_ns = nanoseconds(message.header.stamp)
        if stamp_ns <= 0:
            raise IntakeError("detections without a stamp: let the detector set that of its image")
        if len(message.detections) > MOST_DETECTIONS:
            raise IntakeError(f"{len(message.detections)} detections in one message: {MOST_DETECTIONS} are the most")
        episode_id = _plain(message.episode_id, "episode_id")
        camera = None if self.camera is None else self.camera.placed(self.flange.at(stamp_ns))
        moved = self._moved(message.header.frame_id, camera)
        found: list[Detection] = []
        refused: list[str] = []
        for number, each in enumerate(message.detections, 1):
            try:
                found.append(_detection(each, moved))
            except StackError as error:
                refused.append(f"detection {number} of {len(message.detections)} is left out: {error}")
        view = self._regions(message, moved, found, refused) or self._view(camera)
        return Taken(stamp_ns, episode_id, found, refused, view)

    def _regions(
        self, message: Any, moved: Pose | None, found: Sequence[Detection], refused: list[str]
    ) -> RegionView | None:
        """Return what a message says was in view; what cannot be is left out, and so is what it would show."""
        given = getattr(message, "regions", ())  # no field of older bags
        try:
            parts = regions_of(given, moved, found)
        except StackError as error:
            refused.append(f"what was in view is left out: {error}")
            return None
        return UnionView(parts) if parts else None

    def _moved(self, frame: str, camera: Pose | None) -> Pose | None:
        """Return what brings poses of a frame into that of the memory; None where they are in it."""
        if not frame:
            raise IntakeError("detections without a frame_id: let the detector say which frame its poses are in")
        if frame == self.frame:
            return None
        if self.camera is None or frame != self.camera.frame:
            known = " or ".join(told(each) for each in (self.frame, self.camera.frame if self.camera else "") if each)
            raise IntakeError(
                f"detections in the frame {told(frame)}: this memory takes {known}; name its frame, or the file of the "
                "camera's place"
            )
        if camera is None:
            raise IntakeError("detections of a camera on the flange, and no tool pose within 0.1 s of them")
        return camera

    def _view(self, camera: Pose | None) -> RegionView | None:
        if camera is None or self.camera is None or self.camera.matrix is None:
            return None
        x, y, z = (float(value) for value in camera[:3, 3])
        return CameraView((x, y, z), camera[:3, :3], self.camera.matrix, self.camera.size, self._farthest_m)


def lasting_stamp(stamp_ns: int, received_ns: int) -> int:
    """Return the time to remember something by, ns: that of the message.

    It is that of its receipt where the message's is simulated and the receiver's is not.

    Simulated time begins anew with each run, so that of one run says nothing in the next.
    """
    simulated = stamp_ns < _BEFORE_ALL_ROBOTS_NS <= received_ns
    return received_ns if simulated else stamp_ns


def detection_of(seen: ObservedThing) -> Detection:
    """Return what a robot sees of a thing as a detection: what it is on or in is its attribute "place".

    Raises:
        GraphError: it cannot be one; the text says why.
    """
    return Detection(
        seen.object_type,
        seen.position,
        seen.size,
        seen.confidence,
        seen.state,
        attributes_of(seen),
        seen.movable,
        seen.object_id,
    )


def unit_of(seen: Detection, frame: str, stamp_ns: int, area: str = "", image: str = "") -> Unit:
    """Return a detection as a unit of the short-term memory, in an area if that is known.

    It has the reference of a crop, if there is one: see `put_detections`.

    A state that the paper does not have is an attribute.

    Raises:
        UnitError: it does not say which object it is of, or cannot be a unit.
    """
    if not seen.source_id:
        raise UnitError(f"a {told(seen.object_type)} without object_id: the short-term memory knows objects by it")
    attributes = dict(seen.attributes)
    try:
        state = state_of(seen.state)
    except UnitError:
        state, attributes["state"] = state_of(""), seen.state
    return Unit(
        seen.object_type,
        seen.source_id,
        Position(*seen.position, frame),
        stamp_ns / 1e9,
        state,
        area,
        attributes,
        image,
        seen.can_be_moved,
    )


def _detection(message: Any, moved: Pose | None) -> Detection:
    numbers = _numbers(message.pose)
    size = message.size.x, message.size.y, message.size.z
    if not all(map(math.isfinite, (*numbers, *size))):
        raise IntakeError(f"its pose or size is not finite: {told([round(each, 3) for each in (*numbers, *size)])}")
    if not 0.9 < math.hypot(*numbers[3:]) < 1.1:
        raise IntakeError(f"its orientation {told(numbers[3:])} is no unit quaternion")
    seen = pose_matrix(numbers[:3], numbers[3:])
    pose = seen if moved is None else moved @ seen
    x, y, z = (float(value) for value in pose[:3, 3])
    position: Vector = x, y, z
    return Detection(
        _plain(message.object_type, "object_type"),
        position,
        upright_size(pose[:3, :3], size),
        float(message.confidence),
        _plain(message.state, "state"),
        _attributes(message),
        source_id=_plain(message.object_id, "object_id"),
        image=bytes(getattr(message, "image", b"")),  # no field of older bags
    )


def _attributes(message: Any) -> dict[str, str]:
    """Return what else a detector reports: nothing in a bag of before detections had attributes."""
    told_of = getattr(message, "attributes", ())
    if len(told_of) > MOST_ATTRIBUTES:
        raise IntakeError(f"it has {len(told_of)} attributes: {MOST_ATTRIBUTES} are the most")
    return {_plain(each.key, "attribute's name"): _plain(each.value, "attribute") for each in told_of}


def _plain(text: str, what: str) -> str:
    """Return a name of a detector: short, and in letters that can be printed."""
    if len(text) > MOST_NAME:
        raise IntakeError(f"its {what} has {len(text)} letters: {MOST_NAME} are the most")
    if not text.isprintable():
        raise IntakeError(f"its {what} has control characters: {told(text)}")
    return text


def _numbers(pose: Any) -> tuple[float, ...]:
    place, turn = pose.position, pose.orientation
    return place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w
