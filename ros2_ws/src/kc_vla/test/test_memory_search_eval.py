"""The phrases that long-term searches are measured by, and what the search makes of them."""

from __future__ import annotations

from collections import Counter

import pytest
from nightly import at_night

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.evaluation.halves import SPLITS
from kc_vla.memory.evaluation.search import answers, is_right, table
from kc_vla.memory.evaluation.searches import KINDS, SearchPhrase, read_searches


@pytest.fixture(scope="module")
def searches() -> list[SearchPhrase]:
    return read_searches()


def test_phrases_are_the_same_at_each_call_and_homes_belong_to_one_half(searches: list[SearchPhrase]) -> None:
    again = read_searches()
    assert [(each.text, each.fits) for each in searches] == [(each.text, each.fits) for each in again]
    homes = [{each.scene.graph.map_id for each in searches if each.split == split} for split in SPLITS]
    assert not homes[0] & homes[1]
    counts = Counter(each.kind for each in searches)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 40
    assert all(bool(each.fits) == (each.kind != "nothing") for each in searches)


def test_the_first_object_counts_and_an_empty_answer_where_nothing_fits() -> None:
    assert is_right(frozenset({"a"}), ["a", "b"])
    assert not is_right(frozenset({"a"}), ["b", "a"])
    assert not is_right(frozenset({"a"}), [])
    assert is_right(frozenset(), [])
    assert not is_right(frozenset(), ["a"])


@pytest.mark.parametrize("every", [6, *at_night(2)])
def test_the_search_finds_what_words_and_cosines_do_not(searches: list[SearchPhrase], every: int) -> None:
    chosen = [each for each in searches if each.kind in ("relations", "exclusions", "nothing") and each.split == "test"]
    right = answers(chosen[::every], shared_embedder())
    shares = {name: sum(each) / len(each) for name, each in right.items()}
    assert shares["search"] > 0.9
    assert shares["search"] > max(shares["words"], shares["words and cosine"]) + 0.4


def test_the_table_has_a_row_for_each_method(searches: list[SearchPhrase]) -> None:
    text = table(searches, {"nothing at all": [False] * len(searches)})
    assert text.count("| nothing at all | 0.0") == len({(each.split, each.series) for each in searches})
