"""The keyframe selector by itself, with a source that takes its time."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from gated import Gate
from node_process import Peer, running
from sensor_msgs.msg import Image

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla.ros.convert import image_message, time_message
from kc_vla.ros.health import CANNOT_SELECT
from kc_vla_msgs.msg import EpisodeStatus, KeyframeEvent, KeyframeIndex, KeyframeScore

MODULE = "kc_vla.nodes.keyframe_selector"
PERIOD_NS, EPISODE_NS = 50_000_000, 100 * 10**9
WAITING = 10
"""Frames that wait at most."""
BRIGHT = 250


class Camera(Peer):
    """A camera, and who hears the selector."""

    def __enter__(self) -> "Camera":
        super().__enter__()
        self._start_ns = 0
        self._status = self.node.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._index = self.node.create_publisher(KeyframeIndex, topics.KEYFRAME_INDEX, qos.STATUS)
        self._images = self.node.create_publisher(Image, topics.image_topic("third_person"), qos.IMAGE)
        self._diagnostics = self.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
        self.scores = self.hear(KeyframeScore, topics.KEYFRAME_SCORE, qos.EVENT)
        self.events = self.hear(KeyframeEvent, topics.KEYFRAME_EVENT, qos.EVENT_LOG)
        return self

    def find(self) -> None:
        """Wait for the node."""
        publishers = (self._status, self._index, self._images)
        self.until(lambda: all(publisher.get_subscription_count() for publisher in publishers))

    def begin(self, episode_id: str) -> None:
        """Begin an episode."""
        status = EpisodeStatus(episode_id=episode_id, task="counting", state=EpisodeStatus.RUNNING)
        self._start_ns += EPISODE_NS  # what is still under way is of no other episode
        status.start_time, status.frame_period = time_message(self._start_ns), PERIOD_NS * 1e-9
        self._status.publish(status)

    def tell(self, **index: Any) -> None:
        """Publish what a buffer holds."""
        self._index.publish(KeyframeIndex(**index))

    def show(self, frame: int, shade: int = 0) -> None:
        """Publish a picture."""
        stamp = time_message(self._start_ns + frame * PERIOD_NS)
        self._images.publish(image_message(np.full((8, 8, 3), shade, np.uint8), stamp, "camera"))

    def scored(self) -> list[tuple[str, int]]:
        """Episode and frame of each score."""
        return [(score.episode_id, score.frame_index) for score in self.scores]

    @property
    def health(self) -> DiagnosticStatus | None:
        """The last word of the node on itself."""
        found = [status for array in self._diagnostics for status in array.status if status.name == "keyframe_selector"]
        return found[-1] if found else None

    def value(self, key: str) -> str:
        """A value of its diagnostics."""
        return {} if self.health is None else {item.key: item.value for item in self.health.values}.get(key, "")

    def hears(self, text: str) -> None:
        """Wait until the node says that it is so."""
        self.until(lambda: self.health is not None and text in self.health.message)


@contextmanager
def looking(tmp_path: Path, **parameters: object) -> Iterator[tuple[Camera, Gate, Any]]:
    """The selector `gated`, in an episode "one" of which it looks at frame 0."""
    gate = Gate(tmp_path / "gate")
    given = {"selector": "gated", "models_folder": gate.folder, "diagnostics_period": 0.1, **parameters}
    with Camera() as camera, running(MODULE, tmp_path / "log", plug="gated_rows", **given) as process:
        camera.find()
        camera.begin("one")
        camera.until(lambda: camera.show(0) or "look" in gate.notes())
        yield camera, gate, process


def test_while_the_source_looks_the_node_goes_on_says_so_and_recovers(tmp_path: Path) -> None:
    told = "selector 'gated' has not answered for 0.3 s"
    with looking(tmp_path, wait_timeout=0.3) as (camera, gate, _):
        camera.hears(told)
        assert camera.value("runs on") == "a gate"
        assert camera.scores == []
        gate.set("open")
        camera.until(lambda: ("one", 0) in camera.scored())
        camera.hears("what is seen is a gate")
        camera.until(lambda: camera.events)
    assert [(event.frame_index, event.label) for event in camera.events] == [(0, "start")]
    assert (tmp_path / "log").read_text().count(told) == 1


def test_frames_are_scored_in_order_and_one_that_is_shown_again_once_more(tmp_path: Path) -> None:
    with looking(tmp_path) as (camera, gate, _):
        gate.set("open")
        for frame in range(1, 8):
            shade = BRIGHT if frame == 2 else 0
            camera.until(
                lambda frame=frame, shade=shade: camera.show(frame, shade) or ("one", frame) in camera.scored()
            )
        camera.until(lambda: len(camera.events) >= 3)
        told = len(camera.scores)
        camera.until(lambda: camera.show(7) or len(camera.scores) > told + 2)
    frames = [frame for _, frame in camera.scored()]
    assert sorted(set(frames)) == list(range(8))
    assert frames == sorted(frames)
    committed = [(e.frame_index, e.label) for e in camera.events if e.type == KeyframeEvent.COMMITTED]
    assert committed == [(0, "start"), (2, "first")]
    assert [event.sequence for event in camera.events] == [0, 1, 2]


def test_frames_that_are_too_many_are_lost_the_oldest_first_and_counted(tmp_path: Path) -> None:
    last = 3 * WAITING
    with looking(tmp_path) as (camera, gate, _):
        for frame in range(1, last + 1):
            camera.show(frame)
            time.sleep(0.02)  # best effort: as slowly as it needs
        camera.show(last)
        gate.set("open")
        camera.until(lambda: camera.show(last) or ("one", last) in camera.scored())
        frames = sorted({frame for _, frame in camera.scored()})
        assert len(frames) <= 1 + WAITING
        assert frames[0] == 0
        assert frames[-1] == last
        camera.until(lambda: camera.value("dropped/third_person/image_raw") == str(last + 1 - len(frames)))


def test_what_was_seen_in_an_episode_that_is_over_is_never_told(tmp_path: Path) -> None:
    with looking(tmp_path) as (camera, gate, _):
        camera.show(1)
        camera.begin("two")
        camera.until(lambda: camera.value("episode") == "two")
        camera.show(0)
        gate.set("open")
        camera.until(lambda: camera.show(0) or ("two", 0) in camera.scored())
        camera.until(lambda: camera.events)
    assert {episode for episode, _ in camera.scored()} == {"two"}
    assert {event.episode_id for event in camera.events} == {"two"}
    assert [note for note in gate.notes() if note != "look"] == ["begin one", "begin two"]


def test_a_source_that_does_not_know_the_task_is_told_and_knows_the_next(tmp_path: Path) -> None:
    with looking(tmp_path) as (camera, gate, _):
        gate.set("open")
        gate.set("refuse")
        camera.begin("two")
        camera.hears("no keyframes in this episode: nobody knows this task")
        camera.until(lambda: camera.value(CANNOT_SELECT) == "two")
        gate.clear("refuse")
        camera.begin("three")
        camera.until(lambda: camera.show(0) or ("three", 0) in camera.scored())
    assert "two" not in {episode for episode, _ in camera.scored()}


def test_a_selector_that_starts_in_the_middle_goes_on_from_the_buffer(tmp_path: Path) -> None:
    with looking(tmp_path) as (camera, gate, _):
        gate.set("open")
        camera.begin("two")
        camera.until(lambda: "begin two" in gate.notes())
        camera.show(20, BRIGHT)  # nobody has told yet what there was before
        held = {"frame_indices": [0, 9], "phases": [0, 1], "scores": [1.0, 0.9], "committed": [True, True]}
        camera.tell(episode_id="two", newest_frame=19, events=3, **held)
        camera.until(lambda: camera.show(20, BRIGHT) or ("two", 20) in camera.scored())
        camera.until(lambda: "two" in {event.episode_id for event in camera.events})
    assert "goes on at frame 20 with 2 keyframes from the buffer" in (tmp_path / "log").read_text()
    (event,) = [event for event in camera.events if event.episode_id == "two"]
    assert (event.frame_index, event.label, event.phase, event.sequence) == (20, "second", 2, 3)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_source_that_hangs_does_not_keep_the_node_from_ending(tmp_path: Path, how: signal.Signals) -> None:
    with looking(tmp_path) as (_, _, process):
        process.send_signal(how)
        assert process.wait(60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_fault_in_a_source_ends_the_node(tmp_path: Path) -> None:
    with looking(tmp_path) as (_, gate, process):
        gate.set("fault")
        gate.set("open")
        assert process.wait(60) not in (0, CANNOT_START)
    assert "ZeroDivisionError: in the source" in (tmp_path / "log").read_text()


def test_a_source_that_is_in_the_table_can_be_chosen_and_no_other(tmp_path: Path) -> None:
    with running(MODULE, tmp_path / "log", plug="gated_rows", selector="gate") as process:
        assert process.wait(60) == CANNOT_START
    assert "no keyframe selector 'gate': did you mean 'gated'?" in (tmp_path / "log").read_text()
