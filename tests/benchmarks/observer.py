"""Notes when messages arrive at a plain rclpy process, until it is interrupted; writes them down as JSON by topic.

`images` takes in the pictures and nothing else: the bare transport that the stack is compared with.
`results` takes in what the nodes make of them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image

from kc_vla.arm.scheduling import take_priority
from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.convert import nanoseconds
from kc_vla_msgs.msg import ActionChunk, ArmCommand, KeyframeEvent, KeyframeIndex, KeyframeScore

Fields = Callable[[Any], dict[str, Any]]


def _image(message: Image) -> dict[str, Any]:
    return {"stamp": nanoseconds(message.header.stamp)}


def _score(message: KeyframeScore) -> dict[str, Any]:
    return {"episode": message.episode_id, "frame": message.frame_index}


def _event(message: KeyframeEvent) -> dict[str, Any]:
    return {"episode": message.episode_id, "frame": message.decided_at_frame}


def _index(message: KeyframeIndex) -> dict[str, Any]:
    return {"episode": message.episode_id, "frame": message.newest_frame}


def _chunk(message: ActionChunk) -> dict[str, Any]:
    return {"episode": message.episode_id, "sequence": message.sequence, "frame": message.observation_frame}


def _command(message: ArmCommand) -> dict[str, Any]:
    moves = message.mode != ArmCommand.HOLD
    row = {"sequence": message.chunk_sequence, "index": message.chunk_index} if moves else {}
    made = nanoseconds(message.header.stamp)
    return {"episode": message.episode_id, "step": message.step, "made": made, **row}


def _diagnostics(message: DiagnosticArray) -> dict[str, Any]:
    return {status.name: {item.key: item.value for item in status.values} for status in message.status}


WATCHED: dict[str, tuple[tuple[type, str, QoSProfile, Fields], ...]] = {
    "images": (
        (Image, topics.image_topic("third_person"), qos.IMAGE, _image),
        (Image, topics.image_topic("wrist"), qos.IMAGE, _image),
    ),
    "results": (
        (KeyframeScore, topics.KEYFRAME_SCORE, qos.EVENT, _score),
        (KeyframeEvent, topics.KEYFRAME_EVENT, qos.EVENT_LOG, _event),
        (KeyframeIndex, topics.KEYFRAME_INDEX, qos.STATUS, _index),
        (ActionChunk, topics.POLICY_CHUNK, qos.EVENT, _chunk),
        (ArmCommand, topics.ARM_COMMAND, qos.EVENT, _command),
        (DiagnosticArray, topics.DIAGNOSTICS, qos.EVENT, _diagnostics),
    ),
}


def main() -> None:
    """Listen until interrupted, then write down what came when."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="JSON")
    parser.add_argument("--watch", choices=WATCHED, required=True, help="which topics")
    parser.add_argument("--priority", type=int, default=0, help="real-time priority; 0: an ordinary process")
    options = parser.parse_args()
    rclpy.init()
    node = Node(f"observer_of_{options.watch}")
    seen: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def listen(kind: type, topic: str, profile: QoSProfile, fields: Fields) -> None:
        node.create_subscription(
            kind, topic, lambda message: seen[topic].append({"at": time.time_ns(), **fields(message)}), profile
        )

    for kind, topic, profile, fields in WATCHED[options.watch]:
        listen(kind, topic, profile, fields)
    if options.priority:
        take_priority(options.priority)  # also of the middleware's threads, which are there by now
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        options.output.write_text(json.dumps(seen))


if __name__ == "__main__":
    main()
