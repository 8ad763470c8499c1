"""A bag of a drawn desk: images, depth and transforms of cameras, as this stack and as other drivers record them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from box_scene import HEIGHT, MATRIX, WIDTH, Shown, Thing, cast
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from rclpy.serialization import serialize_message
from seen_desk import PIPER, PLACES, box_message, picture_of
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import Header
from vision_msgs.msg import Detection2DArray

from kc_vla.bags.topics import Qos, RecordedEpisodeInfo, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.core import topics
from kc_vla.core.urdf import Placed
from kc_vla.ros.transforms import transforms_message

BEGIN_S = 1_790_000_000
BOXES = "/yolo/detections"
Topics = Callable[[str, str], str]
"""Returns the name of a topic, given the view and one of image, info and depth."""


def own_topics(view: str, what: str) -> str:
    """Return the topics of this stack."""
    names = {"image": topics.image_topic, "info": topics.camera_info_topic, "depth": topics.depth_topic}
    return f"/{names[what](view)}"


def realsense_topics(view: str, what: str) -> str:
    """Return the topics of RealSense's driver, its camera named after the view."""
    names = {"image": "color/image_raw", "info": "color/camera_info", "depth": "aligned_depth_to_color/image_raw"}
    return f"/{view}/camera/{names[what]}"


@dataclass
class RecordedDesk:
    """What a bag of a desk is made of.

    Attributes:
        things: on the desk, for each image of a camera.
        depth: "16UC1", "32FC1", either with " compressedDepth", "16UC1 compressed", or empty for none.
        jpeg: whether color images are compressed.
        name: of the topics.
        views: of the cameras.
        boxes: whether a detector's boxes are recorded, too.
        without: of "info", "tf": what is not recorded.
        frames: optical frame of each view.
        depth_frame: that depth images say they are in; None: that of the camera.
        base: frame that /tf_static places the cameras in.
    """

    things: Sequence[Sequence[Thing]]
    depth: str = "16UC1"
    jpeg: bool = False
    name: Topics = own_topics
    views: Sequence[str] = ("third_person",)
    boxes: bool = True
    without: Sequence[str] = ()
    frames: dict[str, str] = field(default_factory=lambda: dict(PIPER.cameras))
    depth_frame: str | None = None
    base: str = PIPER.base_frame

    def write(self, folder: Path, period_s: float = 0.1) -> Path:
        """Write the bag, and return its folder."""
        messages = list(self._messages(period_s))
        kinds = {
            topic: f"{type(each).__module__.split('.')[0]}/msg/{type(each).__name__}" for topic, _, each in messages
        }
        infos = {topic: TopicInfo(kind, Qos()) for topic, kind in kinds.items()}
        writer = EpisodeBagWriter(folder, infos, RecordedEpisodeInfo("e", "counting", 0, "", "0.1.0", 1))
        for topic, at_ns, message in messages:
            writer.write(topic, serialize_message(message), at_ns, at_ns)
        writer.close()
        return folder

    def _messages(self, period_s: float) -> Iterator[tuple[str, int, Any]]:
        placed = [Placed(self.base, self.frames[view], PLACES[view]) for view in self.views]
        for number, things in enumerate(self.things):
            at_ns = BEGIN_S * 10**9 + round(number * period_s * 1e9)
            stamp = Time(sec=at_ns // 10**9, nanosec=at_ns % 10**9)
            for view in self.views:
                header = Header(stamp=stamp, frame_id=self.frames[view])
                shown = cast(things, PLACES[view])
                if "info" not in self.without:
                    info = CameraInfo(header=header, width=WIDTH, height=HEIGHT, distortion_model="plumb_bob")
                    info.d, info.k = [0.0] * 5, [float(each) for each in MATRIX.ravel()]
                    yield self.name(view, "info"), at_ns, info
                picture = picture_of(shown, header)
                yield self._image(view, at_ns, picture)
                if number == 1 and "tf" not in self.without:  # a recorder gets what is latched late
                    yield "/tf_static", at_ns, transforms_message(placed, stamp)
                if self.depth:
                    yield self._depth(view, at_ns, shown, header)
                if self.boxes:
                    found = Detection2DArray(header=header)
                    boxes = [(each.kind, shown.box(at)) for at, each in enumerate(things)]
                    found.detections = [box_message(kind, *box) for kind, box in boxes if box is not None]
                    yield BOXES, at_ns + 20_000_000, found

    def _image(self, view: str, at_ns: int, picture: Image) -> tuple[str, int, Any]:
        if not self.jpeg:
            return self.name(view, "image"), at_ns, picture
        pixels = np.frombuffer(picture.data, np.uint8).reshape(HEIGHT, WIDTH, 3)
        _, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
        packed = CompressedImage(header=picture.header, format="rgb8; jpeg compressed bgr8", data=data.tobytes())
        return f"{self.name(view, 'image')}/compressed", at_ns, packed

    def _depth(self, view: str, at_ns: int, shown: Shown, header: Header) -> tuple[str, int, Any]:
        if self.depth_frame is not None:
            header = Header(stamp=header.stamp, frame_id=self.depth_frame)
        topic, (kind, _, transport) = self.name(view, "depth"), self.depth.partition(" ")
        if transport:
            return f"{topic}/{transport}", at_ns, packed_depth(shown.depth, kind, transport, header)
        data = np.round(shown.depth * 1000).astype(np.uint16) if kind == "16UC1" else shown.depth
        step = WIDTH * data.itemsize
        return (
            topic,
            at_ns,
            Image(header=header, height=HEIGHT, width=WIDTH, step=step, encoding=kind, data=data.tobytes()),
        )


def packed_depth(depth_m: NDArray[np.float32], kind: str, transport: str, header: Header) -> CompressedImage:
    """Return depth as the transports of ROS compress it: a PNG of 16 bits, with a head for `compressedDepth`.

    https://github.com/ros-perception/image_transport_plugins, compressed_depth_image_transport/codec.cpp.
    """
    if kind == "16UC1":
        scale, shift, told = 0.0, 0.0, np.round(depth_m * 1000).astype(np.uint16)
    else:
        farthest_m, quantization = 10.0, 100.0
        scale = quantization * (quantization + 1.0)
        shift = 1.0 - scale / farthest_m
        with np.errstate(divide="ignore"):
            told = np.where(depth_m > 0.0, scale / depth_m + shift, 0.0).astype(np.uint16)
    _, png = cv2.imencode(".png", told)
    if transport == "compressed":
        return CompressedImage(header=header, format=f"{kind}; png compressed ", data=png.tobytes())
    data = struct.pack("<iff", 0, scale, shift) + png.tobytes()
    return CompressedImage(header=header, format=f"{kind}; compressedDepth png", data=data)
