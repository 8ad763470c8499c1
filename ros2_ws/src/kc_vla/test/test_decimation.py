"""Of a camera that is faster than it must be, the pictures nearest to the wanted beat are taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.cameras.decimation import Decimator

SECOND = 1_000_000_000


def taken(given_fps: float, wanted_fps: float, seconds: int = 10) -> list[int]:
    decimator = Decimator(wanted_fps)
    stamps = [round(number * SECOND / given_fps) for number in range(int(given_fps * seconds))]
    return [stamp for stamp in stamps if decimator.takes(stamp)]


@pytest.mark.parametrize(("given_fps", "wanted_fps"), [(30, 20), (30, 15), (60, 20), (90, 20), (30, 30), (15, 20)])
def test_as_many_pictures_as_wanted_are_taken(given_fps: float, wanted_fps: float) -> None:
    assert len(taken(given_fps, wanted_fps)) == pytest.approx(10 * min(given_fps, wanted_fps), abs=1)


def test_all_are_taken_where_no_rate_is_wanted() -> None:
    assert len(taken(30, 0)) == 300


def test_after_a_gap_the_beat_begins_anew() -> None:
    decimator = Decimator(20)
    late = 100 * SECOND
    stamps = [0, *range(late, late + SECOND, SECOND // 30)]
    kept = [stamp for stamp in stamps if decimator.takes(stamp)]
    assert 20 <= len(kept) <= 22


@given(st.lists(st.integers(1, SECOND), min_size=2, max_size=60))
def test_never_more_than_wanted(steps: list[int]) -> None:
    decimator = Decimator(20)
    stamps = np.cumsum(steps)
    kept = [int(stamp) for stamp in stamps if decimator.takes(int(stamp))]
    assert len(kept) <= (stamps[-1] - stamps[0]) / (SECOND / 20) + 2


def test_a_clock_that_is_set_back_begins_the_beat_anew() -> None:
    decimator = Decimator(20)
    hour_ns = 3600 * 10**9
    assert decimator.takes(hour_ns)
    assert sum(decimator.takes(k * 33_333_333) for k in range(30)) in (19, 20, 21)
