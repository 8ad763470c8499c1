"""Publishes everything that the simulator shows of one frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from vision_msgs.msg import Detection2DArray

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import time_message
from kc_vla.ros.perception_messages import box_message
from kc_vla_msgs.msg import KeyframeScore, ObjectDetections
from kc_vla_sim.frame import BASE_FRAME, GroundTruthObject, SimulatedFrame
from kc_vla_sim.nodes.camera_publisher import CameraPublisher
from kc_vla_sim.nodes.messages import add_crops, detections_of, joints_of, pose_of
from kc_vla_sim.protocol import Simulation

_FEWEST_PIXELS = 6
"""An object is seen in a view that has so many pixels of it."""
_CROP_EVERY = 20
"""Frames: once a second at 20 Hz, as often as a memory keeps a new crop."""


class FramePublisher:
    """Cameras, joint states, tool pose, detections, the oracle's score and the clock."""

    def __init__(
        self, node: StackNode, simulator: Simulation, views: Sequence[str], depth: bool = False, boxes: bool = False
    ) -> None:
        """Advertise the simulator's topics.

        Args:
            node: that publishes.
            simulator: that is shown.
            views: that the simulator shows.
            depth: whether depth is published, too.
            boxes: whether the boxes of what each view shows are, for pages.
        """
        self._simulator = simulator
        self._clock = node.advertise(Clock, "/clock", qos.STATE)
        self._joints = node.advertise(JointState, topics.JOINT_STATES, qos.STATE)
        self._tool = node.advertise(PoseStamped, topics.TOOL_POSE, qos.STATE)
        self._oracle = node.advertise(KeyframeScore, topics.ORACLE_SCORE, qos.EVENT)
        self._detections = node.advertise(ObjectDetections, topics.DETECTIONS_TRUTH, qos.STATE)
        self._cameras = CameraPublisher(node, views, depth)
        boxed = views if boxes else ()
        self._boxes = {view: node.advertise(Detection2DArray, topics.boxes_topic(view), qos.IMAGE) for view in boxed}

    @property
    def watched(self) -> bool:
        """Return whether anything that needs images has a subscriber."""
        return self._cameras.watched or bool(self._detections.get_subscription_count())

    def _seen(self, frame: SimulatedFrame, episode_id: str, stamp: Time) -> ObjectDetections:
        """Return the objects of a frame, now and then with what the first camera shows of them."""
        shown = replace(frame, detections=tuple(_shown(frame))) if frame.visible else frame
        message, camera = detections_of(shown, episode_id, stamp), self._simulator.cameras[0]
        pixels = next(iter(frame.views.values()))
        if not frame.index % _CROP_EVERY and pixels.size and camera.parent == BASE_FRAME:
            add_crops(message, pixels, camera)
        return message

    def show_clock(self, clock_ns: int) -> None:
        """Publish the simulated time."""
        self._clock.publish(Clock(clock=time_message(clock_ns)))

    def begin(self, clock_ns: int) -> None:
        """Publish the simulated time, and where the cameras of the episode that begins are."""
        self.show_clock(clock_ns)
        self._cameras.place(self._simulator.cameras, time_message(clock_ns))

    def show(self, frame: SimulatedFrame, episode_id: str, clock_ns: int) -> None:
        """Publish one frame; the joint state goes last, since it starts the control step."""
        stamp = time_message(clock_ns)
        self.show_clock(clock_ns)
        score = KeyframeScore(
            episode_id=episode_id,
            frame_index=frame.index,
            phase=frame.keyframe_index,
            score=0.0 if frame.keyframe is None else 1.0,
            threshold=0.5,
            source="oracle",
        )
        score.header.stamp = stamp
        self._oracle.publish(score)
        tool = PoseStamped(pose=pose_of(frame.tool_pose))
        tool.header.stamp, tool.header.frame_id = stamp, BASE_FRAME
        self._tool.publish(tool)
        self._detections.publish(self._seen(frame, episode_id, stamp))
        cameras = dict(zip(frame.views, self._simulator.cameras, strict=True))
        self._cameras.show(frame.views, frame.depth, cameras, stamp)
        for view, pixels in frame.views.items():
            if pixels.size:
                self._show_boxes(view, frame, Header(stamp=stamp, frame_id=cameras[view].frame))
        self._joints.publish(joints_of(frame, stamp))

    def _show_boxes(self, view: str, frame: SimulatedFrame, header: Header) -> None:
        """Publish the boxes of what a view shows, if a subscriber wants them."""
        publisher = self._boxes.get(view)
        if publisher is None or not publisher.get_subscription_count():
            return
        types = {each.object_id: each.object_type for each in frame.detections}
        shown = frame.visible.get(view, {})
        boxes = [
            box_message(name, types.get(name, ""), each.box, header)
            for name, each in shown.items()
            if each.pixels >= _FEWEST_PIXELS
        ]
        publisher.publish(Detection2DArray(header=header, detections=boxes))


def has_images(frame: SimulatedFrame) -> bool:
    """Return whether a frame was drawn."""
    return any(pixels.size for pixels in frame.views.values())


def _shown(frame: SimulatedFrame) -> Iterator[GroundTruthObject]:
    """Yield the objects that some view shows: what is in a closed drawer is not reported."""
    for each in frame.detections:
        seen = (view[each.object_id].pixels for view in frame.visible.values() if each.object_id in view)
        if max(seen, default=0) >= _FEWEST_PIXELS:
            yield each
