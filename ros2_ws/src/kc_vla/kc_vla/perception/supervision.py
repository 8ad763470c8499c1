"""A detector that may fail: what it raises becomes one line, and it is opened anew, less and less often."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from kc_vla.core.untrusted import one_line
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import DetectorError, ObjectDetector, SkippedImageError
from kc_vla.perception.image_detection import ImageDetection

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
_MOST_LETTERS = 200


class SupervisedDetector:
    """An `ObjectDetector` that raises a `DetectorError` whatever its own detector raises.

    Attributes:
        failures: how often the detector failed and had to be opened anew.
    """

    def __init__(
        self,
        name: str,
        open_it: Callable[[], ObjectDetector],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the detector.

        Args:
            name: of its row, for messages.
            open_it: opens it, also once more after a failure.
            clock: s, which never goes back.

        Raises:
            DetectorError: it cannot be had.
        """
        self._name, self._open, self._clock = name, open_it, clock
        self._detector: ObjectDetector | None = open_it()
        self._abandoned = False
        self._pause_s, self._due_s = FIRST_PAUSE_S, 0.0
        self.failures = 0

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        """Return what the detector finds.

        Raises:
            SkippedImageError: the detector failed lately and is not open.
            DetectorError: it does not look at this image, or fails now.
        """
        detector = self._detector or self._reopened()
        try:
            found = detector.detect(frame)
        except DetectorError:
            raise
        except Exception as error:  # whatever a detector of another package raises
            raise self._fail(error) from error
        if self._abandoned:
            raise SkippedImageError(f"detector '{self._name}' answered when it was given up already")
        self._pause_s = FIRST_PAUSE_S
        return found

    def abandon(self) -> None:
        """Make nothing of what may still come from a detector that has not answered; for any thread."""
        self._abandoned = True

    def close(self) -> None:
        """Close the detector."""
        if self._detector is not None:
            with suppress(Exception):  # it may be the one that fails
                self._detector.close()
        self._detector = None

    def _reopened(self) -> ObjectDetector:
        if self._clock() < self._due_s:
            raise SkippedImageError(f"detector '{self._name}' failed and is opened anew soon")
        try:
            self._detector = self._open()
        except Exception as error:  # likewise
            raise self._fail(error) from error
        return self._detector

    def _fail(self, error: Exception) -> DetectorError:
        self.close()
        self.failures += 1
        pause_s, self._pause_s = self._pause_s, min(LONGEST_PAUSE_S, 2.0 * self._pause_s)
        self._due_s = self._clock() + pause_s
        why = one_line(f"{type(error).__name__}: {error}")[:_MOST_LETTERS]
        return DetectorError(f"detector '{self._name}' failed: {why}: it is opened anew in {pause_s:g} s")
