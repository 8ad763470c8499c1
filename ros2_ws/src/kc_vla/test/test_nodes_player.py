"""A recorded bag is played as it was recorded: topics, order, stamps; and not at all where that cannot be."""

from pathlib import Path

import foreign_bag
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from episode_bag import Script, write_episode
from mcap.writer import Writer
from nightly import at_night
from node_process import Peer, running
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_bags import picture, write_panda_bag
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from kc_vla.bags.reader import BagReader
from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.convert import image_pixels, nanoseconds
from kc_vla_msgs.msg import EpisodeStatus, KeyframeEvent

READ = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Fits whatever a topic was offered with."""
MODULE = "kc_vla.nodes.bag_player"


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_episode(tmp_path_factory.mktemp("played") / "bag", Script(size=8, steps=40))


def stamps(bag: Path, topic: str) -> list[int]:
    reader = BagReader(bag)
    return [nanoseconds(reader.decode(message).header.stamp) for message in reader.messages([topic])]


def test_what_was_recorded_comes_again_in_order(bag, tmp_path):
    with Peer() as peer:
        states = peer.hear(JointState, topics.JOINT_STATES, READ)
        events = peer.hear(KeyframeEvent, topics.KEYFRAME_EVENT, qos.EVENT)
        status = peer.hear(EpisodeStatus, topics.EPISODE_STATUS, READ)
        with running(MODULE, tmp_path / "log", bag=bag, rate=2.0, wait=5.0) as player:
            peer.until(lambda: player.poll() is not None)
    assert player.returncode == 0
    assert {message.episode_id for message in status} == {"counting-000003-1"}
    told = [nanoseconds(state.header.stamp) for state in states]
    assert told == [stamp for stamp in stamps(bag, "/joint_states") if stamp in told]  # best effort may lose some
    assert len(told) > 10
    reader = BagReader(bag)
    sequences = [reader.decode(message).sequence for message in reader.messages(["/keyframes/event"])]
    heard = [event.sequence for event in events]  # what is played before this reader was found is lost to it
    assert 3 < len(heard) <= len(sequences)
    assert heard == sequences[-len(heard) :]


def test_a_person_pauses_and_steps(bag, tmp_path):
    with Peer() as peer, running(MODULE, tmp_path / "log", bag=bag, paused=True, topics="joint_states"):
        states = peer.hear(JointState, topics.JOINT_STATES, READ)
        recorded = stamps(bag, "/joint_states")
        peer.until(lambda: peer.node.count_publishers(topics.JOINT_STATES))
        while not states:  # what is played before this reader was found is lost to it
            assert peer.call(Trigger, topics.PLAYER_STEP, Trigger.Request()).success
        steps = len(recorded[: recorded.index(nanoseconds(states[0].header.stamp))])
        assert steps < len(recorded) // 2
        assert peer.call(Trigger, topics.PLAYER_RESUME, Trigger.Request()).success
        peer.until(lambda: len(states) > 10)
        assert [nanoseconds(state.header.stamp) for state in states[:10]] == recorded[steps : steps + 10]


@pytest.mark.nightly
def test_compressed_pictures_are_unpacked_where_asked(tmp_path):
    bag = write_panda_bag(tmp_path, "e0")
    with Peer() as peer:
        pictures = peer.hear(Image, topics.image_topic("wrist"), READ)
        wanted = {"topics": "wrist/image_raw/compressed", "decompress": True, "wait": 5.0}
        with running(MODULE, tmp_path / "log", bag=bag, **wanted) as player:
            peer.until(lambda: player.poll() is not None)
    assert len(pictures) > 5
    assert np.abs(image_pixels(pictures[0]).astype(int) - picture(0, view="wrist")).mean() < 5.0
    assert {nanoseconds(image.header.stamp) for image in pictures} <= set(stamps(bag, "/wrist/image_raw/compressed"))


def test_a_player_that_waits_publishes_nothing_and_tells_who_would_hear_it(bag, tmp_path):
    """Also not the messages whose time is second 0: they would be lost to everybody who is still on the way."""
    with Peer() as peer, running(MODULE, tmp_path / "log", bag=bag, paused=True, diagnostics_period=0.1):
        states = peer.hear(JointState, topics.JOINT_STATES, READ)
        diagnostics = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, qos.EVENT)

        def told():
            return {pair.key: pair.value for message in diagnostics for pair in message.status[0].values}

        peer.until(lambda: told().get("readers/joint_states") == "1")
        seen = len(diagnostics)
        peer.until(lambda: len(diagnostics) > seen + 3)
        assert told()["published"] == "0"
        assert states == []


@pytest.mark.nightly
def test_the_clock_of_the_stamps_is_told_where_that_is_asked_for(bag, tmp_path):
    """The drawn episode was recorded in 2026, and its cameras saw it from second 1 on."""
    with Peer() as peer:
        clock = peer.hear(Clock, "/clock", qos.STATE)
        with running(MODULE, tmp_path / "log", bag=bag, time="stamped", clock=True, wait=3.0) as player:
            peer.until(lambda: player.poll() is not None)
    assert player.returncode == 0
    times = [nanoseconds(message.clock) for message in clock]
    assert times == sorted(times)
    assert times[0] >= 10**9
    assert times[-1] < 4 * 10**9


@pytest.mark.parametrize(
    ("storage", "mode"),
    [
        (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
        *at_night((StoragePlugin.MCAP, CompressionMode.STORAGE)),  # read: test_bags_foreign.py
    ],
    ids=str,
)
def test_a_bag_that_others_wrote_is_played(tmp_path, storage, mode):
    bag = foreign_bag.write(tmp_path / "bag", storage, mode)
    with Peer() as peer:
        words = peer.hear(String, "/words", qos.STATUS)
        with running(MODULE, tmp_path / "log", bag=bag, rate=0.5, wait=5.0) as player:
            peer.until(lambda: player.poll() is not None)
    assert player.returncode == 0
    assert [word.data for word in words] == [foreign_bag.WORDS]  # it is latched: also for a reader that comes late


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bag": "/nowhere"}, "no bag at /nowhere"),
        ({"topics": "joint_states,dreams"}, "has no /dreams: it has /arm/command, /diagnostics, /episode/result"),
        ({"start": "3600.0"}, "the bag ends before second 3600"),
    ],
)
def test_what_cannot_be_played_is_told_in_a_line(bag, tmp_path, arguments, words):
    with running(MODULE, tmp_path / "log", **{"bag": bag, **arguments}) as player:
        assert player.wait(60) == 2
    told = (tmp_path / "log").read_text()
    assert words in told
    assert "Traceback" not in told


def test_a_name_that_no_topic_can_have_is_shown_and_can_be_left_out(tmp_path):
    path = tmp_path / "odd.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data")
        for name in ("/good", "/a\n\x1b[31m b"):
            writer.add_message(writer.register_channel(name, "cdr", schema), 1, b"\0\1\0\0\1", 1)
        writer.finish()
    with running(MODULE, tmp_path / "log", bag=path) as player:
        assert player.wait(60) == 2
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert f"{path}: no topic can be called '/a \\x1b[31m b': choose others with 'topics'" in line
    with running(MODULE, tmp_path / "log", bag=path, topics="good", wait=0.0) as player:
        assert player.wait(60) == 0
