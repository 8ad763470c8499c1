"""The images of one camera, each joined with its lens, its depth and where the camera was."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kc_vla.cameras.calibration import Calibration
from kc_vla.core.frame_tree import FrameTree, LateTransformError, Lookup, UnknownFrameError
from kc_vla.core.topics import camera_info_topic, image_topic
from kc_vla.media.images import ImageError
from kc_vla.media.packed_images import check_depth_image, depth_image_metres, image_pixels
from kc_vla.perception.camera_frame import CameraFrame, CameraFrameError

_BACK_NS = 1_000_000_000
_MOVED_M, _TURNED_RAD = 0.002, math.radians(0.3)
"""By how much the pose of a fixed camera may differ from the one before."""

MODELS = "plumb_bob", "rational_polynomial", "equidistant"
"""Distortion models that can be used."""
_FOCAL = 0.1, 30.0
"""A focal length as a share of the image's width: a lens of more than 157 degrees, and one of less than 2."""


@dataclass(frozen=True)
class StreamSettings:
    """What holds for the images of each camera.

    Attributes:
        frame: that poses are in.
        tolerance_s: between an image and its depth, s.
        patience_s: how long an image waits for its depth and its pose, s.
        stale_s: s without an image after which the camera is reported.
        most_bytes: of the images, and of the depth images, that are kept.
    """

    frame: str
    tolerance_s: float = 0.03
    patience_s: float = 0.3
    stale_s: float = 2.0
    most_bytes: int = 1 << 26


@dataclass(frozen=True, eq=False)
class RawFrame:
    """An image with what belongs to it, as messages: nothing of it is unpacked yet.

    Attributes:
        camera: name of the view.
        stamp_ns: of the image.
        published_ns: by the publisher's wall clock.
        image: sensor_msgs/Image, or a `PackedImage`.
        depth: the depth image beside it, likewise; None without.
        lens: its calibration.
        where: of the camera.
    """

    camera: str
    stamp_ns: int
    published_ns: int
    image: Any
    depth: Any | None
    lens: Calibration
    where: Lookup

    def unpacked(self) -> CameraFrame:
        """Return the frame.

        Raises:
            CameraFrameError: the image, its depth or the lens cannot be used.
        """
        lens, depth = self.lens, self.depth
        try:
            return CameraFrame(
                self.camera,
                self.stamp_ns,
                image_pixels(self.image),
                np.reshape(np.asarray(lens.k, float), (3, 3)),
                self.where.pose,
                None if depth is None else depth_image_metres(depth),
                lens.distortion_model if any(lens.d) else MODELS[0],
                tuple(lens.d),
                self.where.stands,
            )
        except ImageError as error:
            raise CameraFrameError(f"an image of {self.camera} {error}") from error
        except CameraFrameError as error:
            raise CameraFrameError(f"{self.camera}: {error}") from error


