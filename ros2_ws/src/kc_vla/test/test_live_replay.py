"""What a replay asks live nodes, and what it waits for."""

import json
from pathlib import Path

import pytest
from episode_bag import Script, write_episode

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.replay.live_replay import LiveReplay
from kc_vla.replay.report import JSON, ReplaySettings


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> RecordedEpisode:
    return RecordedEpisode(write_episode(tmp_path_factory.mktemp("recorded") / "bag", Script(size=16)))


def replay_of(episode: RecordedEpisode, policy: str = "replay", source: str = "learned") -> LiveReplay:
    return LiveReplay(episode, ReplaySettings(1.0, source, policy))


def test_each_request_is_made_once_when_its_frame_has_come(episode: RecordedEpisode) -> None:
    replay = replay_of(episode)
    asked: list[tuple[int, int]] = []
    for frame in range(-1, replay.last + 1):
        due = replay.due(frame)
        assert all(request.step == frame for _, request in due)
        asked += [(place, request.step) for place, request in due]
    assert asked == [(place, chunk.observation_frame) for place, chunk in enumerate(episode.chunks)]
    assert replay.due(replay.last) == []


def test_what_lies_behind_when_frames_were_skipped_is_asked_all_the_same(episode: RecordedEpisode) -> None:
    replay = replay_of(episode)
    assert len(replay.due(replay.last)) == len(episode.chunks)


def test_it_waits_for_every_answer_and_tells_those_that_were_refused(episode: RecordedEpisode, tmp_path: Path) -> None:
    replay = replay_of(episode)
    (first, _), *others = replay.due(replay.last)
    replay.answer(first, "it has no picture")
    for place, _ in others:
        assert replay.waiting
        replay.answer(place, episode.chunks[place])
    assert not replay.waiting
    told = replay.report(tmp_path, episode.scores, episode.events, episode.diagnostics)
    assert any("of 0: it has no picture" in line for line in told)
    found = json.loads((tmp_path / JSON).read_text())
    assert found["chunks"]["answered"] == len(episode.chunks) - 1


def test_without_a_policy_nothing_is_asked_or_compared(episode: RecordedEpisode, tmp_path: Path) -> None:
    replay = replay_of(episode, policy="none")
    assert replay.due(replay.last) == []
    assert "policy_server" not in replay.nodes
    replay.report(tmp_path, episode.scores, episode.events, episode.diagnostics)
    assert json.loads((tmp_path / JSON).read_text())["chunks"] is None


def test_a_frame_lasts_until_the_next_one(episode: RecordedEpisode) -> None:
    replay, status = replay_of(episode), episode.status
    period_ns = round(status.frame_period_s * 1e9)
    times = [status.start_ns + ns for ns in (-1, 0, period_ns - 1, period_ns)]
    assert [replay.frame_at(time) for time in times] == [-1, 0, 0, 1]


@pytest.mark.parametrize(
    ("policy", "source", "player", "unheard"),
    [
        ("replay", "learned", {}, "bag_player"),
        ("replay", "learned", {"paused": "True"}, "bag_player"),
        ("replay", "learned", {"readers/third_person/image_raw": "2"}, "/third_person/image_raw"),
        ("replay", "learned", {"readers/third_person/image_raw": "3", "readers/other": "0"}, ""),
        ("none", "learned", {"readers/third_person/image_raw": "2"}, ""),
        ("none", "rules", {"readers/tool_pose": "1", "readers/joint_states": "2"}, "/tool_pose"),
        ("none", "events", {"readers/tool_pose": "1", "readers/joint_states": "2"}, "/tool_pose"),
    ],
)
def test_a_topic_is_heard_when_all_who_need_it_listen(
    episode: RecordedEpisode, policy: str, source: str, player: dict[str, str], unheard: str
) -> None:
    assert replay_of(episode, policy, source).unheard(player) == unheard
