"""The nearest sample in time, against a search of all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.alignment import nearest, nearest_within

TIMES = st.lists(st.integers(0, 200), max_size=12).map(sorted)


@given(TIMES, TIMES.filter(bool))
def test_no_other_sample_is_nearer(wanted: list[int], times: list[int]) -> None:
    found = nearest(np.array(wanted, np.int64), np.array(times, np.int64))
    assert [abs(times[at] - time) for at, time in zip(found, wanted, strict=True)] == [
        min(abs(other - time) for other in times) for time in wanted
    ]


@given(TIMES, TIMES, st.integers(0, 50))
def test_what_is_too_far_away_is_none(wanted: list[int], times: list[int], most: int) -> None:
    found = nearest_within(np.array(wanted, np.int64), np.array(times, np.int64), most)
    for time, at in zip(wanted, found, strict=True):
        assert (at is not None) == any(abs(other - time) <= most for other in times)
        assert at is None or abs(times[at] - time) <= most