class _Ring:
    """The newest messages of a topic by their stamps, within bounds."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._kept: deque[tuple[int, float, int, Any]] = deque(maxlen=most)
        self._most_bytes = most_bytes
        self.came_s = -math.inf

    def __iter__(self) -> Iterator[tuple[int, float, int, Any]]:
        """Yield the stamp, when it came, when it was published, and the message, the newest first."""
        yield from reversed(self._kept)

    def put(self, stamp_ns: int, message: Any, now_s: float, published_ns: int = 0) -> None:
        if self._kept and stamp_ns < self._kept[-1][0] - _BACK_NS:  # time has begun anew
            self._kept.clear()
        if self._kept and stamp_ns <= self._kept[-1][0]:
            return
        self.came_s = now_s
        self._kept.append((stamp_ns, now_s, published_ns, message))
        size = max(1, memoryview(message.data).nbytes)
        while len(self._kept) > max(1, self._most_bytes // size):
            self._kept.popleft()

    def nearest(self, stamp_ns: int) -> tuple[int, float, int, Any] | None:
        return min(self._kept, key=lambda each: abs(each[0] - stamp_ns), default=None)


class ViewStream:
    """Joins the messages of one camera.

    Attributes:
        view: of the robot.
        optical_frame: that its images were in lately; empty before the first one.
        problem: why its images cannot be looked at, or not with their depth, in one line; empty where they can.
    """

    def __init__(self, view: str, frames: FrameTree, settings: StreamSettings, depth_expected: bool = False) -> None:
        """Begin without an image; `depth_expected`: its first image waits for depth, too, as one is known to come."""
        self._depth_expected = depth_expected
        self.view, self.optical_frame, self.problem = view, "", ""
        self._frames, self._settings = frames, settings
        self._images, self._depths = _Ring(30, settings.most_bytes), _Ring(30, settings.most_bytes)
        self._lens: Calibration | None = None
        self._wrong_depth = ""
        self._looked_ns = -1
        self._stood: Lookup | None = None

    def put_lens(self, lens: Calibration | None) -> None:
        """Take what `camera_info` says; None: that the camera is not calibrated."""
        self._lens = lens

    def put_image(self, message: Any, stamp_ns: int, now_s: float, published_ns: int = 0) -> None:
        """Take an image, raw or a `PackedImage`; `now_s` is of a clock that never goes back."""
        if stamp_ns < self._looked_ns - _BACK_NS:
            self._looked_ns = -1
        self.optical_frame = message.header.frame_id
        self._images.put(stamp_ns, message, now_s, published_ns)

    def put_depth(self, message: Any, stamp_ns: int, now_s: float) -> None:
        """Take a depth image, or note why it cannot be one."""
        try:
            check_depth_image(message)
        except ImageError as error:
            self._wrong_depth = f"depth of {self.view} {error}: places are found without it"
            return
        self._wrong_depth = ""
        self._depths.put(stamp_ns, message, now_s)

    def newest(self, now_s: float) -> RawFrame | None:
        """Return the newest image that is complete and newer than the last one returned; None where there is none."""
        waits = ""
        for kept in self._images:
            if kept[0] <= self._looked_ns:
                break
            found, why = self._joined(kept, now_s)
            if found is not None:
                self._looked_ns = found.stamp_ns
                return found
            waits = waits or why
        self.problem = waits or self.problem
        return None

    def nearest(self, stamp_ns: int, tolerance_s: float, now_s: float) -> RawFrame | None:
        """Return the image nearest to a stamp, if it is complete; None where it is not, or not yet.

        Raises:
            CameraFrameError: no image is near enough, and none that comes will be.
        """
        kept = self._images.nearest(stamp_ns)
        newest = next(iter(self._images), None)
        if kept is None or newest is None or (newest[0] < stamp_ns and abs(kept[0] - stamp_ns) > tolerance_s * 1e9):
            return None
        if abs(kept[0] - stamp_ns) > tolerance_s * 1e9:
            raise CameraFrameError(
                f"detections of {self.view}, and no image of it within {tolerance_s:g} s of their stamp: let the "
                "detector copy the image's stamp, or raise the option 'tolerance'"
            )
        found, why = self._joined(kept, now_s)
        self.problem = why or self.problem
        return found

    def stale(self, now_s: float, since_s: float) -> str:
        """Return that no image comes, in one line, or an empty text; `since_s` is when the node began to listen."""
        silent_s = now_s - max(self._images.came_s, since_s)
        if silent_s < self._settings.stale_s:
            return ""
        return f"no image on {image_topic(self.view)} for {silent_s:.0f} s: look at the camera and its node"

    def moved(self, found: RawFrame) -> str:
        """Return by how much a fixed camera has moved since the last frame that was given here; empty if it has not."""
        before, self._stood = self._stood, found.where
        if before is None or not (before.stands and found.where.stands):
            return ""
        way_m = float(np.linalg.norm(before.pose[:3, 3] - found.where.pose[:3, 3]))
        turn = before.pose[:3, :3].T @ found.where.pose[:3, :3]
        turn_rad = math.acos(min(1.0, max(-1.0, (float(np.trace(turn)) - 1.0) / 2.0)))
        if way_m <= _MOVED_M and turn_rad <= _TURNED_RAD:
            return ""
        return (
            f"the fixed camera {self.view} has moved by {way_m * 1e3:.0f} mm and {math.degrees(turn_rad):.1f} degrees: "
            "objects are located by its new pose from now on"
        )

    def _joined(self, kept: tuple[int, float, int, Any], now_s: float) -> tuple[RawFrame | None, str]:
        """Return a frame, or why there is none; neither while it may soon be complete."""
        stamp_ns, came_s, published_ns, message = kept
        is_late = now_s - came_s >= self._settings.patience_s
        lens = self._lens
        if lens is None:
            why = f"no camera_info on {camera_info_topic(self.view)}, or one of zeros: calibrate {self.view}"
            return None, why if is_late else ""
        if wrong := wrong_lens(self.view, lens, message):
            return None, wrong
        try:
            where = self._frames.lookup(self._settings.frame, self.optical_frame, stamp_ns)
        except LateTransformError as error:
            return None, f"where the camera {self.view} is: {error}" if is_late else ""
        except UnknownFrameError as error:
            return None, f"where the camera {self.view} is: {error}" if is_late else ""
        depth, waits, self.problem = self._depth(message, stamp_ns, now_s, is_late)
        if waits:
            return None, ""
        return RawFrame(self.view, stamp_ns, published_ns, message, depth, lens, where), ""

    def _depth(self, image: Any, stamp_ns: int, now_s: float, is_late: bool) -> tuple[Any | None, bool, str]:
        """Return the depth beside an image, whether to wait for it, and what is wrong with it."""
        found = self._depths.nearest(stamp_ns)
        if found is None and self._depth_expected and not is_late:
            return None, True, self.problem
        if found is None or now_s - self._depths.came_s > self._settings.stale_s:
            return None, False, self._wrong_depth
        depth = found[3]
        if (depth.width, depth.height) != (image.width, image.height):
            return (
                None,
                False,
                f"depth of {self.view} has {depth.width}x{depth.height} px and its image {image.width}x{image.height}: "
                "let the driver align depth to color; places are found without it",
            )
        off_s = abs(found[0] - stamp_ns) / 1e9
        if off_s <= self._settings.tolerance_s:
            return depth, False, ""
        if not is_late:
            return None, True, self.problem
        return None, False, f"depth of {self.view} is {off_s:.2f} s off its images: places are found without it"


def views_by_frame(streams: Iterable[ViewStream]) -> dict[str, str]:
    """Return the view of each optical frame that images have come in."""
    return {each.optical_frame: each.view for each in streams if each.optical_frame}


def wrong_lens(view: str, lens: Calibration, image: Any) -> str:
    """Return what is wrong with a calibration, in one line; empty where it can be."""
    if (lens.width, lens.height) != (image.width, image.height):
        return (
            f"camera_info of {view} is of {lens.width}x{lens.height} px, its images have {image.width}x{image.height}: "
            "calibrate it at this size, or name its driver's camera_info"
        )
    fx, cx, fy, cy = lens.k[0], lens.k[2], lens.k[4], lens.k[5]
    low, high = (share * lens.width for share in _FOCAL)
    if not (low <= fx <= high and low <= fy <= high and 0 <= cx <= lens.width and 0 <= cy <= lens.height):
        return (
            f"camera_info of {view} has the focal lengths {fx:g}, {fy:g} px and the middle {cx:g}, {cy:g} px, which no "
            f"camera of {lens.width}x{lens.height} px has: calibrate it"
        )
    if any(lens.d) and lens.distortion_model not in MODELS:
        return (
            f"camera_info of {view} has the distortion model '{lens.distortion_model[:40]}', which is not known: "
            f"{', '.join(MODELS)} are"
        )
    return ""
