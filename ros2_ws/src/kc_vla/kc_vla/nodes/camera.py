"""Node `camera`: one camera. Frames of a device, a file, a folder or a driver's topic as `image_raw`, `camera_info`.

Its topics have no camera name of their own: start it in the namespace of its camera, e.g. third_person.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image

from kc_vla.calibration.reading import load_latency
from kc_vla.cameras.calibration import Calibration, load_calibration
from kc_vla.cameras.errors import CalibrationError, CameraError
from kc_vla.cameras.sources import CapturedFrame, SourceSpec
from kc_vla.cameras.stream import CameraStream
from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.camera_driver import CameraDriver, CameraParameters
from kc_vla.ros.convert import BadMessageError, image_message, info_message, time_message
from kc_vla.ros.process import run_node

_TOO_FEW = 0.9


class CameraNode(StackNode):
    """The node `camera`, which publishes the images of one camera."""

    Parameters = CameraParameters
    parameters: CameraParameters

    def __init__(self) -> None:
        super().__init__("camera")

    def start(self) -> None:
        """Open the source and begin to publish."""
        wanted = self.parameters
        self._frames = 0
        self._stream: CameraStream | None = None
        self._driver: CameraDriver | None = None
        self._calibration: Calibration | None = None
        self._images = self.advertise(Image, topics.OWN_IMAGE, qos.IMAGE)
        self._infos = self.advertise(CameraInfo, topics.OWN_INFO, qos.IMAGE)
        if bool(wanted.source) == bool(wanted.topic):
            raise StartError(
                "no camera source is given: set 'source' or, for a third-party driver, 'topic', and one only"
            )
        if (wanted.info or wanted.depth) and not wanted.topic:
            raise StartError("'info' and 'depth' belong to a third-party driver: name its images with 'topic'")
        try:
            if wanted.calibration:
                self._calibration = load_calibration(Path(wanted.calibration).expanduser())
            elif not wanted.info:
                self.get_logger().warning(
                    "the camera is not calibrated: set 'calibration' to its camera_info YAML file, or 'info' to its "
                    "driver's topic"
                )
            self._latency_ns = round(load_latency(Path(wanted.latency).expanduser()) * 1e9) if wanted.latency else 0
            if wanted.topic:
                self._driver = CameraDriver(self, wanted, self._on_picture, self._on_lost, self._on_back)
                return
            spec = SourceSpec(wanted.source, wanted.fps, wanted.width, wanted.height, wanted.loop, wanted.format)
            self._stream = CameraStream(spec, self._on_frame, self._on_lost, self._on_back, self._on_end, self._accept)
        except CameraError as error:
            raise StartError(str(error)) from error
        self.get_logger().info(f"camera on {wanted.source} at {self._stream.fps:g} frames/s")
        if self._stream.fps < _TOO_FEW * wanted.fps:
            self.get_logger().warning(
                f"{wanted.source} gives {self._stream.fps:g} images a second at this size, {wanted.fps:g} are asked "
                "for: set 'format' to MJPG, or ask for smaller images (v4l2-ctl --list-formats-ext tells what it has)"
            )

    def hardware(self) -> str:
        """Return the device, or what stands in for one."""
        return self.parameters.source or self.parameters.topic or super().hardware()

    def stop(self) -> None:
        """Give the source back."""
        if self._stream is not None:
            self._stream.close()

    def details(self) -> dict[str, object]:
        """Return what else the diagnostics report."""
        wanted, driver = self.parameters, getattr(self, "_driver", None)
        told = {
            "source": wanted.source or wanted.topic,
            "calibration": wanted.calibration or wanted.info or "none",
            "frames": self._frames,
        }
        return told | (driver.details() if driver is not None else {})

    def _accept(self, frame: CapturedFrame) -> None:
        """Raise `CalibrationError` if the calibration is of images of another size."""
        if self._calibration is not None:
            height, width, _ = frame.pixels.shape
            self._calibration.check_size(width, height)

    def _on_frame(self, frame: CapturedFrame) -> None:
        """Publish one frame; called from the reading thread, which alone uses these publishers."""
        try:
            self._accept(frame)  # a camera that comes back may be another
        except CalibrationError as error:
            self.problem(str(error), ERROR)
            return
        self._publish(frame.pixels, self._stamp(frame.captured_ns), self._calibration)
        self.statistics.add("capture_to_publish", (time.time_ns() - frame.captured_ns) / 1e9)

    def _on_picture(self, pixels: NDArray[np.uint8], stamp_ns: int, told: Calibration | None) -> None:
        """Publish an image of a driver with its calibration; that of a file counts before the driver's.

        Raises:
            BadMessageError: the calibration is of images of another size.
        """
        known = self._calibration or told
        try:
            if known is not None:
                known.check_size(pixels.shape[1], pixels.shape[0])
        except CalibrationError as error:
            raise BadMessageError(str(error)) from error
        self._publish(pixels, time_message(max(0, stamp_ns - self._latency_ns)), known)
        self.statistics.add("stamp_to_publish", (self.get_clock().now().nanoseconds - stamp_ns) / 1e9)

    def _publish(self, pixels: NDArray[np.uint8], stamp: Time, known: Calibration | None) -> None:
        height, width, _ = pixels.shape
        self._infos.publish(info_message(known, width, height, stamp, self.parameters.frame_id))
        self._images.publish(image_message(pixels, stamp, self.parameters.frame_id))
        self._frames += 1

    def _stamp(self, captured_ns: int) -> Time:
        """Return the capture time on ROS's clock, which may be simulated or shifted against the wall's."""
        age_ns = time.time_ns() - captured_ns + self._latency_ns
        return time_message(max(0, self.get_clock().now().nanoseconds - age_ns))

    def _on_lost(self, reason: str) -> None:
        self.problem(f"camera lost, trying again: {reason}", ERROR)

    def _on_back(self) -> None:
        self.get_logger().info("camera is back")
        self.problem("")

    def _on_end(self) -> None:
        self.get_logger().info(f"end of {self.parameters.source} after {self._frames} frames")


def main() -> None:
    """Run the node."""
    run_node(CameraNode)
