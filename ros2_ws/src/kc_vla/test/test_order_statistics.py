"""Percentiles of a few numbers: the same ones as NumPy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kc_vla.core.order_statistics import median, percentiles

FEW = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e3, 1e3))
MANY = arrays(np.float64, st.integers(290, 400), elements=st.floats(-1e3, 1e3), fill=st.floats(-1e3, 1e3))
NUMBERS = FEW | MANY


@given(NUMBERS, st.lists(st.floats(0.0, 100.0), max_size=3))
def test_percentiles_are_those_of_numpy(values: np.ndarray, shares: list[float]) -> None:
    before = values.copy()
    np.testing.assert_allclose(
        percentiles(values, *shares), [np.percentile(values, each) for each in shares], atol=1e-9
    )
    np.testing.assert_allclose(median(values), np.median(values), atol=1e-9)
    np.testing.assert_array_equal(values, before)
