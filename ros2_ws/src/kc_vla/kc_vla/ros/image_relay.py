"""Images of a third-party driver: found by its topic whatever form they are in, watched, and found again.

A driver may start later than this node, die, and come back with another type or quality of service: what is on the
topic is asked again whenever nothing comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CompressedImage, Image

from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import FUTURE_NS, BadMessageError, check_stamp, nanoseconds

_LOOK_S = 0.25
_KINDS = {"sensor_msgs/msg/Image": Image, "sensor_msgs/msg/CompressedImage": CompressedImage}


class ImageRelay:
    """Hands on the messages of one topic, in order, each once.

    Attributes:
        heard: messages that were handed on.
    """

    def __init__(
        self,
        node: StackNode,
        topic: str,
        stale_after: float,
        on_message: Callable[[Any, int], None],
        on_lost: Callable[[str], None],
        on_back: Callable[[], None],
    ) -> None:
        """Begin to look for it.

        Args:
            node: that listens.
            topic: the whole name, with its /.
            stale_after: s without an image after which the camera is lost.
            on_message: takes each Image or CompressedImage and its stamp, ns; a `BadMessageError` leaves it out.
            on_lost: called, with the reason, when nothing usable comes; again when the reason is another one.
            on_back: called when something does.
        """
        self._node, self._topic, self._stale_after = node, topic, stale_after
        self._on_message, self._on_lost, self._on_back = on_message, on_lost, on_back
        self._subscription: Any = None
        self._form: tuple[str, bool] | None = None  # type, and whether it is reliable
        self._told = ""
        self._newest_ns = -1
        self._came_at = time.monotonic()
        self.heard = 0
        node.every(_LOOK_S, self._look)

    def _look(self) -> None:
        silent = time.monotonic() - self._came_at
        if self._form is not None and silent < self._stale_after:
            return
        offered = self._node.get_publishers_info_by_topic(self._topic)
        kinds = {info.topic_type for info in offered}
        kind = next((kind for kind in _KINDS if kind in kinds), "")
        # As its publisher offers it: of large pictures on their way to a best effort some would be lost.
        reliable = all(info.qos_profile.reliability == ReliabilityPolicy.RELIABLE for info in offered)
        if kind and self._form != (kind, reliable):
            self._listen(kind, reliable)
        if silent >= self._stale_after:
            self._tell(self._reason(kinds, kind))

    def _listen(self, kind: str, reliable: bool) -> None:
        if self._subscription is not None:
            self._node.unsubscribe(self._subscription)  # its driver has gone, and another one came
        reliability = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        profile = QoSProfile(depth=qos.IMAGE.depth, history=qos.IMAGE.history, reliability=reliability)
        self._form = kind, reliable
        self._subscription = self._node.subscribe(_KINDS[kind], self._topic, self._take, profile)

    def _reason(self, kinds: set[str], kind: str) -> str:
        if not kinds:
            return f"nobody publishes on {self._topic}: start the camera's driver"
        if not kind:
            return f"{self._topic} carries {' and '.join(sorted(kinds))}: name a topic of {' or '.join(_KINDS)}"
        return f"nothing comes on {self._topic}: look at the camera and its driver"

    def _take(self, message: Any) -> None:
        stamp_ns = nanoseconds(message.header.stamp)
        try:
            self._check(stamp_ns)
            if stamp_ns <= self._newest_ns:
                self._node.statistics.drop(self._topic)  # repeated, or overtaken
                return
            self._on_message(message, stamp_ns)
        except BadMessageError as error:
            self._node.statistics.drop(self._topic)
            self._tell(f"a picture on {self._topic} left out: {error}")
            return
        self._newest_ns, self._came_at = stamp_ns, time.monotonic()
        self.heard += 1
        if self._told:
            self._told = ""
            self._on_back()

    def _check(self, stamp_ns: int) -> None:
        if stamp_ns == 0:
            raise BadMessageError("it has no stamp: nothing can be seen beside it")
        now_ns = self._node.get_clock().now().nanoseconds
        check_stamp(stamp_ns, now_ns)
        if now_ns - stamp_ns > FUTURE_NS:
            raise BadMessageError(
                f"its stamp lies {(now_ns - stamp_ns) / 1e9:.0f} s behind this node's clock: "
                "does its driver stamp by another clock?"
            )
        if stamp_ns + FUTURE_NS < self._newest_ns:
            self._newest_ns = -1  # the clock was set back

    def _tell(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._on_lost(reason)
