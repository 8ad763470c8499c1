from pathlib import Path

import pytest
from episode_bag import TOPICS
from rclpy.serialization import serialize_message

from kc_vla.bags.reader import BagReader
from kc_vla.bags.recorder import EpisodeRecorder, RecorderState, RecorderStatus
from kc_vla_msgs.msg import EpisodeStatus

STATUS = "/episode/status"
SECOND = 1_000_000_000


@pytest.fixture
def recorder(tmp_path: Path) -> EpisodeRecorder:
    return EpisodeRecorder(tmp_path, TOPICS, "0.1.0")


def begin(recorder: EpisodeRecorder, episode_id: str = "e-1", begun_ns: int = 7) -> RecorderStatus:
    return recorder.begin(episode_id, "counting", 3, "do it", begun_ns)


def say(recorder: EpisodeRecorder, word: str, at_ns: int) -> None:
    recorder.add(STATUS, serialize_message(EpisodeStatus(episode_id=word)), at_ns, at_ns)


def words(bag: str) -> list[str]:
    reader = BagReader(Path(bag))
    found = [reader.decode(message).episode_id for message in reader.messages()]
    assert reader.damages == []
    return found


def test_one_episode_is_one_bag(recorder: EpisodeRecorder, tmp_path: Path) -> None:
    opened = begin(recorder)
    assert opened.state == RecorderState.RECORDING
    assert opened.bag == str(tmp_path / "e-1" / "bag")
    say(recorder, "a", SECOND)
    assert recorder.recording == "e-1"
    (closed,) = recorder.close()
    assert (closed.state, closed.messages, closed.dropped, closed.error) == (RecorderState.CLOSED, 1, 0, "")
    assert words(closed.bag) == ["a"]
    assert recorder.recording == ""


def test_what_came_just_before_the_announcement_is_in_the_bag(recorder: EpisodeRecorder) -> None:
    say(recorder, "long ago", 0)
    say(recorder, "just before", 10 * SECOND)
    begin(recorder)
    say(recorder, "after", 11 * SECOND)
    (closed,) = recorder.close()
    assert words(closed.bag) == ["just before", "after"]


def test_what_an_episode_said_is_in_its_bag_however_late_its_announcement(recorder: EpisodeRecorder) -> None:
    """As of a recorder that comes back in the middle: it is told the events of before first, the announcement last."""
    say(recorder, "of another", 10 * SECOND)
    say(recorder, "event 1", 12 * SECOND)
    say(recorder, "event 2", 13 * SECOND)
    say(recorder, "now", 17 * SECOND)
    begin(recorder, begun_ns=11 * SECOND)
    (closed,) = recorder.close()
    assert words(closed.bag) == ["event 1", "event 2", "now"]


def test_a_word_that_still_holds_is_in_every_bag(tmp_path: Path) -> None:
    """Whether the arm is stopped was told long before, and is told again only when that changes."""
    recorder = EpisodeRecorder(tmp_path, TOPICS, "0.1.0", standing=[STATUS])
    say(recorder, "at first", 0)
    say(recorder, "stopped", SECOND)
    closed = []
    for number in (1, 2):
        recorder.add("/wrist/image_raw", bytes(4), 60 * number * SECOND, 60 * number * SECOND)
        begin(recorder, f"e-{number}", begun_ns=60 * number * SECOND)
        closed += recorder.close()
    for number, status in enumerate(closed, start=1):
        first = next(BagReader(Path(status.bag)).messages())
        assert (first.topic, first.ref.log_time_ns) == (STATUS, 60 * number * SECOND)
        assert status.messages == 2
    begin(recorder, "e-3", begun_ns=200 * SECOND)
    say(recorder, "released", 201 * SECOND)
    (last,) = recorder.close()
    assert words(last.bag) == ["stopped", "released"]


def test_one_that_was_heard_just_before_is_there_once(tmp_path: Path) -> None:
    recorder = EpisodeRecorder(tmp_path, TOPICS, "0.1.0", standing=[STATUS])
    say(recorder, "stopped", 9 * SECOND)
    begin(recorder, begun_ns=10 * SECOND)
    (closed,) = recorder.close()
    assert words(closed.bag) == ["stopped"]


def test_what_is_kept_between_episodes_is_bounded(recorder: EpisodeRecorder) -> None:
    picture = bytes(1024 * 1024)
    for at in range(100):
        recorder.add("/wrist/image_raw", picture, at, at)
    begin(recorder)
    (closed,) = recorder.close()
    assert closed.messages == 32


def test_one_message_larger_than_all_that_is_kept_ends_nothing(recorder: EpisodeRecorder) -> None:
    recorder.add("/wrist/image_raw", bytes(36 * 1024 * 1024), 0, 0)  # of a camera of 12 megapixels
    say(recorder, "later", 1)
    begin(recorder)
    (closed,) = recorder.close()
    assert words(closed.bag) == ["later"]


def test_the_next_episode_closes_the_one_before(recorder: EpisodeRecorder) -> None:
    begin(recorder, "e-1")
    say(recorder, "first", SECOND)
    begin(recorder, "e-2")
    say(recorder, "second", 2 * SECOND)
    closed = recorder.close() + recorder.poll()
    assert {status.episode_id: words(status.bag) for status in closed} == {"e-1": ["first"], "e-2": ["second"]}


def test_a_recorder_that_starts_again_within_an_episode_goes_on(recorder: EpisodeRecorder, tmp_path: Path) -> None:
    begin(recorder, begun_ns=7)
    say(recorder, "before", SECOND)
    recorder.close()
    again = EpisodeRecorder(tmp_path, TOPICS, "0.1.0")
    begin(again, begun_ns=7)
    say(again, "after", 2 * SECOND)
    (closed,) = again.close()
    assert words(closed.bag) == ["before", "after"]


def test_a_later_run_with_the_same_episode_id_leaves_the_bag_alone(recorder: EpisodeRecorder, tmp_path: Path) -> None:
    begin(recorder, begun_ns=7)
    say(recorder, "before", SECOND)
    (first,) = recorder.close()
    again = EpisodeRecorder(tmp_path, TOPICS, "0.1.0")
    begin(again, begun_ns=8)
    say(again, "after", 2 * SECOND)
    (second,) = again.close()
    assert words(first.bag) == ["before"]
    assert words(second.bag) == ["after"]
    assert second.bag == str(tmp_path / "e-1" / "bag-2")


@pytest.mark.parametrize("name", ["", "..", "../up", "a/b"])
def test_an_episode_id_cannot_lead_out_of_the_folder(recorder: EpisodeRecorder, name: str, tmp_path: Path) -> None:
    status = begin(recorder, name)
    assert status.state == RecorderState.FAILED
    assert "cannot name a folder" in status.error
    say(recorder, "a", SECOND)
    assert recorder.close() == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_fails_and_the_next_episode_may_succeed(tmp_path: Path) -> None:
    (tmp_path / "e-1").write_text("a file where a folder is due")
    recorder = EpisodeRecorder(tmp_path, TOPICS, "0.1.0")
    failed = begin(recorder, "e-1")
    assert failed.state == RecorderState.FAILED
    assert "Not a directory" in failed.error
    say(recorder, "lost", SECOND)
    assert begin(recorder, "e-2").state == RecorderState.RECORDING
    say(recorder, "kept", 2 * SECOND)
    (closed,) = recorder.close()
    assert words(closed.bag) == ["kept"]
