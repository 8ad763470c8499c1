"""The ways of an arm through a kitchen, without an arm."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kc_vla_sim.kitchen.legs import TourLeg, TourProgress, around_base, facing_down

angles, distances = st.floats(-1.9, 1.9), st.floats(0.3, 0.65)


def at(angle: float, distance: float) -> np.ndarray:
    return np.array([distance * np.cos(angle), distance * np.sin(angle), 0.35])


@given(angles, distances, angles, distances)
@settings(max_examples=50, deadline=None)
def test_no_way_leads_over_the_base_and_all_end_where_they_should(
    start: float, near: float, end: float, far: float
) -> None:
    goal = TourLeg("carry", at(end, far), facing_down(end))
    way = around_base(at(start, near), facing_down(start), [goal])
    assert way[-1] is goal
    for one, other in pairwise([at(start, near), *(leg.position for leg in way)]):
        for share in np.linspace(0, 1, 12):
            assert np.linalg.norm((one + share * (other - one))[:2]) > 0.23


def test_a_leg_is_over_when_the_hand_has_stayed_there_and_given_up_when_it_never_comes() -> None:
    leg = TourLeg("go", at(0, 0.4), facing_down(), stay=3)
    there = TourProgress()
    for _ in range(4):
        assert there.leg == 0
        there = there.after([leg], leg.position, leg.rotation)
    assert there.leg == 1
    away, steps = TourProgress(), 0
    while away.leg == 0:
        away, steps = away.after([leg], at(1, 0.4), leg.rotation), steps + 1
    assert steps == 64
    assert away.after([leg], leg.position, leg.rotation) is away
