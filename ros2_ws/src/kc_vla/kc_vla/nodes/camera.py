"""Node `camera`: one camera. Frames of a device, a video file or a folder as `image_raw` and `camera_info`.

Its topics have no camera name of their own: start it in the namespace of its camera, e.g. third_person.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo, Image

from kc_vla.calibration.reading import load_latency
from kc_vla.cameras.calibration import Calibration, load_calibration
from kc_vla.cameras.errors import CalibrationError, CameraError
from kc_vla.cameras.sources import CapturedFrame, SourceSpec
from kc_vla.cameras.stream import CameraStream
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.convert import image_message, time_message
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node

IMAGE = "image_raw"
INFO = "camera_info"


@dataclass(frozen=True)
class CameraParameters(NodeParameters):
    """Parameters of the node."""

    source: str = parameter("", "a device (/dev/video0 or 0), a video file, or a folder of pictures")
    fps: float = parameter(0.0, "frames per second; 0 for the source's own", low=0.0, high=1000.0)
    width: int = parameter(0, "px, pictures are scaled to it; 0 for the source's own", low=0, high=16384)
    height: int = parameter(0, "px, pictures are scaled to it; 0 for the source's own", low=0, high=16384)
    frame_id: str = parameter("camera_optical_frame", "name of the camera's optical frame (REP 103)")
    calibration: str = parameter("", "camera_info YAML file; empty for an uncalibrated camera")
    latency: str = parameter("", "file of `kc-vla calibrate latency`: pictures are as much older than when they came")
    loop: bool = parameter(False, "begin again at the end of a file or folder")


class CameraNode(StackNode):
    """See the module."""

    Parameters = CameraParameters
    parameters: CameraParameters

    def __init__(self) -> None:
        super().__init__("camera")

    def start(self) -> None:
        """Open the source and begin to publish."""
        wanted = self.parameters
        self._frames = 0
        self._stream: CameraStream | None = None
        self._calibration: Calibration | None = None
        self._images = self.advertise(Image, IMAGE, qos.IMAGE)
        self._infos = self.advertise(CameraInfo, INFO, qos.IMAGE)
        try:
            if wanted.calibration:
                self._calibration = load_calibration(Path(wanted.calibration).expanduser())
            else:
                self.get_logger().warning(
                    "the camera is not calibrated: set 'calibration' to its camera_info YAML file"
                )
            self._latency_ns = round(load_latency(Path(wanted.latency).expanduser()) * 1e9) if wanted.latency else 0
            spec = SourceSpec(wanted.source, wanted.fps, wanted.width, wanted.height, wanted.loop)
            self._stream = CameraStream(spec, self._on_frame, self._on_lost, self._on_back, self._on_end, self._accept)
        except CameraError as error:
            raise StartError(str(error)) from error
        self.get_logger().info(f"camera on {wanted.source} at {self._stream.fps:g} frames/s")

    def stop(self) -> None:
        """Give the source back."""
        if self._stream is not None:
            self._stream.close()

    def details(self) -> dict[str, object]:
        """Return what else the diagnostics tell."""
        calibration = self.parameters.calibration or "none"
        return {"source": self.parameters.source, "calibration": calibration, "frames": self._frames}

    def _accept(self, frame: CapturedFrame) -> None:
        """Raise `CalibrationError` if the calibration is of pictures of another size."""
        if self._calibration is not None:
            height, width, _ = frame.pixels.shape
            self._calibration.check_size(width, height)

    def _on_frame(self, frame: CapturedFrame) -> None:
        """Publish one frame; called from the reading thread, which alone uses these publishers."""
        height, width, _ = frame.pixels.shape
        try:
            self._accept(frame)  # a camera that comes back may be another
        except CalibrationError as error:
            self.problem(str(error), ERROR)
            return
        stamp = self._stamp(frame.captured_ns)
        self._infos.publish(self._info(width, height, stamp))
        self._images.publish(image_message(frame.pixels, stamp, self.parameters.frame_id))
        self._frames += 1
        self.statistics.add("capture_to_publish", (time.time_ns() - frame.captured_ns) / 1e9)

    def _stamp(self, captured_ns: int) -> Time:
        """Return the capture time on ROS's clock, which may be simulated or shifted against the wall's."""
        age_ns = time.time_ns() - captured_ns + self._latency_ns
        return time_message(max(0, self.get_clock().now().nanoseconds - age_ns))

    def _info(self, width: int, height: int, stamp: Time) -> CameraInfo:
        """Return the calibration as a message; all zeros where there is none, as CameraInfo prescribes."""
        message = CameraInfo(width=width, height=height)
        message.header.stamp, message.header.frame_id = stamp, self.parameters.frame_id
        known = self._calibration
        if known is not None:
            message.distortion_model, message.d = known.distortion_model, list(known.d)
            message.k, message.r, message.p = list(known.k), list(known.r), list(known.p)
        return message

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
