"""Publishes what a simulator would, at an exact rate and without rendering, until it is interrupted.

A short episode warms everything up; then episode follows episode. Pictures are soft blots under a camera's noise, as
hard to pack as those of a camera, made once; they are brighter between the keyframes, as under the lamp of the counting
task, so that rules find what the oracle tells.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image, JointState

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.convert import image_message, time_message
from kc_vla_msgs.msg import EpisodeResult, EpisodeStatus, KeyframeScore

KEYFRAMES = (15, 30, 45, 60)
"""Frames at which the light changes."""
WARM_UP_FRAMES = 40
_GAP_S = 1.0
_JOINTS = [f"panda_joint{i}" for i in range(1, 8)] + ["panda_finger_joint1", "panda_finger_joint2"]


class Stream(Node):
    """A robot with two cameras that does nothing."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__("stream")
        self._period_ns = round(1e9 / options.rate)
        self._control_period_s = options.control_period or 1.0 / options.rate
        self._statuses = self.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._results = self.create_publisher(EpisodeResult, topics.EPISODE_RESULT, qos.STATUS)
        self._oracle = self.create_publisher(KeyframeScore, topics.ORACLE_SCORE, qos.EVENT)
        self._tool = self.create_publisher(PoseStamped, topics.TOOL_POSE, qos.STATE)
        self._joints = self.create_publisher(JointState, topics.JOINT_STATES, qos.STATE)
        self._third_person = self.create_publisher(Image, topics.image_topic("third_person"), qos.IMAGE)
        self._wrist = self.create_publisher(Image, topics.image_topic("wrist"), qos.IMAGE)
        self._images = _pictures(options.width, options.height) if options.width else None
        self.sent: list[dict[str, Any]] = []

    def wait_for_readers(self, count: int) -> None:
        """Wait until `count` others read the main stream."""
        while (self._third_person if self._images else self._joints).get_subscription_count() < count:
            time.sleep(0.05)

    def play(self, episode_id: str, frames: int) -> None:
        """Publish one episode, each frame at its own moment."""
        time.sleep(_GAP_S)
        start_ns = time.time_ns() + 50_000_000
        status = EpisodeStatus(
            episode_id=episode_id,
            task="counting",
            instruction="Wait for the signal light to flash twice, then push the cube to the target.",
            start_time=time_message(start_ns),
            frame_period=self._control_period_s,
            state=EpisodeStatus.RUNNING,
        )
        self._statuses.publish(status)
        try:
            for frame in range(frames):
                stamp_ns = start_ns + frame * self._period_ns
                time.sleep(max(0.0, (stamp_ns - time.time_ns()) / 1e9))
                self._show(episode_id, frame, stamp_ns)
        finally:  # also where it is interrupted: the nodes tell their last diagnostics at the end of an episode
            self._results.publish(EpisodeResult(episode_id=episode_id, task="counting", success=True, reason="success"))
            status.state = EpisodeStatus.FINISHED
            self._statuses.publish(status)

    def _show(self, episode_id: str, frame: int, stamp_ns: int) -> None:
        stamp = time_message(stamp_ns)
        edge = frame in KEYFRAMES
        score = KeyframeScore(episode_id=episode_id, frame_index=frame, score=float(edge), threshold=0.5)
        score.header.stamp = stamp
        self._oracle.publish(score)
        tool = PoseStamped()
        tool.header.stamp = stamp
        self._tool.publish(tool)
        joints = JointState(name=_JOINTS, position=[0.0] * len(_JOINTS), velocity=[0.0] * len(_JOINTS))
        joints.header.stamp = stamp
        self._joints.publish(joints)
        if self._images is None:
            return
        lit = sum(frame >= k for k in KEYFRAMES) % 2
        image, wrist = self._images[lit]
        image.header.stamp = wrist.header.stamp = stamp
        self.sent.append({"episode": episode_id, "frame": frame, "stamp": stamp_ns, "at": time.time_ns()})
        self._third_person.publish(image)
        self._wrist.publish(wrist)


def _pictures(width: int, height: int) -> list[tuple[Image, Image]]:
    """Return third-person and wrist image, dark and bright."""
    chance = np.random.default_rng(0)
    pairs = []
    for brightness in (80, 120):
        blots = chance.integers(brightness - 40, brightness + 40, (2, max(1, height // 8), max(1, width // 8), 3))
        soft = [cv2.resize(each.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR) for each in blots]
        pixels = np.clip(soft + chance.normal(0.0, 3.0, (2, height, width, 3)), 0, 255).astype(np.uint8)
        stamp = time_message(0)
        pairs.append(
            (image_message(pixels[0], stamp, "third_person_camera"), image_message(pixels[1], stamp, "wrist_camera"))
        )
    return pairs


def main() -> None:
    """Publish until interrupted, then write down what was sent when."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="JSON: one entry for each frame")
    parser.add_argument("--begun", type=Path, required=True, help="file that is made when all is warmed up")
    parser.add_argument("--rate", type=float, required=True, help="frames per s")
    parser.add_argument("--width", type=int, required=True, help="pixels, both cameras; 0: no pictures")
    parser.add_argument("--height", type=int, required=True, help="pixels, both cameras")
    parser.add_argument("--frames", type=int, required=True, help="of an episode")
    parser.add_argument("--readers", type=int, required=True, help="how many must listen before it begins")
    parser.add_argument("--control_period", type=float, help="s of a control step, where it is not that of a frame")
    options = parser.parse_args()
    # An interrupt must not end the middleware: the end of the episode is told after it.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stream = Stream(options)
    try:
        stream.wait_for_readers(options.readers)
        stream.play("warm-up", WARM_UP_FRAMES)
        options.begun.touch()
        for number in itertools.count():
            stream.play(f"episode-{number:04d}", options.frames)
    except KeyboardInterrupt:
        options.output.write_text(json.dumps(stream.sent))
        time.sleep(0.2)  # the last messages leave
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
