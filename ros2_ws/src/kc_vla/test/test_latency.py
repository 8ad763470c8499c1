import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.latency import WINDOW, Statistics


@given(st.lists(st.floats(0, 100), min_size=1, max_size=200))
def test_tells_the_percentiles_of_what_was_measured(seconds: list[float]) -> None:
    statistics = Statistics()
    for value in seconds:
        statistics.add("infer", value)
    summary = statistics.percentiles()["infer"]
    assert summary.count == len(seconds)
    assert summary.maximum == max(seconds)
    assert summary.p50 == pytest.approx(np.median(seconds))
    assert min(seconds) <= summary.p50 <= summary.p99 <= summary.maximum


def test_counts_all_and_looks_at_the_newest_window() -> None:
    statistics = Statistics()
    for value in [100.0] * 10 + [1.0] * WINDOW:
        statistics.add("infer", value)
    summary = statistics.percentiles()["infer"]
    assert (summary.count, summary.maximum) == (WINDOW + 10, 1.0)


def test_stages_and_losses_are_kept_apart_and_forgotten_together() -> None:
    statistics = Statistics()
    statistics.add("gather", 1.0)
    statistics.add("infer", 2.0)
    statistics.drop("image_raw")
    statistics.drop("image_raw", 3)
    assert {stage: summary.p50 for stage, summary in statistics.percentiles().items()} == {"gather": 1.0, "infer": 2.0}
    assert statistics.dropped == {"image_raw": 4}
    statistics.clear()
    assert (statistics.percentiles(), dict(statistics.dropped)) == ({}, {})
