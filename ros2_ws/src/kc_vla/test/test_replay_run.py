"""The course of a replay, with a live graph that is made up and a clock that goes as fast as it is asked to wait."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from episode_bag import PERIOD_NS, START_NS, Script, write_episode

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.execution.scheduler import ChunkRequest
from kc_vla.replay.live_replay import LiveReplay
from kc_vla.replay.received_messages import ReceivedMessages
from kc_vla.replay.replay_run import PLAYER, ReplayError, ReplayRun
from kc_vla.replay.report import JSON, ReplaySettings

PERIOD_S = PERIOD_NS * 1e-9
NODES = {PLAYER, "keyframe_selector", "keyframe_buffer", "policy_server"}
READERS = {"readers/third_person/image_raw": "3"}


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> RecordedEpisode:
    return RecordedEpisode(write_episode(tmp_path_factory.mktemp("recorded") / "bag", Script(size=16)))


def words(name: str, **values: str) -> SimpleNamespace:
    """The diagnostics of a node."""
    pairs = [SimpleNamespace(key=key.replace("__", "/"), value=value) for key, value in values.items()]
    return SimpleNamespace(status=[SimpleNamespace(name=name, level=b"\0", message="ok", values=pairs)])


class LiveGraph:
    """Nodes that do their part, each unless it is told otherwise."""

    def __init__(self, episode: RecordedEpisode, policy: str = "replay") -> None:
        self.replay = LiveReplay(episode, ReplaySettings(1.0, "learned", policy))
        self.id = episode.status.episode_id
        self.heard = ReceivedMessages(self.id, lambda: self.seconds)
        self.course = ReplayRun(self.replay, self.heard, self, startup_timeout=30.0, steady=lambda: self.seconds)
        self.there, self.said = set(NODES), list[str]()
        self.asked: list[tuple[int, int]] = []  # step of the request, frame at which it was made
        self.seconds, self.playing_since, self.ends_after = 0.0, None, 10**6
        self.states: list[bool] = []
        self.takes_up, self.answers, self.settles, self.takes_leave = True, True, True, True
        self.deaf_to_resume = 0
        self.heard.diagnostics(words(PLAYER, **{key.replace("/", "__"): value for key, value in READERS.items()}))

    def is_there(self, node: str) -> bool:
        return node in self.there

    def is_playing(self) -> bool:
        if self.playing_since is None:
            return PLAYER in self.there
        return self.course.frame() <= min(self.replay.last, self.ends_after)

    def now_ns(self) -> int:
        since = 0.0 if self.playing_since is None else self.seconds - self.playing_since
        return START_NS + round(since * 1e9)

    def announce(self, running: bool) -> None:
        self.states.append(running)
        if running and self.takes_up:
            self.heard.index(SimpleNamespace(episode_id=self.id, newest_frame=-1))
            self.heard.diagnostics(words("keyframe_selector", phase="0"))
        if not running and self.takes_leave:
            for node in self.replay.nodes:
                self.heard.diagnostics(words(node))

    async def resume(self) -> bool:
        self.deaf_to_resume -= 1
        if self.deaf_to_resume >= 0:
            return False
        self.playing_since = self.seconds
        return True

    def ask_policy(self, place: int, request: ChunkRequest) -> None:
        self.asked.append((request.step, self.course.frame()))
        if self.answers:
            self.replay.answer(place, "it has no picture")

    def begin(self) -> None:
        self.said.append("begins")

    def say(self, text: str) -> None:
        self.said.append(text)

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.playing_since is not None and self.settles:
            newest = min(self.course.frame(), self.replay.last)
            self.heard.index(SimpleNamespace(episode_id=self.id, newest_frame=newest))
        assert self.seconds < 1000, "it waits for ever"

    def run(self, folder: Path) -> "LiveGraph":
        asyncio.run(self.course.run(folder))
        return self


def test_the_policy_is_asked_when_it_was_and_all_is_told(episode: RecordedEpisode, tmp_path: Path) -> None:
    graph = LiveGraph(episode).run(tmp_path)
    assert [step for step, _ in graph.asked] == [chunk.observation_frame for chunk in episode.chunks]
    assert all(step <= frame <= step + 1 for step, frame in graph.asked)
    assert graph.states == [True, False]
    assert graph.said[0] == "begins"
    assert any("of 0: it has no picture" in line for line in graph.said)
    assert not graph.course.playing
    assert json.loads((tmp_path / JSON).read_text())["chunks"]["asked"] == len(episode.chunks)


def test_what_the_clock_has_not_come_to_is_asked_at_the_end(episode: RecordedEpisode, tmp_path: Path) -> None:
    graph = LiveGraph(episode)
    graph.ends_after = 20
    graph.run(tmp_path)
    assert [step for step, _ in graph.asked] == [chunk.observation_frame for chunk in episode.chunks]


def without(node: str) -> Callable[[LiveGraph], None]:
    return lambda graph: graph.there.discard(node)


def unheard(graph: LiveGraph) -> None:
    graph.heard.diagnostics(words(PLAYER, readers__third_person__image_raw="2"))


def never_taken_up(graph: LiveGraph) -> None:
    graph.takes_up = False


def waiting_for_a_task(graph: LiveGraph) -> None:
    graph.takes_up = False
    graph.heard.index(SimpleNamespace(episode_id=graph.id, newest_frame=-1))
    graph.heard.diagnostics(words("keyframe_selector", phase="none"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without(PLAYER), "bag_player did not start: see the lines"),
        (without("keyframe_selector"), "keyframe_selector did not start"),
        (without("policy_server"), "policy_server did not start"),
        (unheard, "who listens to /third_person/image_raw did not start"),
        (never_taken_up, "the selector or the buffer does not take up the episode"),
        (waiting_for_a_task, "the selector or the buffer does not take up the episode"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_played(
    episode: RecordedEpisode, tmp_path: Path, change: Callable[[LiveGraph], None], told: str
) -> None:
    graph = LiveGraph(episode)
    change(graph)
    with pytest.raises(ReplayError, match=told):
        graph.run(tmp_path)
    assert "begins" not in graph.said
    assert not list(tmp_path.iterdir())


def test_without_a_policy_it_waits_for_none(episode: RecordedEpisode, tmp_path: Path) -> None:
    graph = LiveGraph(episode, policy="none")
    graph.there.discard("policy_server")
    assert graph.run(tmp_path).asked == []


def test_a_player_that_does_not_answer_is_asked_again_and_one_that_died_is_told(
    episode: RecordedEpisode, tmp_path: Path
) -> None:
    graph = LiveGraph(episode)
    graph.deaf_to_resume = 2
    assert graph.run(tmp_path).said[0] == "begins"
    dead = LiveGraph(episode)
    dead.deaf_to_resume = 2
    dead.begin = lambda: dead.there.discard(PLAYER)  # type: ignore[method-assign]
    with pytest.raises(ReplayError, match="the bag player ended before it began"):
        dead.run(tmp_path)


def test_a_silent_buffer_is_not_waited_for_without_end_but_an_answer_is(
    episode: RecordedEpisode, tmp_path: Path
) -> None:
    graph = LiveGraph(episode)
    graph.settles = graph.takes_leave = False
    graph.run(tmp_path)
    late = LiveGraph(episode)
    late.answers = False
    slept = late.sleep

    async def sleep(seconds: float) -> None:
        await slept(seconds)
        if late.seconds > 60:
            for place in list(late.replay.waiting):
                late.replay.answer(place, "late")

    late.sleep = sleep  # type: ignore[method-assign]
    assert any("late" in line for line in late.run(tmp_path).said)


def test_words_on_another_episode_are_passed_over() -> None:
    heard = ReceivedMessages("mine", lambda: 5.0)
    heard.index(SimpleNamespace(episode_id="another", newest_frame=7))
    assert (heard.knows_episode, heard.settled, heard.at) == (False, -1, 0.0)
    heard.index(SimpleNamespace(episode_id="mine", newest_frame=7))
    assert (heard.knows_episode, heard.settled, heard.at) == (True, 7, 5.0)
