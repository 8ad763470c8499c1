"""A burst of lines may be logged at once; after that there is room for one a second."""

import pytest

from kc_vla.core import repeated_lines
from kc_vla.core.repeated_lines import BURST, LogBudget


def test_a_flood_is_cut_to_a_burst_and_then_to_one_line_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(repeated_lines.time, "monotonic", lambda: now)
    budget = LogBudget()
    assert sum(budget.take() for _ in range(10 * BURST)) == BURST
    now += 3.5
    assert [budget.take() for _ in range(5)] == [True, True, True, False, False]
    now += 1e6  # a long silence makes room for one burst, not for more
    assert sum(budget.take() for _ in range(10 * BURST)) == BURST
