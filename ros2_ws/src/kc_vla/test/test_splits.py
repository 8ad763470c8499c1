"""Which seeds are for what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.splits import SPLITS, SplitError, seeds_of


@given(st.integers(0, 40_000))
def test_no_seed_is_in_two_splits(seed: int) -> None:
    assert sum(seed in seeds for seeds in SPLITS.values()) <= 1


def test_the_splits_that_published_figures_rest_on_stay_where_they_are() -> None:
    assert {name: (seeds[0], seeds[-1]) for name, seeds in SPLITS.items()} == {
        "development": (0, 9_999),
        "train": (10_000, 19_999),
        "validation": (20_000, 20_999),
        "test": (30_000, 30_999),
    }


def test_the_first_seeds_are_taken() -> None:
    assert list(seeds_of("test", 3)) == [30_000, 30_001, 30_002]
    assert len(seeds_of("validation", 1_000)) == 1_000


@pytest.mark.parametrize(("split", "count"), [("exam", 1), ("test", 0), ("test", -1), ("test", 1_001)])
def test_what_a_split_does_not_have_is_refused(split: str, count: int) -> None:
    with pytest.raises(SplitError, match="choose one of development, train" if split == "exam" else "has 1000 seeds"):
        seeds_of(split, count)
