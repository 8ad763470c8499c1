"""What an external detector publishes as vision_msgs, as detections in the images of the robot's cameras.

Packages fill these messages in different ways: a class by its name or its number, results in any order, boxes of the
image or of the network's input, a track id or none, poses in the box or in the result. Nothing of it is believed
before it is checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kc_vla.core.mounted_camera import Pose, pose_matrix
from kc_vla.core.stamps import nanoseconds
from kc_vla.memory.images.crop import CropError, PixelBox, projected_box
from kc_vla.memory.long_term.detections import upright_size
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.class_names import names_of
from kc_vla.perception.detectors import DetectorError, DetectorReport
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.image_fit import fit_of
from kc_vla.perception.options import VisionMsgsOptions

BOXES, POSES, LABELS = (f"vision_msgs/msg/{name}" for name in ("Detection2DArray", "Detection3DArray", "LabelInfo"))
_MOST_HEARD = 20_000
"""Detections of one message that are looked through for the best."""
_MOST_RESULTS = 1000
_LARGEST_M = 10.0
_MOST_ID = 100

_Scored = tuple[float, str, Any, Any]
"""Score, class, detection, and the result that says both."""


class VisionMsgsDetector:
    """A `ListeningDetector` for vision_msgs."""

    def __init__(self, options: VisionMsgsOptions) -> None:
        """Read the names of classes.

        Raises:
            DetectorError: their file cannot be read, or two topics have one name.
        """
        self._options, self._names = options, names_of(options.names, options.names_file)
        self.camera, self.tolerance_s = options.camera, options.tolerance
        labels = [options.labels] if options.labels else []
        named = [(each, BOXES) for each in options.boxes], [(each, POSES) for each in options.poses]
        listed = [*named[0], *named[1], *((each, LABELS) for each in labels)]
        self.topics: Mapping[str, str] = dict(listed)
        if len(self.topics) < len(listed):
            raise DetectorError("the options 'boxes', 'poses' and 'labels' name a topic twice: a topic has one type")

    def hear(self, topic: str, message: Any) -> DetectorReport | None:
        """Return what a message reports; None for names of classes.

        Raises:
            DetectorError: it has no stamp.
        """
        kind = self.topics[topic]
        if kind == LABELS:
            self._names.learn({each.class_id: each.class_name for each in message.class_map})
            return None
        stamp_ns = nanoseconds(message.header.stamp)
        if stamp_ns <= 0:
            raise DetectorError(f"detections on {topic} have no stamp: let the detector copy that of its image")
        best, remark = self._best(topic, message.detections)
        take = self._boxes if kind == BOXES else self._poses
        frame_id = message.header.frame_id.lstrip("/")
        if not frame_id and not remark:
            remark = f"detections on {topic} have no frame_id: let the detector copy that of its image"
        return DetectorReport(stamp_ns, frame_id, kind == POSES, partial(take, best), remark)

    def close(self) -> None:
        """Do nothing: the node holds the subscriptions."""

    # -- what counts --------------------------------------------------------------------------------------------

    def _best(self, topic: str, detections: Sequence[Any]) -> tuple[list[_Scored], str]:
        """Return the detections that count, the best first, and what is wrong with the others."""
        scored = [found for each in detections[:_MOST_HEARD] if (found := self._scored(each)) is not None]
        scored.sort(key=lambda each: -each[0])
        most = self._options.most
        if len(scored) > most:
            return scored[:most], f"{len(detections)} detections in a message on {topic}: the {most} best count"
        if self._names.unknown:
            told = f"detections on {topic} number their classes, and {self._names.unknown} has no name"
            return scored, f"{told}: set the option 'names', 'names_file' or 'labels'"
        return scored, ""

    def _scored(self, detection: Any) -> _Scored | None:
        results = [each for each in detection.results[:_MOST_RESULTS] if math.isfinite(each.hypothesis.score)]
        best = max(results, key=lambda each: float(each.hypothesis.score), default=None)
        if best is None:
            return None
        score = min(1.0, float(best.hypothesis.score))
        name = self._names.of(best.hypothesis.class_id)
        only, ignored = self._options.only, self._options.ignored
        if not name or score < self._options.least_score or name in ignored or (only and name not in only):
            return None
        return score, name, detection, best

    def _id(self, detection: Any, camera: str) -> str:
        """Return the id of an object; each camera's tracker has numbers of its own."""
        told = str(getattr(detection, "id", ""))
        return f"{camera}/{told}" if self._options.track_ids and 0 < len(told) <= _MOST_ID else ""

    # -- in an image --------------------------------------------------------------------------------------------

    def _boxes(self, best: Iterable[_Scored], frame: CameraFrame, where: Pose | None) -> list[ImageDetection]:
        height, width = frame.image.shape[:2]
        fit = fit_of(self._options.input_size, self._options.fit, (width, height))
        found = []
        for score, name, detection, _ in best:
            x, y, across, down = _upright(detection.bbox)
            if not all(map(math.isfinite, (x, y, across, down))) or min(across, down) <= 0.0:
                continue
            box = _within(fit.box(x, y, across, down), width, height)
            if box is not None:
                found.append(ImageDetection(name, box, score, object_id=self._id(detection, frame.camera)))
        return found

    def _poses(self, best: Iterable[_Scored], frame: CameraFrame, where: Pose | None) -> list[ImageDetection]:
        assert where is not None
        found = []
        for score, name, detection, result in best:
            pose, told = _posed(detection, result)
            if pose is None:
                continue
            placed = where @ pose
            size = upright_size(placed[:3, :3], told)
            box = _box_of(placed, told, frame)
            if box is None:
                continue
            seen = np.linalg.inv(frame.pose) @ placed
            x, y, z = (float(value) for value in seen[:3, 3])
            own_id = self._id(detection, frame.camera)
            found.append(
                ImageDetection(name, box, score, object_id=own_id, position=(x, y, z), size=size if any(told) else None)
            )
        return found


