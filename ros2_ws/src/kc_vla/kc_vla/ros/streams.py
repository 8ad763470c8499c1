"""Feeds stamped topics into a synchronizer, with the wall time at which each message was published."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image, JointState, Joy

from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.keyframes.observation import Observation, observation_of
from kc_vla.keyframes.scoring import ScorerInput, sight_of
from kc_vla.keyframes.synchronizer import SyncedFrame, Synchronizer
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, seconds_since
from kc_vla.ros.convert import (
    BadMessageError,
    check_sample,
    check_stamp,
    image_pixels,
    nanoseconds,
)
from kc_vla_msgs.msg import KeyframeScore

_DEPTH = 10
"""Messages that wait for a node on each topic: more control steps than it may lag behind in lock-step."""
BESIDE: dict[str, tuple[type, str, QoSProfile]] = {
    "oracle": (KeyframeScore, topics.ORACLE_SCORE, qos.EVENT),
    "joints": (JointState, topics.JOINT_STATES, qos.STATE),
    "tool_pose": (PoseStamped, topics.TOOL_POSE, qos.STATE),
}
"""What a selector may need beside images, see `kc_vla.core.views.STREAMS`: kind, topic, and quality."""
OFFERS: dict[str, tuple[type, str, Callable[[Any], tuple[Any, ...]]]] = {
    "leader": (JointState, topics.LEADER_STATES, lambda message: (np.array(message.position),)),
    "joy": (Joy, topics.JOY, lambda message: (list(message.axes), list(message.buttons))),
}
"""What a policy may listen to: kind, topic, what of a message it is offered."""
OnSample = Callable[[str, int, Any, int], None]
"""`on_sample(stream, stamp_ns, message, published_ns)`; the last is the publisher's wall clock."""


def listen(node: StackNode, kind: type, topic: str, profile: QoSProfile, stream: str, on_sample: OnSample) -> None:
    """Hand every message of a stamped topic to `on_sample`, apart from those that contradict themselves.

    They are logged and left out here, before one of them can take the place of the true sample of its moment.
    """

    def callback(message: Any, info: dict[str, int]) -> None:
        try:
            check_sample(message)
            check_stamp(nanoseconds(message.header.stamp), node.get_clock().now().nanoseconds)
        except BadMessageError as error:
            node.statistics.drop(topic)
            node.problem(f"message on {topic} left out: {error}", ERROR)
            return
        on_sample(stream, nanoseconds(message.header.stamp), message, info["source_timestamp"])

    # A frame that comes while this node is busy waits: in lock-step, which frames it saw must not depend on its speed.
    waiting = QoSProfile(
        depth=max(_DEPTH, profile.depth), reliability=profile.reliability, durability=profile.durability
    )
    node.subscribe(kind, topic, callback, waiting)


def listen_for_pictures(node: StackNode, views: Sequence[str], on_sample: OnSample) -> None:
    """Hand on the images of the views, each as the stream of its name; those of the first, which count, last."""
    for view in reversed(views):
        listen(node, Image, topics.image_topic(view), qos.IMAGE, view, on_sample)


def listen_for_sights(node: StackNode, views: Sequence[str], needs: Container[str], on_sample: OnSample) -> None:
    """Hand on the images of the views, and of the streams `BESIDE` them those that are needed."""
    for name, (kind, topic, profile) in BESIDE.items():
        if name in needs:
            listen(node, kind, topic, profile, name, on_sample)
    listen_for_pictures(node, views, on_sample)


def sight_in(moment: SyncedFrame) -> ScorerInput:
    """Return what a scorer may look at.

    Args:
        moment: of views, the first first, and of streams `BESIDE`; each sample is a message and when it was published.
    """
    there = {name: message for name, (message, _) in moment.samples.items()}
    return sight_of(
        moment.stamp_ns,
        {view: image_pixels(image) for view, image in there.items() if view not in BESIDE},
        joints=there.get("joints"),
        tool_pose=there["tool_pose"].pose if "tool_pose" in there else None,
        oracle=there["oracle"].score if "oracle" in there else None,
        of=there["oracle"].phase if "oracle" in there else 0,
    )


class ObservationFeed:
    """Gives the full observations of the running episode, in order, each once."""

    def __init__(
        self,
        node: StackNode,
        views: Sequence[str],
        tolerance_s: float,
        on_observation: Callable[[Observation], None],
        on_repeat: Callable[[], None] = lambda: None,
    ) -> None:
        """Subscribe to the streams of a robot.

        Args:
            node: that listens.
            views: of the robot; without any the joint states count the frames.
            tolerance_s: between the streams, s.
            on_observation: called with each new observation.
            on_repeat: called when the newest frame came again.
        """
        self._node, self._views = node, tuple(views)
        streams = (*views, "joints", "tool_pose")
        self._reference, others = streams[0], streams[1:]
        self._on_observation = on_observation
        self._on_repeat = on_repeat
        self._streams = Synchronizer(self._reference, others, round(tolerance_s * 1e9))
        self._newest = -1
        listen(node, JointState, topics.JOINT_STATES, qos.STATE, "joints", self._on_sample)
        listen(node, PoseStamped, topics.TOOL_POSE, qos.STATE, "tool_pose", self._on_sample)
        listen_for_pictures(node, views, self._on_sample)

    def begin(self, episode: Episode) -> None:
        """Start an episode: frames from before it are not wanted."""
        self._streams.reset(after_ns=episode.start_ns - 1)
        self._newest = -1

    def _on_sample(self, stream: str, stamp_ns: int, message: Any, published_ns: int) -> None:
        node, episode = self._node, self._node.episode
        if episode is None or not episode.running:
            return
        shown_before = stream == self._reference and episode.frame_of(stamp_ns) == self._newest
        for moment in self._streams.put(stream, stamp_ns, message):
            observation = observation_of(
                frame=episode.frame_of(moment.stamp_ns),
                stamp_ns=moment.stamp_ns,
                views={view: image_pixels(moment[view]) for view in self._views},
                joints=moment["joints"],
                tool_pose=moment["tool_pose"].pose,
            )
            if self._newest >= 0 and observation.frame > self._newest + 1:
                node.statistics.drop("observation", observation.frame - self._newest - 1)
            self._newest = observation.frame
            node.statistics.add("camera_to_observation", seconds_since(published_ns))
            self._on_observation(observation)
        if shown_before:
            self._on_repeat()
