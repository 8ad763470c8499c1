"""A bag is closed when all of its episode is in it, and no later than it has to be."""

import pytest

from kc_vla.bags.closing import BagClosing

GRACE, TIMEOUT = 0.5, 5.0


@pytest.fixture
def closing() -> BagClosing:
    closing = BagClosing()
    closing.begin("e1")
    return closing


def due_at(closing: BagClosing) -> float:
    """The first moment at which it may be closed, to a tenth of a second."""
    return next((tenth / 10 for tenth in range(200) if closing.due(tenth / 10, GRACE, TIMEOUT)), float("inf"))


def test_an_episode_that_runs_is_not_closed(closing: BagClosing) -> None:
    closing.result("e1")
    assert due_at(closing) == float("inf")


def test_one_whose_result_is_there_is_closed_after_the_grace(closing: BagClosing) -> None:
    closing.result("e1")
    closing.end(0.0)
    assert due_at(closing) == GRACE


def test_the_result_of_another_is_none(closing: BagClosing) -> None:
    closing.result("e0")
    closing.end(0.0)
    assert not closing.has_result
    assert due_at(closing) == TIMEOUT


def test_keyframe_events_that_others_tell_of_are_waited_for(closing: BagClosing) -> None:
    closing.result("e1")
    closing.end(0.0)
    closing.events("e1", 3)
    for number in (0, 1, 1):
        closing.event("e1", number)
    closing.event("e0", 2)
    assert due_at(closing) > GRACE
    closing.event("e1", 2)
    assert due_at(closing) == GRACE


def test_what_never_comes_keeps_it_open_for_a_while_only(closing: BagClosing) -> None:
    closing.result("e1")
    closing.end(0.0)
    closing.late()
    closing.events("e1", 3)
    assert GRACE < due_at(closing) < TIMEOUT


def test_what_was_missed_in_one_episode_does_not_keep_the_next_one_open(closing: BagClosing) -> None:
    closing.late()
    closing.events("e1", 3)
    closing.end(0.0)
    closing.begin("e2")
    closing.events("e1", 9)
    closing.result("e2")
    closing.end(0.0)
    assert due_at(closing) == GRACE


def test_an_end_counts_once(closing: BagClosing) -> None:
    closing.result("e1")
    assert closing.end(0.0)
    assert not closing.end(3.0)
    assert due_at(closing) == GRACE


def test_one_who_comes_after_the_end_waits_for_what_others_still_tell() -> None:
    closing = BagClosing()
    closing.adopt("e1", 1.0)
    closing.result("e1")
    assert 1.0 + GRACE < due_at(closing) < 1.0 + TIMEOUT
