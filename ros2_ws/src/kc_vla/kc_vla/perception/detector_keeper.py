"""Keeps the detector of a node: opens it, and gives up one that does not come back from an image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kc_vla.core.untrusted import one_line
from kc_vla.perception.detectors import ObjectDetector
from kc_vla.perception.supervision import SupervisedDetector

MOST_GIVEN_UP = 3
"""Detectors that never came back from an image: each leaves a thread behind."""
_MOST_LETTERS = 200


@dataclass(frozen=True)
class GivenUpDetector:
    """A detector was given up.

    Attributes:
        line: that says so, and what happens now.
        successor: what looks at images from now on; None where nothing does.
    """

    line: str
    successor: SupervisedDetector | None


class DetectorKeeper:
    """A detector that is opened anew where it does not come back from an image, `MOST_GIVEN_UP` times at most.

    Attributes:
        detector: the present one.
        over: whether too many were given up, or none could be opened any more: nothing looks at images.
    """

    def __init__(self, name: str, open_it: Callable[[], ObjectDetector], answer_timeout_s: float) -> None:
        """Open the detector.

        Args:
            name: of its row, for messages.
            open_it: opens it, also once more.
            answer_timeout_s: within which it has to come back from an image, s.

        Raises:
            DetectorError: it cannot be had.
        """
        self._name, self._open, self._answer_timeout_s = name, open_it, answer_timeout_s
        self.detector = SupervisedDetector(name, open_it)
        self.over = False
        self._given_up, self._failures_before = 0, 0

    @property
    def failures(self) -> int:
        """Return how often the detector failed, or did not answer in time."""
        return self._failures_before + self.detector.failures + self._given_up

    def check(self, busy_s: float) -> GivenUpDetector | None:
        """Give up the detector, and open another one, if it has been at an image for too long.

        Args:
            busy_s: for how long it has, s; 0 if it is at none.

        Returns:
            what happened; None where it is in time, or nothing looks at images any more.
        """
        if self.over or busy_s <= self._answer_timeout_s:
            return None
        self.abandon()
        self._given_up += 1
        silent = f"detector '{self._name}' has not answered for {self._answer_timeout_s:g} s"
        if self._given_up > MOST_GIVEN_UP:
            return self._end(f"{silent}, {self._given_up} times: nothing is looked at; start the node anew")
        try:
            successor = SupervisedDetector(self._name, self._open)
        except Exception as error:  # noqa: BLE001  # whatever a detector of another package raises
            return self._end(f"{one_line(str(error))[:_MOST_LETTERS]}: nothing is looked at")
        self._failures_before += self.detector.failures
        self.detector = successor
        return GivenUpDetector(f"{silent}: it is opened anew", successor)

    def abandon(self) -> None:
        """Leave the detector to its thread, and make nothing of what still comes from it."""
        self.detector.abandon()

    def _end(self, line: str) -> GivenUpDetector:
        self.over = True
        return GivenUpDetector(line, None)


def failed_look(camera: str, error: Exception) -> str:
    """Return the line of an image of a camera at which looking failed."""
    why = one_line(f"{type(error).__name__}: {error}")[:_MOST_LETTERS]
    return f"an image of {camera} is left out, looking at it failed: {why}"
