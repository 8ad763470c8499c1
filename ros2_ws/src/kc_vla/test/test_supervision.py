"""A detector that raises whatever it likes: a line each time, and another try less and less often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import DetectorError, SkippedImageError
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.supervision import LONGEST_PAUSE_S, SupervisedDetector

FRAME = CameraFrame("wrist", 1, np.zeros((4, 4, 3), np.uint8), np.eye(3), np.eye(4))


class Moody:
    """Raises what it is given, and counts how often it was opened and closed."""

    def __init__(self) -> None:
        self.opened, self.closed, self.now_s = 0, 0, 0.0
        self.raises: Exception | None = None

    def open(self) -> Moody:
        self.opened += 1
        return self

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        if self.raises is not None:
            raise self.raises
        return []

    def close(self) -> None:
        self.closed += 1
        raise OSError("it is gone")


def supervised() -> tuple[Moody, SupervisedDetector]:
    moody = Moody()
    return moody, SupervisedDetector("moody", moody.open, clock=lambda: moody.now_s)


def test_a_failure_is_a_line_and_the_detector_is_opened_anew() -> None:
    moody, detector = supervised()
    moody.raises = RuntimeError("CUDA error:\nout of memory")
    with pytest.raises(DetectorError, match="'moody' failed: RuntimeError: CUDA error: out of memory: it is opened"):
        detector.detect(FRAME)
    assert (moody.opened, moody.closed, detector.failures) == (1, 1, 1)
    with pytest.raises(SkippedImageError):
        detector.detect(FRAME)
    moody.raises, moody.now_s = None, 1.0
    assert detector.detect(FRAME) == []
    assert moody.opened == 2


def test_it_is_tried_less_and_less_often_and_quickly_again_after_a_success() -> None:
    moody, detector = supervised()
    moody.raises = KeyError("x")
    pauses = []
    for _ in range(9):
        with pytest.raises(DetectorError) as caught:
            detector.detect(FRAME)
        pauses.append(float(str(caught.value).rsplit(" ", 2)[1]))
        moody.now_s += pauses[-1]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, LONGEST_PAUSE_S, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    moody.raises = None
    detector.detect(FRAME)
    moody.raises = KeyError("x")
    with pytest.raises(DetectorError, match="anew in 1 s"):
        detector.detect(FRAME)


def test_what_a_detector_says_of_an_image_is_passed_on_and_one_that_was_given_up_says_nothing() -> None:
    moody, detector = supervised()
    moody.raises = DetectorError("too dark")
    with pytest.raises(DetectorError, match=r"^too dark$"):
        detector.detect(FRAME)
    assert (moody.opened, detector.failures) == (1, 0)
    moody.raises = None
    detector.abandon()
    with pytest.raises(SkippedImageError):
        detector.detect(FRAME)
