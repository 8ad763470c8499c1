"""A camera that a third-party driver runs: its images in any encoding, its calibration, its depth, on our topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from kc_vla.cameras.calibration import Calibration
from kc_vla.cameras.decimation import Decimator
from kc_vla.core import topics
from kc_vla.media.images import ImageError, check_depth, compressed_pixels, raw_pixels
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.convert import BadMessageError, calibration_in
from kc_vla.ros.image_relay import ImageRelay
from kc_vla.ros.parameters import NodeParameters, parameter

OnPicture = Callable[[NDArray[np.uint8], int, Calibration | None], None]


@dataclass(frozen=True)
class CameraParameters(NodeParameters):
    """Parameters of the node `camera`."""

    source: str = parameter("", "a device (/dev/video0 or 0), a video file, or a folder of images")
    topic: str = parameter("", "topic of a third-party driver, raw or compressed, in place of a source")
    info: str = parameter("", "topic of that driver's camera_info; empty for none")
    depth: str = parameter("", "topic of that driver's depth, 16UC1 or 32FC1, which is passed on; empty for none")
    stale_after: float = parameter(
        1.0, "s without an image on the topic after which the camera is lost", low=0.1, high=60.0
    )
    fps: float = parameter(0.0, "frames per second; 0: the source's own", low=0.0, high=1000.0)
    width: int = parameter(0, "px, to which images are scaled; 0: the source's own", low=0, high=16384)
    height: int = parameter(0, "px, to which images are scaled; 0: the source's own", low=0, high=16384)
    format: str = parameter("", "pixel format of a device, four letters such as MJPG or YUYV; empty: its default")
    frame_id: str = parameter("camera_optical_frame", "name of the camera's optical frame (REP 103)")
    calibration: str = parameter("", "camera_info YAML file; empty for an uncalibrated camera")
    latency: str = parameter(
        "", "file of `kc-vla calibrate latency`: the delay that is subtracted from the stamps of images"
    )
    loop: bool = parameter(False, "begin again at the end of a file or folder")


class CameraDriver:
    """The images of a third-party camera driver, received and handed on as images of the stack."""

    def __init__(
        self,
        node: StackNode,
        wanted: CameraParameters,
        on_picture: OnPicture,
        on_lost: Callable[[str], None],
        on_back: Callable[[], None],
    ) -> None:
        """Begin to look for the driver.

        Args:
            node: that listens.
            wanted: its parameters.
            on_picture: takes pixels (H, W, 3) uint8 RGB, the driver's stamp in ns, and the calibration that it tells;
                a `BadMessageError` refuses them.
            on_lost: called, with the reason, when images or depth do not come.
            on_back: called when both do again.

        Raises:
            StartError: a topic that cannot be one of a driver.
        """
        self._node, self._wanted, self._on_picture = node, wanted, on_picture
        self._on_lost, self._on_back = on_lost, on_back
        self._lost: dict[str, str] = {}  # what is, and why
        self._told: Calibration | None = None
        self._frame = ""
        self._decimator, self._depth_decimator = Decimator(wanted.fps), Decimator(wanted.fps)
        for name in ("topic", "info", "depth"):
            self._check_topic(name, getattr(wanted, name))
        self._pictures = self._relay(wanted.topic, self._take)
        self._depth: ImageRelay | None = None
        if wanted.info:
            node.subscribe(CameraInfo, wanted.info, self._take_info, qos.IMAGE)
        if wanted.depth:
            self._depths = node.advertise(Image, topics.OWN_DEPTH, qos.IMAGE)
            self._depth = self._relay(wanted.depth, self._take_depth)

    def details(self) -> dict[str, object]:
        """Return what the diagnostics report."""
        told: dict[str, object] = {"driver/frame_id": self._frame or "none", "driver/pictures": self._pictures.heard}
        return told | ({"driver/depths": self._depth.heard} if self._depth is not None else {})

    def _relay(self, topic: str, take: Callable[[Any, int], None]) -> ImageRelay:
        def lost(reason: str) -> None:
            self._lost[topic] = reason
            self._on_lost("; ".join(self._lost.values()))

        def back() -> None:
            del self._lost[topic]
            if self._lost:
                self._on_lost("; ".join(self._lost.values()))
            else:
                self._on_back()

        return ImageRelay(self._node, topic, self._wanted.stale_after, take, lost, back)

    def _check_topic(self, name: str, topic: str) -> None:
        ours = {self._node.resolve_topic_name(own) for own in (topics.OWN_IMAGE, topics.OWN_INFO, topics.OWN_DEPTH)}
        if topic and not topic.startswith("/"):
            raise StartError(f"'{name}' is '{topic}': give the whole name of the topic, with its /")
        if topic in ours:
            raise StartError(
                f"'{name}' is {topic}, where this node itself publishes: have the driver call it otherwise"
            )

    def _take(self, message: Image | CompressedImage, stamp_ns: int) -> None:
        self._see_frame(message.header.frame_id)
        if not self._decimator.takes(stamp_ns):
            return
        try:
            pixels = compressed_pixels(message) if isinstance(message, CompressedImage) else raw_pixels(message)
        except ImageError as error:
            raise BadMessageError(f"it {error}") from error
        self._on_picture(self._scaled(pixels), stamp_ns, self._told)

    def _scaled(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        height, width, _ = pixels.shape
        wanted = (self._wanted.width or width, self._wanted.height or height)
        if wanted == (width, height):
            return pixels
        return np.asarray(cv2.resize(pixels, wanted, interpolation=cv2.INTER_AREA), np.uint8)

    def _take_info(self, message: CameraInfo) -> None:
        try:
            self._told = calibration_in(message, self._wanted.info)
        except BadMessageError as error:
            self._node.statistics.drop(self._wanted.info)
            self._node.problem(str(error), ERROR)

    def _take_depth(self, message: Image | CompressedImage, stamp_ns: int) -> None:
        """Pass it on as it is: what it measured must not change."""
        if isinstance(message, CompressedImage):
            raise BadMessageError("it is compressed: name the driver's raw depth")
        try:
            check_depth(message)
        except ImageError as error:
            raise BadMessageError(f"it {error}") from error
        if self._depth_decimator.takes(stamp_ns):
            message.header.frame_id = message.header.frame_id or self._wanted.frame_id
            self._depths.publish(message)

    def _see_frame(self, frame_id: str) -> None:
        """Publish images in the frame that the robot file names; log once that the driver calls it otherwise."""
        if frame_id == self._frame:
            return
        self._frame, ours = frame_id, self._wanted.frame_id
        if frame_id and frame_id != ours:
            self._node.get_logger().warning(
                f"the driver calls its frame '{frame_id}' and the robot '{ours}': images are published in '{ours}'; "
                "name the driver's under 'cameras' of the robot file if poses between the two are looked up"
            )
