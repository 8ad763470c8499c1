"""`ros2 bag`: what is said is recorded, shown and said again."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from nightly import at_night
from running import Running

TALKER = """
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Int32, String

rclpy.init()
node = rclpy.create_node('talker')
kept = node.create_publisher(String, 'kept', QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
kept.publish(String(data='said before you came'))
ticks = node.create_publisher(Int32, 'ticks', QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
state = Int32()
def tick():
    state.data += 1
    ticks.publish(state)
timer = node.create_timer(0.02, tick)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
finally:
    rclpy.try_shutdown()
"""


@pytest.mark.parametrize("storage", ["mcap", *at_night("sqlite3")])
def test_record_info_and_play(
    ros2: Callable[..., Running], package: Callable[..., Path], tmp_path: Path, storage: str
) -> None:
    package(talker=TALKER)
    bag = tmp_path / "it's a bag"
    talker = ros2("run", "demo", "talker")
    recorder = ros2("bag", "record", "--all", "-o", bag, "-s", storage)
    recorder.match("Subscribed to topic '/ticks'")
    recorder.match("Subscribed to topic '/kept'")
    assert ros2("topic", "echo", "--once", "/ticks").wait() == 0  # meanwhile some are recorded
    recorder.send(signal.SIGINT)
    recorder.match(r"Recorded \d+ messages in ")
    assert recorder.wait() == 0
    talker.send(signal.SIGINT)
    talker.wait()

    info = ros2("bag", "info", bag)
    assert info.wait() == 0
    assert f"Storage id:        {storage}" in info.output
    assert "Topic: /kept | Type: std_msgs/msg/String | Count: 1 | Serialization Format: cdr" in info.output
    info.match(r"Topic: /ticks \| Type: std_msgs/msg/Int32 \| Count: [1-9]")

    player = ros2("bag", "play", bag, "--loop", "--rate", "0.5", "--topics", "kept", "--clock")
    heard = ros2("topic", "echo", "--once", "/kept")
    assert heard.wait() == 0
    assert heard.output == "data: said before you came\n---"
    clock = ros2("topic", "echo", "--once", "/clock")
    assert clock.wait() == 0
    player.send(signal.SIGINT)
    player.wait()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["record"], "nothing to record: name topics, or give --all"),
        (["record", "-e", "("], "'(' is no regular expression"),
        (["record", "/a", "-o", "."], ". exists already: choose another output"),
        (["info", "nowhere"], "no bag at nowhere"),
        (["play", "nowhere"], "no bag at nowhere"),
    ],
    ids=" ".join,
)
def test_mistakes_are_one_line(ros2: Callable[..., Running], words: list[str], message: str, tmp_path: Path) -> None:
    running = ros2("bag", *words)
    assert running.wait() != 0
    assert message in running.output
    assert "Traceback" not in running.output