def _upright(bbox: Any) -> tuple[float, float, float, float]:
    """Return the middle and the sides, px, of the upright box around one that may be turned."""
    turn, across, down = float(bbox.center.theta), float(bbox.size_x), float(bbox.size_y)
    x, y = float(bbox.center.position.x), float(bbox.center.position.y)
    if turn and math.isfinite(turn):
        cos, sin = abs(math.cos(turn)), abs(math.sin(turn))
        across, down = across * cos + down * sin, across * sin + down * cos
    return x, y, across, down


def _within(box: PixelBox, width: int, height: int) -> PixelBox | None:
    """Return the part of a box that an image has; None where that is less than a pixel."""
    inside = PixelBox(
        max(0.0, box.left), max(0.0, box.top), min(float(width), box.right), min(float(height), box.bottom)
    )
    return inside if inside.right - inside.left >= 1.0 and inside.bottom - inside.top >= 1.0 else None


def _posed(detection: Any, result: Any) -> tuple[Pose | None, tuple[float, float, float]]:
    """Return the pose of an object in the frame of its message, and its size along the axes of that pose, m.

    Some packages leave the box empty and fill the pose of the result.
    """
    extent = detection.bbox.size
    size = float(extent.x), float(extent.y), float(extent.z)
    pose = detection.bbox.center if any(size) or _is_given(detection.bbox.center) else result.pose.pose
    at, turn = pose.position, pose.orientation
    position, quaternion = [at.x, at.y, at.z], [turn.x, turn.y, turn.z, turn.w]
    if not all(map(math.isfinite, (*position, *quaternion, *size))) or not 0.0 <= min(size) <= max(size) <= _LARGEST_M:
        return None, size
    if not 0.9 < math.hypot(*quaternion) < 1.1:
        quaternion = [0.0, 0.0, 0.0, 1.0]  # as of a message whose orientation nobody filled
    return pose_matrix(position, quaternion), size


def _is_given(pose: Any) -> bool:
    return any((pose.position.x, pose.position.y, pose.position.z))


def _box_of(placed: Pose, size: tuple[float, float, float], frame: CameraFrame) -> PixelBox | None:
    """Return where an image shows a box; None where it does not."""
    height, width = frame.image.shape[:2]
    shown = tuple(max(each, 0.02) for each in size)
    try:
        return projected_box(
            placed, shown, frame.pose, frame.matrix, (width, height), frame.distortion_model, frame.distortion
        )
    except CropError:
        return None
