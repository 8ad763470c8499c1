"""A detector that does not come back from an image is opened anew, a few times, and each time is a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detector_keeper import MOST_GIVEN_UP, DetectorKeeper, GivenUpDetector, failed_look
from kc_vla.perception.detectors import DetectorError, SkippedImageError
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.standing_problems import StandingProblems

FRAME = CameraFrame("wrist", 1, np.zeros((4, 4, 3), np.uint8), np.eye(3), np.eye(4))


class Blank:
    """Finds nothing, or fails."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        if self.fails:
            raise RuntimeError("no memory left")
        return []

    def close(self) -> None:
        pass


def given_up(keeper: DetectorKeeper) -> GivenUpDetector:
    found = keeper.check(2.5)
    assert found is not None
    return found


@pytest.fixture
def keeper() -> DetectorKeeper:
    return DetectorKeeper("blank", Blank, 2.0)


def test_one_that_answers_in_time_stays(keeper: DetectorKeeper) -> None:
    detector = keeper.detector
    assert [keeper.check(busy_s) for busy_s in (0.0, 1.9, 2.0)] == [None, None, None]
    assert keeper.detector is detector
    assert detector.detect(FRAME) == []


def test_one_that_does_not_answer_is_opened_anew_and_what_still_comes_of_it_is_void(keeper: DetectorKeeper) -> None:
    first = keeper.detector
    found = given_up(keeper)
    assert found.line == "detector 'blank' has not answered for 2 s: it is opened anew"
    assert found.successor is keeper.detector is not first
    with pytest.raises(SkippedImageError):
        first.detect(FRAME)
    assert keeper.detector.detect(FRAME) == []
    assert (keeper.failures, keeper.over) == (1, False)


def test_after_some_of_them_nothing_is_looked_at_and_that_is_said_once(keeper: DetectorKeeper) -> None:
    assert all(given_up(keeper).successor is not None for _ in range(MOST_GIVEN_UP))
    found = given_up(keeper)
    assert found.successor is None
    assert found.line == "detector 'blank' has not answered for 2 s, 4 times: nothing is looked at; start the node anew"
    assert keeper.over
    assert keeper.check(60.0) is None


@pytest.mark.parametrize("error", [DetectorError("the server\nis gone"), RuntimeError("the server\nis gone")])
def test_one_that_cannot_be_opened_anew_ends_it(error: Exception) -> None:
    opened: list[Callable[[], Blank]] = [Blank]

    def once() -> Blank:
        if not opened:
            raise error
        return opened.pop()()

    keeper = DetectorKeeper("blank", once, 2.0)
    assert given_up(keeper) == GivenUpDetector("the server is gone: nothing is looked at", None)
    assert keeper.over


def test_failures_of_all_its_detectors_are_counted() -> None:
    keeper = DetectorKeeper("blank", lambda: Blank(fails=True), 2.0)
    for _ in range(2):
        with pytest.raises(DetectorError):
            keeper.detector.detect(FRAME)
        given_up(keeper)
    assert keeper.failures == 4


def test_a_failed_look_is_one_line() -> None:
    line = failed_look("wrist", ValueError("a\nb" + "c" * 300))
    assert line.startswith("an image of wrist is left out, looking at it failed: ValueError: a b")
    assert len(line) < 300


def test_the_last_problem_is_shown_and_then_another_that_still_stands() -> None:
    problems = StandingProblems()
    shown = [
        problems.changed(*news)
        for news in [("a", ""), ("a", "A"), ("a", "A"), ("b", "B"), ("b", ""), ("a", "AA"), ("a", ""), ("b", "")]
    ]
    assert shown == [None, "A", None, "B", "A", "AA", "", None]
