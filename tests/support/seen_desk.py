"""A desk that two cameras see, and an external detector that publishes vision_msgs as public packages of YOLO do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from box_scene import HEIGHT, MATRIX, WIDTH, Shown, Thing, cast, looking
from builtin_interfaces.msg import Time
from node_process import Peer
from numpy.typing import NDArray
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import (
    Detection2D,
    Detection2DArray,
    Detection3D,
    Detection3DArray,
    ObjectHypothesisWithPose,
)

from kc_vla.core import topics
from kc_vla.core.robot import load_robot
from kc_vla.core.urdf import Placed
from kc_vla.ros import qos
from kc_vla.ros.transforms import transforms_message

PIPER = load_robot("piper")
PLACES = {"third_person": looking((0.8, 0.1, 0.6), (0.3, 0.0, 0.0)), "wrist": looking((0.3, 0.3, 0.5), (0.3, 0.0, 0.0))}
"""Poses of the two cameras in the robot's base frame."""
COLORS = {"mug": (200, 30, 30), "bowl": (30, 160, 40), "box": (40, 60, 200)}
BOXES, POSES = "yolo/detections", "yolo/detections_3d"


@dataclass
class Desk(Peer):
    """Publishes what the cameras see, and what the detector finds in it.

    Attributes:
        things: on the desk.
        lies: what the detector reports, too, and is not there.
        depth: encoding of the depth images; empty for none.
        unit: of the numbers of the depth, m.
        shrink: rows and columns of the depth that are left out, each second one.
        places: of the cameras.
        lens_width: width that camera_info says, px.
        frame: that the detector says its boxes are in; None: that of the camera.
        late_s: by which all stamps are too old, s.
        driver: what the topics of a driver begin with; empty: the topics are those of the stack.
    """

    things: Sequence[Thing] = ()
    lies: Sequence[Thing] = ()
    depth: str = "16UC1"
    unit: float = 1e-3
    shrink: bool = False
    lens_width: int = WIDTH
    frame: str | None = None
    late_s: int = 0
    driver: str = ""

    def __enter__(self) -> Desk:
        super().__enter__()
        self.places = dict(PLACES)
        make, reliable = self.node.create_publisher, QoSProfile(depth=10)
        self._images = {view: make(Image, self.driver + topics.image_topic(view), qos.IMAGE) for view in PIPER.views}
        self._infos = {
            view: make(CameraInfo, self.driver + topics.camera_info_topic(view), qos.IMAGE) for view in PIPER.views
        }
        self._depths = {view: make(Image, self.driver + topics.depth_topic(view), qos.IMAGE) for view in PIPER.views}
        self._fixed = make(TFMessage, topics.TF_STATIC, qos.STATUS)
        self._boxes = make(Detection2DArray, BOXES, reliable)
        self._poses = make(Detection3DArray, POSES, reliable)
        self.place_cameras()
        return self

    def place_cameras(self) -> None:
        """Say on /tf_static where the cameras are."""
        placed = [Placed(PIPER.base_frame, PIPER.cameras[view], pose) for view, pose in self.places.items()]
        self._fixed.publish(transforms_message(placed, self.now()))

    def now(self) -> Time:
        """Return the time of this moment, as the desk's clock has it."""
        stamp = self.node.get_clock().now().to_msg()
        stamp.sec -= self.late_s
        return stamp

    def rest(self, seconds: float) -> None:
        """Serve callbacks for a while."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def stop_detector(self) -> None:
        """Let the detector die."""
        for publisher in (self._boxes, self._poses):
            self.node.destroy_publisher(publisher)

    def see(self, boxes: bool = True, poses: bool = False, copies: int = 1, views: Sequence[str] = PIPER.views) -> None:
        """Publish one image of each camera, and what the detector finds in it.

        Args:
            boxes: in 2-D.
            poses: in 3-D, in the frame of the robot's base.
            copies: of each detection.
            views: whose cameras take an image.
        """
        for view in views:
            header = Header(stamp=self.now(), frame_id=PIPER.cameras[view])
            shown = cast(self.things, PLACES[view])
            if self.depth:
                self._depths[view].publish(self._depth_of(shown, header))
            info = CameraInfo(header=header, width=self.lens_width, height=HEIGHT, distortion_model="plumb_bob")
            info.d, info.k = [0.0] * 5, [float(each) for each in MATRIX.ravel()]
            self._infos[view].publish(info)
            self._images[view].publish(picture_of(shown, header))
            believed = [*self.things, *self.lies]
            claimed = cast(believed, PLACES[view]) if self.lies else shown
            found = [(each, box) for number, each in enumerate(believed) if (box := claimed.box(number)) is not None]
            if boxes:
                of_boxes = header.frame_id if self.frame is None else self.frame
                array = Detection2DArray(header=Header(stamp=header.stamp, frame_id=of_boxes))
                array.detections = [box_message(each.kind, *box) for each, box in found for _ in range(copies)]
                self._boxes.publish(array)
            if poses:
                array_3d = Detection3DArray(header=Header(stamp=header.stamp, frame_id=PIPER.base_frame))
                array_3d.detections = [pose_of(each) for each, _ in found]
                self._poses.publish(array_3d)

    def _depth_of(self, shown: Shown, header: Header) -> Image:
        depth = shown.depth[::2, ::2] if self.shrink else shown.depth
        kind = np.uint16 if self.depth == "16UC1" else np.float32
        data = np.round(depth / self.unit, 0 if kind is np.uint16 else 6).astype(kind)
        height, width = data.shape
        step = width * data.itemsize
        return Image(header=header, height=height, width=width, step=step, encoding=self.depth, data=data.tobytes())


def picture_of(shown: Shown, header: Header) -> Image:
    """Return a color image of a scene: a gray desk, and each thing in its color."""
    pixels: NDArray[np.uint8] = np.full((HEIGHT, WIDTH, 3), 120, np.uint8)
    for number, each in enumerate(shown.things):
        pixels[shown.which == number] = COLORS.get(each.kind, (230, 200, 40))
    return Image(header=header, height=HEIGHT, width=WIDTH, step=3 * WIDTH, encoding="rgb8", data=pixels.tobytes())


def box_message(kind: str, left: float, top: float, right: float, bottom: float) -> Detection2D:
    """Return a box with two results, of which the better one comes last."""
    made = Detection2D(results=[_result("vase", 0.1), _result(kind, 0.85)])
    made.bbox.center.position.x, made.bbox.center.position.y = (left + right) / 2, (top + bottom) / 2
    made.bbox.size_x, made.bbox.size_y = right - left, bottom - top
    return made


def pose_of(each: Thing) -> Detection3D:
    """Return a thing with its pose in the frame of the robot's base."""
    made = Detection3D(results=[_result(each.kind, 0.85)])
    place, size = made.bbox.center.position, made.bbox.size
    place.x, place.y, place.z = each.position
    size.x, size.y, size.z = each.size
    return made


def _result(class_id: str, score: float) -> ObjectHypothesisWithPose:
    made = ObjectHypothesisWithPose()
    made.hypothesis.class_id, made.hypothesis.score = class_id, score
    return made
