"""A problem is logged once; one that comes again and again with other numbers fills no screen."""

import pytest

from kc_vla.core.latency import Statistics
from kc_vla.ros import health
from kc_vla.ros.health import ERROR, WARN, Health


class Log:
    """A node, as far as `Health` needs one."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def create_publisher(self, kind: type, topic: str, depth: int) -> None:
        """It says nothing."""

    def get_logger(self) -> "Log":
        return self

    def error(self, text: str) -> None:
        self.lines.append(text)

    warning = error


def test_of_what_differs_in_numbers_alone_a_few_are_logged_in_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(health.time, "monotonic", lambda: now)
    log = Log()
    told = Health(log, Statistics())  # type: ignore[arg-type]
    for frame in range(130, 150):
        told.problem(f"keyframe 'flash 1' names frame {frame}, which is not held", ERROR)
    told.problem("the arm holds", WARN)
    told.problem("keyframe 'flash 1' names frame 150, which is not held", ERROR)
    now += 1.5
    told.problem("keyframe 'flash 1' names frame 151, which is not held", ERROR)
    told_frames = [line.split(",")[0][-9:] for line in log.lines]
    assert told_frames == ["frame 130", "frame 131", "frame 132", "arm holds", "frame 150", "frame 151"]
