"""Pictures that are shown together lie in their box, none on another, as large as they can be."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.reports.video_layout import tiles


@pytest.mark.parametrize(
    ("count", "side", "places"),
    [
        (1, 468, ((242, 0),)),
        (2, 468, ((0, 0), (484, 0))),
        (3, 306, ((1, 81), (323, 81), (645, 81))),
    ],
)
def test_those_of_the_film_of_an_episode(count: int, side: int, places: tuple[tuple[int, int], ...]) -> None:
    found = tiles(count, 952, 468, 16)
    assert (found.side, found.places) == (side, places)


@given(st.integers(1, 20), st.integers(300, 2000), st.integers(300, 2000), st.integers(0, 10))
def test_they_fit_and_do_not_touch(count: int, width: int, height: int, gap: int) -> None:
    found = tiles(count, width, height, gap)
    assert len(found.places) == count
    for x, y in found.places:
        assert 0 <= x <= width - found.side
        assert 0 <= y <= height - found.side
    for (x, y), (u, v) in itertools.combinations(found.places, 2):
        assert max(abs(x - u), abs(y - v)) >= found.side + gap
