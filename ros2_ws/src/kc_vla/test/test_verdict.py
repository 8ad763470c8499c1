"""A report says how it went, and where nobody knows, that."""

from types import SimpleNamespace
from typing import Any

import pytest

from kc_vla.episodes.episode_data import RecordedResult
from kc_vla.reports.verdict import verdict


def result(success: bool, stages: tuple[str, ...]) -> RecordedResult:
    return RecordedResult(success, 0.0, stages, 0, "time is up", 800, 40.0, 0, (), ())


def episode(ended: RecordedResult | None, *instructions: bool) -> Any:
    return SimpleNamespace(result=ended, instructions=[SimpleNamespace(success=each) for each in instructions])


@pytest.mark.parametrize(
    ("recorded", "word"),
    [
        (episode(None), "NO RESULT"),
        (episode(result(True, ("a",))), "SUCCESS"),
        (episode(result(False, ("a",))), "FAILED"),
        (episode(result(False, ())), "NOT JUDGED"),  # a robot that nobody watched with a task's eyes
        (episode(result(False, ()), True, True), "SUCCESS"),  # as the planner says
        (episode(result(False, ()), True, False), "FAILED"),
        (episode(result(False, ("a",)), True), "FAILED"),  # a task's judge knows better than the planner
    ],
)
def test_the_word_on_a_report(recorded: Any, word: str) -> None:
    assert verdict(recorded)[0] == word
