from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from episode_bag import (
    LABELS,
    ORACLE,
    PERIOD_NS,
    TOPICS,
    Script,
    action,
    info,
    messages,
    third_person_view,
    write_episode,
)
from rclpy.serialization import serialize_message

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.episodes.episode import RecordedEpisode, recorded_actions
from kc_vla.episodes.episode_data import keyframes_after
from kc_vla.keyframes.smoothing import Decision
from kc_vla_msgs.msg import ArmCommand


def write(folder: Path, script: Script, keep: Callable[[str, object], bool] = lambda topic, message: True) -> Path:
    """Write the messages of an episode that `keep` wants."""
    writer = EpisodeBagWriter(folder, TOPICS, info(script))
    for topic, message, time_ns in messages(script):
        if keep(topic, message):
            writer.write(topic, serialize_message(message), time_ns, time_ns)
    writer.close()
    return folder


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> RecordedEpisode:
    return RecordedEpisode(write_episode(tmp_path_factory.mktemp("episode") / "bag", Script(late=2)))


def test_frames_carry_their_numbers_times_and_pictures(episode: RecordedEpisode) -> None:
    assert [frame.index for frame in episode.frames] == list(range(61))
    assert episode.time_s(episode.frames[20].stamp_ns) == pytest.approx(1.0)
    picture = episode.image(episode.frames[15].pictures["third_person"])
    assert np.array_equal(picture, third_person_view(Script(late=2), 15))
    assert all("wrist" in frame.pictures for frame in episode.frames)


def test_keyframes_live_through_their_events(episode: RecordedEpisode) -> None:
    assert [k.frame for k in episode.keyframes] == [0, 12, 20, 32, 42]
    assert [k.label for k in episode.keyframes] == list(LABELS)
    assert all(k.committed for k in episode.keyframes)
    at_11 = keyframes_after(episode.events, 11)
    assert [(k.phase, k.frame, k.committed) for k in at_11] == [(0, 0, True), (1, 11, False)]
    at_13 = keyframes_after(episode.events, 13)
    assert [(k.phase, k.frame, k.committed) for k in at_13] == [(0, 0, True), (1, 12, False)]
    assert [k.frame for k in keyframes_after(episode.events, 16) if k.committed] == [0, 12]


def test_result_chunks_commands_and_diagnostics(episode: RecordedEpisode) -> None:
    assert episode.result is not None
    assert episode.result.success
    assert episode.result.oracle_frames == ORACLE
    assert episode.chunks[2].actions.shape == (16, 7)
    assert episode.chunks[2].actions[3] == pytest.approx(action(19))
    assert [command.step for command in episode.commands] == list(range(61))
    assert episode.diagnostics["policy_server"].values["latency/predict/p99_ms"] == "19.400"


def test_a_lost_wrist_picture_leaves_its_frame_without_one(tmp_path: Path) -> None:
    lost = {10, 11, 12}

    def keep(topic: str, message: object) -> bool:
        if topic != "/wrist/image_raw":
            return True
        stamp = message.header.stamp  # type: ignore[attr-defined]
        return (stamp.sec * 10**9 + stamp.nanosec - 10**9) // PERIOD_NS not in lost

    frames = RecordedEpisode(write(tmp_path / "bag", Script(size=8), keep)).frames
    # the neighbours of the gap are one period away, which is near enough
    assert [frame.index for frame in frames if "wrist" not in frame.pictures] == [11]


def test_frames_are_numbered_by_their_stamps_without_a_selector(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", Script(size=8), lambda topic, _: topic != "/keyframes/score")
    assert [frame.index for frame in RecordedEpisode(bag).frames] == list(range(61))


def test_events_that_are_heard_twice_count_once(tmp_path: Path) -> None:
    script = Script(size=8, steps=20, oracle=(0, 3, 6, 9, 12))
    folder = write_episode(tmp_path / "bag", script)
    once = RecordedEpisode(folder).events
    writer = EpisodeBagWriter(folder, TOPICS, info(script), resume=True)
    for topic, message, time_ns in messages(script):
        if topic == "/keyframes/event":
            writer.write(topic, serialize_message(message), time_ns, time_ns)
    writer.close()
    assert RecordedEpisode(folder).events == once
    assert once[0].type == Decision.RESET


def test_a_torn_bag_is_an_episode_without_result(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(with_result=False))
    path = bag / "bag_0.mcap"
    path.write_bytes(path.read_bytes()[:-100])
    episode = RecordedEpisode(bag)
    assert episode.result is None
    assert len(episode.frames) == 61
    assert len(episode.damages) == 1


def test_a_bag_without_an_episode_says_so(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", Script(size=8), lambda topic, _: topic != "/episode/status")
    with pytest.raises(BagReadError, match="holds no episode"):
        RecordedEpisode(bag)


def test_messages_of_another_episode_are_left_out(tmp_path: Path) -> None:
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(Script(size=8)))
    stranger = ArmCommand(episode_id="another", step=500, mode=ArmCommand.TOOL_DELTA, values=[9.0] * 7)
    writer.write("/arm/command", serialize_message(stranger), 0, 0)
    for topic, message, time_ns in messages(Script(size=8)):
        writer.write(topic, serialize_message(message), time_ns, time_ns)
    writer.close()
    assert len(RecordedEpisode(tmp_path / "bag").commands) == 61


def test_recorded_actions_are_those_of_each_step(tmp_path: Path) -> None:
    actions = recorded_actions(RecordedEpisode(write_episode(tmp_path / "bag", Script(size=8, hold_steps=(0, 30, 31)))))
    assert actions.shape == (61, 7)
    assert actions.dtype == np.float32
    assert actions[29] == pytest.approx(np.array(action(29), np.float32))
    assert actions[0].tolist() == [0, 0, 0, 0, 0, 0, 1]  # nothing was said yet: no motion, gripper open
    assert actions[1, 6] == 0
    assert actions[30].tolist() == [0, 0, 0, 0, 0, 0, 1]  # held: as it was


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"mode": ArmCommand.JOINT_POSITION}, "joint commands"),
        ({"values": [float("nan")] * 7}, "step 5 is not 7 finite numbers"),
        ({"values": [0.0] * 3}, "step 5 is not 7 finite numbers"),
    ],
)
def test_actions_that_cannot_be_replayed_say_why(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(Script(size=8)))
    for topic, message, time_ns in messages(Script(size=8)):
        if topic == "/arm/command" and message.step == 5:
            for name, value in change.items():
                setattr(message, name, value)
        writer.write(topic, serialize_message(message), time_ns, time_ns)
    writer.close()
    with pytest.raises(BagReadError, match=reason):
        recorded_actions(RecordedEpisode(tmp_path / "bag"))


def test_a_bag_without_commands_cannot_be_replayed(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", Script(size=8), lambda topic, _: topic != "/arm/command")
    with pytest.raises(BagReadError, match="no arm commands"):
        recorded_actions(RecordedEpisode(bag))
