"""A report says how it went, and where nobody knows, that."""

import pytest

from kc_vla.episodes.episode_data import RecordedResult
from kc_vla.reports.verdict import verdict


def result(success: bool, stages: tuple[str, ...]) -> RecordedResult:
    return RecordedResult(success, 0.0, stages, 0, "time is up", 800, 40.0, 0, (), ())


@pytest.mark.parametrize(
    ("told", "word"),
    [
        (None, "NO RESULT"),
        (result(True, ("a",)), "SUCCESS"),
        (result(False, ("a",)), "FAILED"),
        (result(False, ()), "NOT JUDGED"),  # a robot that nobody watched with a task's eyes
    ],
)
def test_the_word_on_a_report(told: RecordedResult | None, word: str) -> None:
    assert verdict(told)[0] == word
