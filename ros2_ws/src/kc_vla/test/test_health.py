"""A problem is logged once; one that comes again and again with other numbers fills no screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.clock import Clock

from kc_vla.core.latency import Statistics
from kc_vla.core.repeated_lines import QUIET_S, RepeatedLines
from kc_vla.ros import health
from kc_vla.ros.health import WARN, Health


class Log:
    """A node, as far as `Health` needs one."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def create_publisher(self, kind: type, topic: str, depth: int) -> "Ears":
        return Ears()

    def get_fully_qualified_name(self) -> str:
        return "/arm_controller"

    def get_clock(self) -> Clock:
        return Clock()

    def get_logger(self) -> "Log":
        return self

    def error(self, text: str) -> None:
        self.lines.append(text)

    warning = error


class Ears:
    """A publisher that nobody hears."""

    def publish(self, message: object) -> None:
        """It says nothing."""


@pytest.mark.parametrize("between", ["", "the arm holds: the chunk is used up and no new one has come"])
@pytest.mark.parametrize("numbers", ["same", "other"])
def test_a_problem_that_comes_again_for_long_is_a_line_and_a_number(
    monkeypatch: pytest.MonkeyPatch, between: str, numbers: str
) -> None:
    """Also where it is over for a moment in between, or another comes in turn with it."""
    now = 100.0
    monkeypatch.setattr(health.time, "monotonic", lambda: now)
    log = Log()
    told = Health(log, Statistics())  # type: ignore[arg-type]
    for step in range(220):  # 11 s
        chunk = 11 if numbers == "same" else step
        told.problem(f"chunk {chunk} is stale: it ends at step {chunk + 7}", WARN)
        told.problem(between, WARN)
        now += 0.05
        if step % 20 == 19:
            told.publish({}, "none")
    now += 6.0
    told.problem("", WARN)
    told.publish({}, "none")
    stale = [line for line in log.lines if line.startswith("chunk")]
    assert (
        stale[0] == f"chunk {11 if numbers == 'same' else 0} is stale: it ends at step {18 if numbers == 'same' else 7}"
    )
    assert 2 <= len(stale) <= 3
    counts = [int(line.split("(")[1].split()[0]) for line in stale[1:]]
    assert sum(counts) + 1 == 220
    assert len(log.lines) <= 6
    told.problem("chunk 400 is stale: it ends at step 407", WARN)
    assert log.lines[-1] == "chunk 400 is stale: it ends at step 407"


@given(st.lists(st.tuples(st.sampled_from(["a 1", "a 2", "b", "c 3.5"]), st.floats(0.0, 12.0)), max_size=60))
def test_no_line_is_lost_and_none_comes_twice_in_a_row(told: list[tuple[str, float]]) -> None:
    lines, now, logged, counted = RepeatedLines(), 0.0, 0, 0
    for text, pause in told:
        now += pause
        counted += sum(_count(line) for line in lines.due(now))
        logged += lines.is_news(text, now)
    now += 2 * QUIET_S
    counted += sum(_count(line) for line in lines.due(now))
    assert logged + counted == len(told)
    assert lines.due(now) == []


def _count(line: str) -> int:
    word = line.rpartition("(")[2].split()[0]
    return 1 if word == "once" else int(word)
