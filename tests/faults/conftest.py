"""A stack that runs one episode after another, for tests that each do their harm to one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stack import Episode, Stack

from kc_vla.episodes.episode import RecordedEpisode

QUICK_TO_TELL = "maniskill_bridge: {ros__parameters: {warn_after: 1.0}}\n"
QUICK_TO_GIVE_UP = "maniskill_bridge: {ros__parameters: {warn_after: 1.0, give_up_after: 4.0}}\n"


class StackKeeper:
    """Has at most one stack at a time: starts one when a test wants it and the last has ended or was another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack: Stack | None = None
        self._params = ""
        self._starts = 0

    def running(self, params: str) -> Stack:
        """Return a stack that runs with these parameters (YAML)."""
        if self._stack is None or not self._stack.is_running or params != self._params:
            self.end()
            self._starts += 1
            self._params = params
            file = self._folder / f"params-{self._starts}.yaml"
            file.write_text(params)
            self._stack = Stack(
                self._folder / f"runs-{self._starts}",
                {"seed": 0, "episodes": 1000, "report": "none", "params": file},
                environment={"ROS_HOME": str(self._folder)},
            )
        return self._stack

    def end(self) -> None:
        """End the stack if there is one."""
        if self._stack is not None:
            self._stack.__exit__(None, None, None)
            self._stack = None


_KEEPER = pytest.StashKey[StackKeeper]()
_ENDS_IT = "test_endings.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have those that share a stack come one after another, and what ends it last: to start one takes longer."""

    def turn(item: pytest.Item) -> int:
        wanted = getattr(item, "fixturenames", ())
        if "impatient_stack" in wanted:
            return 3
        if "stack" in wanted:
            return 2 if item.path.name == _ENDS_IT else 1
        return 0

    places = [place for place, item in enumerate(items) if item.path.parent == Path(__file__).parent]
    for place, item in zip(places, sorted((items[place] for place in places), key=turn), strict=True):
        items[place] = item


@pytest.fixture(scope="session")
def keeper(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[StackKeeper]:
    keeper = pytestconfig.stash[_KEEPER] = StackKeeper(tmp_path_factory.mktemp("faults"))
    yield keeper
    keeper.end()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the stack where the next test does not want it: its nodes would answer to those of another one."""
    wanted = "keeper" in getattr(nextitem, "fixturenames", ())
    if not wanted and _KEEPER in item.config.stash:
        item.config.stash[_KEEPER].end()


@pytest.fixture
def launch(launch: Callable[..., Stack], keeper: StackKeeper) -> Callable[..., Stack]:
    """Start a stack of its own, in the same domain: the shared one must have ended."""
    keeper.end()
    return launch


@pytest.fixture
def stack(keeper: StackKeeper) -> Stack:
    """A stack that runs, shared by tests: one episode after another."""
    return keeper.running(QUICK_TO_TELL)


@pytest.fixture
def impatient_stack(keeper: StackKeeper) -> Stack:
    """The same, but it gives a stalled episode up after 4 s."""
    return keeper.running(QUICK_TO_GIVE_UP)


@pytest.fixture
def mid_episode() -> Callable[[Stack], Episode]:
    """Return a function that waits for the middle of an episode: one flash seen, the other to come."""

    def wait(stack: Stack) -> Episode:
        while True:
            episode = stack.running_episode()
            episode.wait_for("keyframe 2 .* confirmed|stages: ")
            if not episode.is_over and not episode.has_said("keyframe 4 "):
                return episode
            episode.wait_for_result()

    return wait


@pytest.fixture
def recorded() -> Callable[[Episode], RecordedEpisode]:
    """Return a function that reads the bag of an episode as soon as it is closed."""
    return lambda episode: RecordedEpisode(episode.wait_for_bag())
