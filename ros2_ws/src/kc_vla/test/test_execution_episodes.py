"""Running episodes, with a stack that is made up and a clock that goes as fast as it is asked to wait."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kc_vla.core.tasks import simulated_tasks
from kc_vla.execution.episodes import ALL_TASKS, EpisodeRuns, RunError, planned


class MadeUpStack:
    """Does what is asked of it after a while; its times are s."""

    def __init__(self, ready_after: float = 1.0, answers_after: float = 1.0, lasts: float = 10.0) -> None:
        self.ready_after, self.answers_after, self.lasts = ready_after, answers_after, lasts
        self.seconds, self.alone, self.refusal = 0.0, True, ""
        self.asked: list[tuple[str, int, str]] = []
        self.told: list[str] = []
        self.began: dict[str, float] = {}
        self.runs = EpisodeRuns(self, self, startup_timeout=20.0, episode_timeout=60.0, steady=lambda: self.seconds)

    def missing(self) -> list[str]:
        return [] if self.seconds >= self.ready_after else ["recorder", "policy_server"]

    def is_alone(self) -> bool:
        return self.alone

    async def reset(self, task: str, seed: int, request_id: str, patience_s: float) -> Any | None:
        self.asked.append((task, seed, request_id))
        waited = min(patience_s, self.answers_after)
        self.answers_after -= waited
        self.seconds += waited
        if self.answers_after > 0:
            return None
        episode_id = f"{task}-{seed}"
        self.began[episode_id] = self.seconds
        return SimpleNamespace(success=not self.refusal, message=self.refusal, episode_id=episode_id, instruction="go")

    def result(self, episode_id: str) -> str | None:
        return f"end of {episode_id}" if self.seconds - self.began[episode_id] >= self.lasts else None

    def begin(self, episode_id: str, instruction: str) -> None:
        self.told.append(f"{episode_id}: {instruction}")

    def end(self, result: str) -> None:
        self.told.append(result)

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def run(self, task: str = "counting", seed: int = 3) -> Any:
        async def both() -> Any:
            await self.runs.until_ready()
            return await self.runs.run(task, seed)

        return asyncio.run(both())


def test_an_episode_runs_from_reset_to_result() -> None:
    stack = MadeUpStack()
    assert stack.run() == "end of counting-3"
    assert stack.told == ["counting-3: go", "end of counting-3"]
    assert [asked[:2] for asked in stack.asked] == [("counting", 3)]


def test_a_simulator_that_is_slow_is_asked_again_for_the_same_episode() -> None:
    stack = MadeUpStack(answers_after=8.0)
    stack.run()
    assert len(stack.asked) == 3
    assert len(set(stack.asked)) == 1
    stack.run()
    assert len(set(stack.asked)) == 2  # another run is another episode


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"ready_after": 1000.0},
            "recorder, policy_server did not start within 20 s: see the lines of that node above",
        ),
        ({"answers_after": 1000.0}, "the simulator does not answer: is maniskill_bridge alive?"),
        ({"lasts": 1000.0}, "episode counting-3 has not ended for 60 s"),
        ({"refusal": "no task 'x'"}, "no task 'x'"),
        ({"alone": False}, "another stack runs in ROS domain"),
        ({"alone": False, "ready_after": 1000.0}, "another stack runs in ROS domain"),
    ],
)
def test_what_does_not_come_about_is_given_up_with_the_reason(change: dict[str, object], told: str) -> None:
    stack = MadeUpStack()
    for name, value in change.items():
        setattr(stack, name, value)
    with pytest.raises(RunError, match=told.replace("?", r"\?")):
        stack.run()
    assert "end of counting-3" not in stack.told


def test_a_plan_counts_the_seeds_of_each_task() -> None:
    assert list(planned("counting", 5, 2)) == [("counting", 5), ("counting", 6)]
    assert list(planned(ALL_TASKS, 0, 1)) == [(task, 0) for task in simulated_tasks()]
