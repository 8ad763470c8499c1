import itertools
import json
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from episode_bag import LABELS, Script, messages
from geometry_msgs.msg import WrenchStamped
from node_process import Peer, running
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Float64, String

from kc_vla.bags.reader import BagReader
from kc_vla.core import topics
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.nodes.recorder import RecorderParameters
from kc_vla.ros import qos
from kc_vla.ros.message_types import type_name
from kc_vla.ros.recording import recorded_topics
from kc_vla_msgs.msg import EpisodeResult, EpisodeStatus, KeyframeIndex

MODULE = "kc_vla.nodes.recorder"
FAST = {"diagnostics_period": 0.1}


RECORDED = recorded_topics(DEFAULT_VIEWS)


class Stack(Peer):
    """Plays an episode to the recorder, as the other nodes would."""

    def __enter__(self) -> "Stack":
        super().__enter__()
        self._publishers = {
            self.node.resolve_topic_name(topic): self.node.create_publisher(kind, topic, profile)
            for topic, kind, profile in RECORDED
        }
        self._statuses = self.hear(String, topics.RECORDER_STATUS, qos.STATUS)
        self.diagnostics = self.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
        return self

    def offer(self, topic: str, kind: type, profile: Any) -> None:
        """Also have this to say."""
        self._publishers[self.node.resolve_topic_name(topic)] = self.node.create_publisher(kind, topic, profile)

    def wait_for_recorder(self) -> None:
        self.until(lambda: all(p.get_subscription_count() for p in self._publishers.values()))

    def say(self, topic: str, message: Any) -> None:
        self._publishers[topic].publish(message)

    def told(self, state: str) -> list[dict[str, Any]]:
        found = [json.loads(status.data) for status in self._statuses]
        return [status for status in found if status["state"] == state]

    def announce(self, script: Script) -> None:
        """Begin the episode, and wait until pictures arrive: best effort loses what is sent before discovery ends."""
        self.say("/episode/status", next(messages(script))[1])
        self.until(lambda: self.told("recording"))
        for topic in ("/third_person/image_raw", "/wrist/image_raw"):
            before = recorded(self)

            def arrived(topic: str = topic, before: int = before) -> bool:
                self.say(topic, Image())
                return recorded(self) > before + 2

            self.until(arrived)

    def play(self, script: Script, until_frame: int | None = None) -> None:
        """Publish the episode, far faster than it was but as slowly as best effort needs."""
        self.announce(script)
        frame = -1
        for topic, message, _ in itertools.islice(messages(script), 1, None):
            if topic == "/third_person/image_raw":
                frame += 1
                time.sleep(0.01)
            if until_frame is not None and frame > until_frame:
                return
            self.say(topic, message)


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_an_episode_is_recorded_whole(tmp_path: Path, storage: str) -> None:
    parameters = {**FAST, "output_folder": tmp_path / "runs", "storage": storage}
    with running(MODULE, tmp_path / "log", **parameters), Stack() as stack:
        stack.wait_for_recorder()
        stack.say("/joint_states", JointState(name=["a"], position=[1.0]))
        stack.play(Script(size=64))
        (closed,) = stack.until(lambda: stack.told("closed"))
    assert [status["episode_id"] for status in stack.told("recording")] == ["counting-000003-1"]
    bag = tmp_path / "runs" / "counting-000003-1" / "bag"
    assert closed["bag"] == str(bag)
    assert closed["dropped"] == 0
    episode = RecordedEpisode(bag)
    assert episode.damages == ()
    assert episode.result is not None
    assert [keyframe.label for keyframe in episode.keyframes] == list(LABELS)
    assert len(episode.frames) == 61
    assert len(episode.commands) == 61
    assert len(episode.chunks) == 8
    assert episode.info is not None
    assert episode.info.seed == 3
    with AnyReader([bag]) as reader:
        decoded = [reader.deserialize(data, c.msgtype) for c, _, data in reader.messages()]
    assert len(decoded) == closed["messages"]


@pytest.mark.nightly
def test_whatever_is_remapped_a_bag_has_our_names(tmp_path: Path) -> None:
    name, parameters = "/kc_vla/joint_states", {**FAST, "output_folder": tmp_path / "runs"}
    remapped = (sys.executable, "-c", f"from kc_vla.ros.entry import run; run({MODULE!r})", "--ros-args")
    given = [word for key, value in parameters.items() for word in ("-p", f"{key}:={value}")]
    with Stack() as stack, subprocess.Popen([*remapped, *given, "-r", f"joint_states:={name}"]) as process:
        states = stack.node.create_publisher(JointState, name, qos.STATE)
        stack.until(states.get_subscription_count)
        stack.until(lambda: stack.node.count_subscribers("/third_person/image_raw"))
        stack.announce(Script(size=16))
        before = recorded(stack)

        def heard() -> bool:
            states.publish(JointState(name=["a"], position=[1.0]))
            return recorded(stack) > before + 2

        stack.until(heard)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    (bag,) = (tmp_path / "runs").rglob("bag")
    topics_there = {topic for topic, found in BagReader(bag).topics().items() if found.count}
    assert "/joint_states" in topics_there
    assert name not in topics_there


