"""`ros2 launch kc_vla replay.launch.py bag:=...`: the live graph finds the keyframes again, or says what it does not.

The bags are those of runs that many tests share; their keyframes came from the simulator's scores, which they hold.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import pytest
from finished_run import FinishedRun, committed_frames
from rclpy.serialization import deserialize_message, serialize_message
from stack import REPLAY, Stack

from kc_vla.bags.reader import BagReader
from kc_vla.bags.topics import TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla_msgs.msg import KeyframeEvent


def replay(output: Path, **arguments: object) -> tuple[int, str]:
    """Exit code of a replay and what it said."""
    with Stack(output, arguments, launch_file=REPLAY, environment={"ROS_HOME": str(output / "ros_home")}) as stack:
        return stack.finish(), stack.text


def report(output: Path) -> dict[str, Any]:
    (path,) = output.glob("*-replay/replay.json")
    return json.loads(path.read_text())  # type: ignore[no-any-return]


def copy_changed(bag: Path, copy: Path, change: Callable[[KeyframeEvent], KeyframeEvent | None]) -> Path:
    """Copy a bag with other keyframe events; without those for which `change` gives None."""
    reader = BagReader(bag)
    topics = {name: TopicInfo(topic.type, topic.qos) for name, topic in reader.topics().items()}
    messages = list(reader.messages())
    writer = EpisodeBagWriter(copy, topics, reader.episode)
    for message in messages:
        data = message.data
        if message.topic == "/keyframes/event":
            event = change(deserialize_message(data, KeyframeEvent))
            if event is None:
                continue
            data = serialize_message(event)
        assert writer.write(message.topic, data, message.publish_time_ns, message.ref.log_time_ns)
    writer.close()
    return copy


def test_the_live_graph_finds_the_keyframes_again(good_run: FinishedRun, tmp_path: Path) -> None:
    """At half the rate, or slower where the report says that a busy machine did not keep up with that."""
    for rate in (0.5, 0.2):
        output = tmp_path / str(rate)
        code, text = replay(output, bag=good_run.bag, selector="oracle", rate=rate)
        assert code == 0, text
        assert "Traceback" not in text
        found = report(output)
        if not found["frames"]["dropped"]:
            break
    assert found["frames"]["dropped"] == []
    recorded = committed_frames(good_run.episode)
    assert [(pair["bag"], pair["live"]) for pair in found["keyframes"]] == [(frame, frame) for frame in recorded]
    assert found["same_keyframes"] is True
    assert found["scores"]["frames"] == len(good_run.episode.frames)
    assert found["scores"]["largest"] == pytest.approx(0.0, abs=1e-6)
    assert found["policy"] == "replay"
    assert found["chunks"]["asked"] == found["chunks"]["answered"] == len(good_run.episode.chunks) > 0
    assert found["chunks"]["other_keyframes"] == []
    measured = {row["node"] for row in found["latency_ms"] if row["live"] is not None}
    assert measured == {"keyframe_selector", "keyframe_buffer", "policy_server"}
    assert f"Keyframes: {len(recorded)} of {len(recorded)} as in the bag." in text
    (folder,) = output.glob("*-replay")
    assert "Keyframes: " in (folder / "replay.md").read_text()
    assert cv2.imread(str(folder / "replay.png")) is not None


@pytest.mark.nightly  # how they are told apart: ros2_ws/src/kc_vla/test/test_replay_comparison.py
def test_other_keyframes_in_the_bag_are_told_apart(toy_run: FinishedRun, tmp_path: Path) -> None:
    def change(event: KeyframeEvent) -> KeyframeEvent | None:
        if event.phase == 2:
            event.frame_index -= 7
        return None if event.phase == 4 else event

    bag = copy_changed(toy_run.bag, tmp_path / "changed", change)
    code, text = replay(tmp_path, bag=bag, selector="oracle", policy="none", rate=0.5)
    assert code == 0, text
    found = report(tmp_path)
    verdicts = [pair["verdict"] for pair in found["keyframes"]]
    assert found["same_keyframes"] is False
    assert verdicts[4] == "extra"
    assert found["keyframes"][2]["difference"] == pytest.approx(7, abs=2)  # a frame may be lost on a busy machine
    assert "frames later" in verdicts[2]
    assert "Keyframes: 4 of 4" not in text
    assert "frames later" in text
    assert "Chunks were not asked for." in text
    assert found["chunks"] is None


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "needs the argument 'bag'"),
        ({"bag": "/nowhere"}, "bag:=/nowhere: there is no such path"),
    ],
)
def test_no_bag_no_replay(tmp_path: Path, arguments: dict[str, object], line: str) -> None:
    code, text = replay(tmp_path / "runs", **arguments)
    assert code == 1
    assert text.count(line) == 1
    assert "process started" not in text
    assert "Traceback" not in text
    assert not list((tmp_path / "runs").glob("*-replay"))
