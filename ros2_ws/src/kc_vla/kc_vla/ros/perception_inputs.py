"""What the node `perception` listens to of the robot's cameras: images, lenses, depth, and where the cameras are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from kc_vla.cameras.decimation import Decimator
from kc_vla.core import topics
from kc_vla.core.frame_tree import FrameTree
from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.urdf import Placed
from kc_vla.perception.view_stream import ViewStream
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import FUTURE_NS, BadMessageError, calibration_in, check_stamp, nanoseconds
from kc_vla.ros.perception_parameters import PerceptionParameters
from kc_vla.ros.transforms import placed_in

_FLANGE = "flange of the topic tool_pose"
"""Name of a frame that no message has: the parent of the cameras on the arm that calibration files place."""


class PerceptionInputs:
    """The subscriptions of the node.

    Attributes:
        frames: where all frames are.
        streams: the images of each view.
        target: the frame that objects are located in.
        began_s: when it began to listen, by `time.monotonic`.
    """

    def __init__(
        self,
        node: StackNode,
        values: PerceptionParameters,
        rate: float,
        tell: Callable[[str, str], None],
        ready: Callable[[], None],
    ) -> None:
        """Begin to listen.

        Args:
            node: that is starting.
            values: its parameters.
            rate: images a second that are kept of each view; 0: all.
            tell: is given what a problem is about, and the problem in one line; an empty line where there is none.
            ready: called after each image, depth image and transform.

        Raises:
            StartError: a calibration file cannot be used.
        """
        self._node, self._tell, self._ready, self._robot = node, tell, ready, values.loaded_robot()
        self.began_s = time.monotonic()
        base = self._robot.base_frame
        placed = [Placed(_FLANGE if each.in_hand else base, each.frame, each.pose) for each in values.cameras()]
        self.frames = FrameTree(placed)
        settings = values.streams()
        self.target = settings.frame
        self.streams = {view: ViewStream(view, self.frames, settings) for view in self._robot.views}
        node.subscribe(TFMessage, topics.TF_STATIC, self._on_fixed, qos.EVENT_LOG)
        node.subscribe(TFMessage, topics.TF, self._on_moving, qos.WATCHED)
        if any(each.parent == _FLANGE for each in placed):
            node.subscribe(PoseStamped, topics.TOOL_POSE, self._on_tool, qos.STATE)
        for stream in self.streams.values():
            self._listen(stream, Decimator(rate))

    def view_of(self, frame_id: str) -> str:
        """Return the view whose images are in a frame; empty where none is."""
        for view, stream in self.streams.items():
            if frame_id and frame_id in (stream.optical_frame, self._robot.cameras[view]):
                return view
        return ""

    def _listen(self, stream: ViewStream, decimator: Decimator) -> None:
        node, view = self._node, stream.view
        image, info, depth = topics.image_topic(view), topics.camera_info_topic(view), topics.depth_topic(view)

        def on_image(message: Image, source: dict[str, int]) -> None:
            stamp_ns = self._stamp(message, image)
            if stamp_ns and decimator.takes(stamp_ns):
                stream.put_image(message, stamp_ns, time.monotonic(), source["source_timestamp"])
                self._ready()

        def on_depth(message: Image) -> None:
            if stamp_ns := self._stamp(message, depth):
                stream.put_depth(message, stamp_ns, time.monotonic())
                self._ready()

        def on_info(message: CameraInfo) -> None:
            try:
                stream.put_lens(calibration_in(message, info))
            except BadMessageError as error:
                self._tell(info, str(error))
            else:
                self._tell(info, "")

        node.subscribe(CameraInfo, info, on_info, qos.IMAGE)
        node.subscribe(Image, depth, on_depth, qos.IMAGE)
        node.subscribe(Image, image, on_image, qos.IMAGE)

    def _stamp(self, message: Any, topic: str) -> int:
        """Return the stamp of a message, ns; 0, and a line, where it cannot be used."""
        stamp_ns = nanoseconds(message.header.stamp)
        now_ns = self._node.get_clock().now().nanoseconds
        try:
            if stamp_ns == 0:
                raise BadMessageError("it has no stamp: nothing can be seen beside it")
            check_stamp(stamp_ns, now_ns)
            if now_ns - stamp_ns > FUTURE_NS:
                late_s = (now_ns - stamp_ns) / 1e9
                raise BadMessageError(f"its stamp lies {late_s:.0f} s behind this node's clock: do both clocks agree?")
        except BadMessageError as error:
            self._node.statistics.drop(topic)
            self._tell(topic, f"a message on {topic} is left out: {error}")
            return 0
        self._tell(topic, "")
        return stamp_ns

    # -- where the cameras are ----------------------------------------------------------------------------------

    def _on_fixed(self, message: TFMessage) -> None:
        self.frames.put_fixed(self._placed(message))

    def _on_moving(self, message: TFMessage) -> None:
        placed = self._placed(message)
        for each, told in zip(placed, message.transforms, strict=False):
            self.frames.put([each], nanoseconds(told.header.stamp))
        self._ready()

    def _placed(self, message: TFMessage) -> list[Placed]:
        try:
            placed = placed_in(message)
        except BadMessageError as error:
            self._tell(topics.TF, f"transforms are left out: {error}")
            return []
        self._tell(topics.TF, "")
        return placed

    def _on_tool(self, message: PoseStamped) -> None:
        at, turn = message.pose.position, message.pose.orientation
        position, quaternion = (at.x, at.y, at.z), (turn.x, turn.y, turn.z, turn.w)
        if all(map(math.isfinite, (*position, *quaternion))) and any(quaternion):
            pose = pose_matrix(position, quaternion)
            placed = Placed(self._robot.base_frame, _FLANGE, pose)
            self.frames.put([placed], nanoseconds(message.header.stamp))
            self._ready()