OTHERS = {"wrist/force": WrenchStamped, "/temperature": Float64}


def test_every_topic_of_the_table_and_those_of_others_are_in_the_bag_with_their_types(tmp_path: Path) -> None:
    table = [(topic, kind, profile) for topic, kind, profile in RECORDED if "episode/" not in topic]
    table += [(topic, kind, qos.EVENT) for topic, kind in OTHERS.items()]
    also = ", ".join(f"{topic} {type_name(kind)}" for topic, kind in OTHERS.items())
    parameters = {**FAST, "output_folder": tmp_path / "runs", "also": also}
    script = Script(size=16)
    with running(MODULE, tmp_path / "log", **parameters), Stack() as stack:
        for topic, kind, profile in table[-len(OTHERS) :]:
            stack.offer(topic, kind, profile)
        stack.wait_for_recorder()
        stack.announce(script)

        def heard() -> bool:
            """Whether the recorder has heard all: best effort loses what is sent before discovery ends."""
            for topic, kind, _ in table:
                stack.say(stack.node.resolve_topic_name(topic), kind())
            values = [value for told in stack.diagnostics for status in told.status for value in status.values]
            hears = {topic for value in values if value.key == "hears" for topic in value.value.split()}
            return hears >= {topic for topic, _, _ in table}

        stack.until(heard)
        for name, message, _ in messages(script):
            if name == "/episode/result":
                stack.say(name, message)
        stack.say("/episode/status", list(messages(script))[-1][1])
        (closed,) = stack.until(lambda: stack.told("closed"))
    with AnyReader([Path(closed["bag"])]) as reader:
        found = {connection.topic: connection.msgtype for connection in reader.connections if connection.msgcount}
    wanted = {"/" + topic.lstrip("/"): type_name(kind) for topic, kind, _ in table}
    assert wanted.items() <= found.items()


@pytest.mark.parametrize(
    ("also", "told"),
    [
        ("tick", "'tick' is no topic and its type, such as 'tick std_msgs/msg/Empty'"),
        ("a//b std_msgs/msg/Empty", "'a//b std_msgs/msg/Empty' is no topic and its type"),
        ("tick std_msgs/msg/Emtpy", "message type std_msgs/msg/Emtpy is not known here: build its package"),
        ("tick nobody/msg/Empty", "message type nobody/msg/Empty is not known here"),
        ("/joy sensor_msgs/msg/Joy", "/joy is recorded anyway"),
    ],
)
def test_topics_that_cannot_be_recorded_are_refused_in_a_line(also: str, told: str) -> None:
    check = next(item for item in fields(RecorderParameters) if item.name == "also").metadata["rule"].check
    with pytest.raises(ValueError, match=told):
        check(also)


def test_a_keyframe_event_that_comes_after_the_result_is_waited_for(tmp_path: Path) -> None:
    """The buffer tells how many there are; what a recorder missed while it stood still is sent again."""
    script = Script(size=64)
    late = [message for topic, message, _ in messages(script) if topic == "/keyframes/event"][-1]
    with running(MODULE, tmp_path / "log", **FAST, output_folder=tmp_path / "runs"), Stack() as stack:
        stack.wait_for_recorder()
        stack.announce(script)
        for topic, message, _ in itertools.islice(messages(script), 1, None):
            if topic == "/episode/result":
                events = late.sequence + 1
                stack.say("/keyframes/index", KeyframeIndex(episode_id=late.episode_id, events=events))
            if topic != "/keyframes/event" or message.sequence != late.sequence:
                stack.say(topic, message)
        time.sleep(1.0)  # a recorder that does not wait has closed by then
        assert not stack.told("closed")
        stack.say("/keyframes/event", late)
        stack.until(lambda: stack.told("closed"))
    episode = RecordedEpisode(tmp_path / "runs" / "counting-000003-1" / "bag")
    assert [keyframe.label for keyframe in episode.keyframes] == list(LABELS)
    assert all(keyframe.committed for keyframe in episode.keyframes)


@pytest.mark.nightly
def test_a_second_recorder_leaves_the_bag_to_the_first(tmp_path: Path) -> None:
    script = Script(size=16)
    parameters = {**FAST, "output_folder": tmp_path / "runs"}
    with running(MODULE, tmp_path / "log", **parameters), Stack() as stack:
        stack.wait_for_recorder()
        stack.play(script, until_frame=30)
        time.sleep(1.5)  # a flush is due every second: there is a torn bag to be found
        with running(MODULE, tmp_path / "log2", **parameters):
            stack.until(lambda: any("is being recorded" in s.message for d in stack.diagnostics for s in d.status))
            for topic, message, _ in messages(script):
                if topic in ("/arm/command", "/episode/result"):
                    stack.say(topic, message)
        stack.say("/episode/status", list(messages(script))[-1][1])
        (closed,) = stack.until(lambda: stack.told("closed"))
    assert len(stack.told("recording")) == 1
    assert stack.told("failed") == []
    reader = BagReader(Path(closed["bag"]))
    assert sum(1 for _ in reader.messages()) == closed["messages"]
    assert reader.damages == []
    assert [path.name for path in reader.files] == ["bag_0.mcap"]


