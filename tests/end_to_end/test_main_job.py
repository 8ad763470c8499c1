"""`ros2 launch kc_vla maniskill.launch.py task:=counting seed:=3`: what it says, and what it leaves."""

import math

import av
import cv2
import numpy as np
import pytest
from finished_run import FinishedRun, assert_succeeded
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader

from kc_vla.episodes.episode_data import CommandMode

TOPICS = {
    "/third_person/image_raw",
    "/wrist/image_raw",
    "/third_person/camera_info",
    "/wrist/camera_info",
    "/joint_states",
    "/keyframes/score",
    "/keyframes/event",
    "/policy/chunk",
    "/arm/command",
    "/episode/status",
    "/episode/result",
}


def test_it_succeeds_with_the_keyframes_of_the_oracle(good_run: FinishedRun) -> None:
    assert good_run.exit_code == 0
    assert_succeeded(good_run.episode)
    assert len(good_run.episode.keyframes) == 5


def test_it_says_each_event_in_one_line_and_nothing_alarming(good_run: FinishedRun) -> None:
    for phase, keyframe in enumerate(good_run.episode.keyframes[1:], start=1):
        for what in ("candidate", "confirmed"):
            lines = [x for x in good_run.text.splitlines() if f"keyframe {phase} '{keyframe.label}' {what}" in x]
            assert len(lines) == 1, lines
    assert "succeeded (3 of 3 stages: 100%)" in good_run.text
    assert "1 of 1 episodes succeeded" in good_run.text
    assert "Traceback" not in good_run.text
    assert "rror" not in good_run.text


def test_every_step_has_its_frame_and_its_command(good_run: FinishedRun) -> None:
    episode = good_run.episode
    assert episode.result is not None
    steps = episode.result.steps
    assert [frame.index for frame in episode.frames] == list(range(steps + 1))
    assert all("wrist" in frame.pictures for frame in episode.frames)
    assert sorted(good_run.actions) == list(range(steps))
    assert [c for c in episode.commands if c.mode == CommandMode.HOLD and c.step < steps] == []


def test_other_tools_open_the_bag(good_run: FinishedRun) -> None:
    with AnyReader([good_run.bag]) as reader:
        assert {connection.topic for connection in reader.connections} >= TOPICS
        assert sum(1 for _ in reader.messages()) == reader.message_count
    (file,) = good_run.bag.glob("*.mcap")
    with file.open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_count == sum(good_run.episode.message_counts.values())


def test_the_video_shows_every_frame_and_how_it_ended_and_marks_the_keyframes(good_run: FinishedRun) -> None:
    with av.open(str(good_run.folder / "episode.mp4")) as video:
        assert video.streams.video[0].average_rate == 20
        # The brightness alone, without a copy into another format: a tenth of the work.
        pictures = [np.array(frame.planes[0]).astype(np.int16) for frame in video.decode(video=0)]
    assert len(pictures) == len(good_run.episode.frames) + 40  # 2 s of the last one
    assert all(picture.std() > 5 for picture in pictures)
    for keyframe in good_run.episode.keyframes[1:]:
        assert np.abs(pictures[keyframe.frame] - pictures[keyframe.frame - 1]).max() > 50


def test_the_contact_sheet_is_a_picture_of_some_size(good_run: FinishedRun) -> None:
    sheet = cv2.imread(str(good_run.folder / "keyframes.png"))
    assert sheet is not None
    assert sheet.shape[1] >= len(good_run.episode.keyframes) * 64
    assert sheet.std() > 5


def test_the_summary_says_what_a_benchmark_wants_to_know(good_run: FinishedRun) -> None:
    summary, result = good_run.summary, good_run.episode.result
    assert result is not None
    assert summary["success"] is True
    assert summary["completion_rate"] == 1.0
    assert (summary["task"], summary["variant"], summary["seed"]) == ("counting", "paper", 3)
    assert (summary["settings"]["mode"], summary["settings"]["looks"]) == ("lockstep", "standard")
    assert summary["steps"] == result.steps
    assert summary["keyframes"]["equal"] is True
    assert summary["keyframes"]["oracle"] == list(result.oracle_frames)
    for node, stage in (
        ("keyframe_selector", "camera_to_event"),
        ("arm_controller", "request_to_command"),
        ("policy_server", "predict"),
        ("maniskill_bridge", "simulator_step"),
    ):
        figures = summary["latency_ms"][node][stage]
        assert figures["count"] > 0
        assert 0 < figures["p50"] <= figures["p99"] < math.inf
    assert isinstance(summary["dropped"], dict)


@pytest.mark.parametrize("name", ["episode.mp4", "keyframes.png", "summary.json"])
def test_it_says_where_each_file_is(good_run: FinishedRun, name: str) -> None:
    assert str(good_run.folder / name) in good_run.text
