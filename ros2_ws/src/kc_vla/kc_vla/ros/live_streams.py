"""What a live page shows of the streams of a stack: taken when it asks for it, and nothing listened to unwatched.

Scores and keyframes alone are listened to always: a page that comes later shows those that were before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image, JointState
from vision_msgs.msg import Detection2D, Detection2DArray

from kc_vla.core import topics
from kc_vla.live import board as shown
from kc_vla.live import messages
from kc_vla.live.board import LiveBoard
from kc_vla.live.images import Pixels
from kc_vla.media.boxes import MOST_BOXES, NamedBox, with_boxes
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import image_pixels, nanoseconds
from kc_vla.ros.mailbox import Mailbox
from kc_vla_msgs.msg import ActionChunk, ArmCommand, KeyframeIndex, KeyframeScore

_LOOK_S = 0.5
"""Time, s, after which messages are taken, with or without clients: no topic has more than its depth by then."""


_BOXES_NS = 1_000_000_000
"""Between an image and the boxes that are drawn into it."""
_JOINTS = "joints"
"""Part of the board that has where the arm is."""


class LiveStreams:
    """Images, joints, scores, keyframes, chunks, commands. Safe for any threads but `watch`, which is the node's."""

    def __init__(
        self, node: StackNode, board: LiveBoard, views: Sequence[str], on_index: Callable[[KeyframeIndex], None]
    ) -> None:
        """Begin.

        Args:
            node: that listens.
            board: board that it writes to.
            views: of the robot.
            on_index: is given the newest list of keyframes, by any thread.
        """
        self._node, self._board, self._views, self._on_index = node, board, tuple(views), on_index
        self._cameras: dict[str, Mailbox] = {}
        self._detections: dict[str, Mailbox] = {}
        self._boxes: dict[str, Detection2DArray] = {}
        self._arm: dict[str, Mailbox] = {}
        self._scores = Mailbox(node, KeyframeScore, topics.KEYFRAME_SCORE, qos.WATCHED)
        self._index = Mailbox(node, KeyframeIndex, topics.KEYFRAME_INDEX, qos.STATUS)
        self._looking = threading.Lock()
        node.every(_LOOK_S, self.look)

    @property
    def watched(self) -> bool:
        """Return whether all of them are listened to."""
        return bool(self._cameras)

    def watch(self) -> None:
        """Listen to all."""
        arm = (
            (JointState, topics.JOINT_STATES, qos.STATE),
            (ActionChunk, topics.POLICY_CHUNK, qos.WATCHED),
            (ArmCommand, topics.ARM_COMMAND, qos.WATCHED),
        )
        self._arm = {topic: Mailbox(self._node, kind, topic, profile) for kind, topic, profile in arm}
        self._cameras = {
            view: Mailbox(self._node, Image, topics.image_topic(view), qos.IMAGE, raw=True) for view in self._views
        }
        self._detections = {
            view: Mailbox(self._node, Detection2DArray, topics.boxes_topic(view), qos.IMAGE) for view in self._views
        }

    def unwatch(self) -> None:
        """Listen to scores and keyframes alone."""
        open_ones = [*self._cameras.values(), *self._arm.values(), *self._detections.values()]
        self._cameras, self._arm, self._detections, self._boxes = {}, {}, {}, {}
        for mailbox in open_ones:
            mailbox.close()
        with self._looking:  # where the arm was and what it followed: it goes on, and nobody listens
            self._board.forget(shown.CHUNKS, shown.COMMANDS, _JOINTS)

    def picture(self, view: str) -> Pixels | None:
        """Return the newest image of a view with what is detected in it; None where none has come since.

        Raises:
            ValueError: the image is not as it should be; the text says why.
        """
        camera = self._cameras.get(view)
        raw = camera.newest() if camera else None
        if raw is None:
            return None
        image = deserialize_message(raw, Image)
        boxes = self._boxes_of(view, nanoseconds(image.header.stamp))
        return with_boxes(image_pixels(image), boxes) if boxes else image_pixels(image)

    def _boxes_of(self, view: str, stamp_ns: int) -> list[NamedBox]:
        """Return the newest boxes of a view; none where they are more than a second older than its image."""
        mailbox = self._detections.get(view)
        if mailbox is not None and (newest := mailbox.newest()) is not None:
            self._boxes[view] = newest
        known = self._boxes.get(view)
        if known is None or abs(stamp_ns - nanoseconds(known.header.stamp)) > _BOXES_NS:
            return []
        return [_named(each) for each in known.detections[:MOST_BOXES]]

    def look(self) -> None:
        """Put all other new messages on the board."""
        with self._looking:
            self._take(self._scores, shown.SCORES, messages.score_row)
            if (index := self._index.newest()) is not None:
                self._on_index(index)
            if not (arm := self._arm):
                return
            self._take(arm[topics.POLICY_CHUNK], shown.CHUNKS, messages.chunk_row)
            self._take(arm[topics.ARM_COMMAND], shown.COMMANDS, messages.command_row)
            if (state := arm[topics.JOINT_STATES].newest()) is not None:
                self._board.tell(_JOINTS, messages.joints_part(state))

    def add(self, message: Any, series: str, row_of: Callable[[Any], Any]) -> None:
        """Add a message to a series of the board, unless it is late, from an episode that is over."""
        if message.episode_id == self._board.episode and (row := row_of(message)) is not None:
            self._board.add(series, row)

    def _take(self, mailbox: Mailbox, series: str, row_of: Callable[[Any], Any]) -> None:
        for message in mailbox.take():
            self.add(message, series, row_of)


def _named(detection: Detection2D) -> NamedBox:
    """Return the box of a detection, called by its id where it has one, or else by its class."""
    middle, across, down = detection.bbox.center.position, detection.bbox.size_x, detection.bbox.size_y
    of_class = detection.results[0].hypothesis.class_id if detection.results else ""
    name = detection.id.partition("-")[0] or of_class  # without the run that the id is of
    left, top = middle.x - across / 2, middle.y - down / 2
    return NamedBox(left, top, left + across, top + down, name)