def test_a_killed_recorder_that_starts_again_goes_on_with_the_bag(tmp_path: Path) -> None:
    script = Script(size=16)
    with Stack() as stack:
        with running(MODULE, tmp_path / "log", **FAST, output_folder=tmp_path / "runs") as first:
            stack.wait_for_recorder()
            stack.play(script, until_frame=30)
            stack.until(lambda: stack.told("recording"))
            time.sleep(3.0)  # a flush is due every second
            first.send_signal(signal.SIGKILL)
            first.wait()
        with running(MODULE, tmp_path / "log", **FAST, output_folder=tmp_path / "runs"):
            stack.until(lambda: len(stack.told("recording")) == 2)
            stack.wait_for_recorder()
            for topic, message, _ in messages(script):
                later_command = topic == "/arm/command" and message.step > 30
                later_event = topic == "/keyframes/event" and message.phase > 2
                if later_command or later_event or isinstance(message, EpisodeResult):
                    stack.say(topic, message)
            stack.say("/episode/status", list(messages(script))[-1][1])
            (closed,) = stack.until(lambda: stack.told("closed"))
    episode = RecordedEpisode(Path(closed["bag"]))
    assert episode.damages == ()
    assert [keyframe.frame for keyframe in episode.keyframes] == [0, 12, 20, 32, 40]
    assert sorted({command.step for command in episode.commands}) == list(range(61))
    assert episode.result is not None


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_recorder_that_is_stopped_closes_its_bag(tmp_path: Path, how: signal.Signals) -> None:
    with running(MODULE, tmp_path / "log", **FAST, output_folder=tmp_path / "runs") as process, Stack() as stack:
        stack.wait_for_recorder()
        stack.play(Script(size=16), until_frame=20)
        (opened,) = stack.until(lambda: stack.told("recording"))
        process.send_signal(how)
        assert process.wait(60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()
    assert (Path(opened["bag"]) / "metadata.yaml").exists()
    assert RecordedEpisode(Path(opened["bag"])).damages == ()


@pytest.mark.nightly
def test_a_result_told_while_all_are_interrupted_is_recorded(tmp_path: Path) -> None:
    script = Script(size=16)
    with running(MODULE, tmp_path / "log", **FAST, output_folder=tmp_path / "runs") as process, Stack() as stack:
        stack.wait_for_recorder()
        stack.play(script, until_frame=20)
        (opened,) = stack.until(lambda: stack.told("recording"))
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)  # longer than a node that has nothing to wait for
        stack.say("/episode/result", next(m for _, m, _ in messages(script) if isinstance(m, EpisodeResult)))
        stack.say("/episode/status", finished(script))
        assert process.wait(60) == 0
    episode = RecordedEpisode(Path(opened["bag"]))
    assert episode.damages == ()
    assert episode.result is not None


def test_an_output_folder_that_cannot_be_written_is_told_and_the_node_lives(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with running(MODULE, tmp_path / "log", **FAST, output_folder=tmp_path / "runs") as process, Stack() as stack:
        stack.wait_for_recorder()
        stack.say("/episode/status", next(messages(Script()))[1])
        (failed,) = stack.until(lambda: stack.told("failed"))
        assert "Not a directory" in failed["error"]
        stack.until(lambda: any(level == 2 for level in levels_of(stack)))
        assert process.poll() is None
    log = (tmp_path / "log").read_text()
    assert log.count("cannot write the bag") == 1
    assert "Traceback" not in log


def test_an_episode_without_result_is_closed_after_the_time_out(tmp_path: Path) -> None:
    parameters = {**FAST, "output_folder": tmp_path / "runs", "result_timeout": 0.5, "grace": 0.1}
    with running(MODULE, tmp_path / "log", **parameters), Stack() as stack:
        stack.wait_for_recorder()
        stack.play(Script(size=16, with_result=False))
        stack.say("/episode/status", finished(Script()))
        stack.until(lambda: stack.told("closed"))
    assert "has no result" in (tmp_path / "log").read_text()


def finished(script: Script) -> EpisodeStatus:
    return next(m for topic, m, _ in reversed(list(messages(script))) if topic == "/episode/status")


def recorder_diagnostics(stack: Stack) -> list[Any]:
    return [s for array in stack.diagnostics for s in array.status if s.name == "recorder"]


def levels_of(stack: Stack) -> list[int]:
    return [status.level[0] for status in recorder_diagnostics(stack)]


def recorded(stack: Stack) -> int:
    """Return how many messages the recorder says it has recorded."""
    last = recorder_diagnostics(stack)[-1:]
    return max((int(pair.value) for status in last for pair in status.values if pair.key == "messages"), default=0)
