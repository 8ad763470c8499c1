"""What a live page shows of the streams of a stack: taken when it asks for it, and nothing listened to unwatched.

Scores and keyframes alone are listened to always: a page that comes later shows those that were before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image, JointState

from kc_vla.core import topics
from kc_vla.live import board as shown
from kc_vla.live import messages
from kc_vla.live.board import LiveBoard
from kc_vla.live.images import Pixels
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import image_pixels
from kc_vla.ros.mailbox import Mailbox
from kc_vla_msgs.msg import ActionChunk, ArmCommand, KeyframeIndex, KeyframeScore

_LOOK_S = 0.5
"""Time, s, after which messages are taken, with or without clients: no topic has more than its depth by then."""


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

    def unwatch(self) -> None:
        """Listen to scores and keyframes alone."""
        cameras, arm, self._cameras, self._arm = self._cameras, self._arm, {}, {}
        for mailbox in (*cameras.values(), *arm.values()):
            mailbox.close()
        with self._looking:  # where the arm was and what it followed: it goes on, and nobody listens
            self._board.forget(shown.CHUNKS, shown.COMMANDS, _JOINTS)

    def picture(self, view: str) -> Pixels | None:
        """Return the newest image of a view, None where none has come since.

        Raises:
            ValueError: the image is not as it should be; the text says why.
        """
        camera = self._cameras.get(view)
        raw = camera.newest() if camera else None
        return None if raw is None else image_pixels(deserialize_message(raw, Image))

    def look(self) -> None:
        """Put what else has come on the board."""
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
