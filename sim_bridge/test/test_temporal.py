"""Chance and visits of the temporal task."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kc_vla_sim.envs.home_visits import HomeVisits
from kc_vla_sim.envs.temporal import LEAST_GAP, TEMPORAL_RANGES, places_in_disc


def test_places_lie_in_the_disc_and_apart() -> None:
    places = places_in_disc(torch.rand((50, 512, 3, 2), generator=torch.Generator().manual_seed(1)), 0.1)
    assert places.shape == (50, 3, 2)
    assert (torch.linalg.norm(places, dim=2) <= 0.1).all()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert (torch.linalg.norm(places[:, one] - places[:, other], dim=1) > LEAST_GAP).all()


def test_the_first_good_candidate_is_taken() -> None:
    together, apart = [[0.5, 0.5]] * 3, [[0.5, 0.0], [0.1, 0.8], [0.9, 0.8]]
    also_apart = [[0.5, 1.0], [0.1, 0.2], [0.9, 0.2]]
    places = places_in_disc(torch.tensor([[together, apart, also_apart]]), 0.1)
    torch.testing.assert_close(places[0], (2 * torch.tensor(apart) - 1) * 0.1)


def test_no_good_candidate_is_an_error() -> None:
    with pytest.raises(ValueError, match="use more candidates"):
        places_in_disc(torch.full((1, 4, 3, 2), 0.5), 0.1)


@pytest.mark.parametrize("variant", TEMPORAL_RANGES)
def test_every_variant_waits_long_enough_for_a_late_plan_to_see_the_arrival(variant: str) -> None:
    assert all(low >= 0.5 for low, _ in TEMPORAL_RANGES[variant].home_wait)


def test_the_first_wait_dwarfs_all_that_follows() -> None:
    for variant in ("standard", "hard"):
        first, second, third = TEMPORAL_RANGES[variant].home_wait
        assert first[1] - first[0] >= 60
        assert max(second[1], third[1]) <= 1


def visit(at_home: list[bool], busy: list[bool], wait: int) -> HomeVisits:
    """Return the visits before the first of two deeds."""
    visits = HomeVisits.start(1, 2, torch.device("cpu"))
    for frame, (home, now_busy) in enumerate(zip(at_home, busy, strict=True)):
        visits = visits.after(
            torch.tensor([frame], dtype=torch.int32),
            torch.tensor([home]),
            torch.tensor([0]),
            torch.tensor([now_busy]),
            torch.tensor([[wait, 1]]),
        )
    return visits


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 10))
def test_a_visit_lasts_from_the_arrival_as_long_as_was_drawn(at_home: list[bool], wait: int) -> None:
    visits = visit(at_home, [False] * len(at_home), wait)
    arrival = at_home.index(True) if True in at_home else -1
    assert int(visits.since) == arrival
    over = arrival >= 0 and arrival + wait < len(at_home)
    assert visits.decided.tolist() == [[arrival + wait if over else -1, -1]]


def test_a_hand_that_is_busy_pays_no_visit() -> None:
    assert int(visit([True] * 4, [True] * 4, wait=1).since) == -1
    visits = visit([True] * 6, [False, True, True, True, False, False], wait=4)
    assert int(visits.since) == 4
    assert visits.decided.tolist() == [[-1, -1]]


def test_visits_restart_on_their_own() -> None:
    visits = visit([True] * 3, [False] * 3, wait=1)
    assert visits.decided.tolist() == [[1, -1]]
    again = visits.restarted(torch.tensor([0]))
    assert (again.since.tolist(), again.decided.tolist()) == ([-1], [[-1, -1]])
