import numpy as np
import pytest

from kc_vla_sim.plans import RECENT_FRAMES, PlanRefusal, RecentPlans


class Counter:
    """An expert whose plans tell when they were made."""

    def __init__(self) -> None:
        self.made = 0

    def plan(self, horizon: int) -> tuple[np.ndarray, str]:
        self.made += 1
        return np.full((horizon, 7), self.made, np.float32), f"phase {self.made}"


def test_gives_the_plan_that_was_made_at_a_frame_cut_to_what_is_asked_for() -> None:
    plans, expert = RecentPlans(horizon=32), Counter()
    plans.make(0, expert)
    plans.make(1, expert)
    actions, phase = plans.find(0, horizon=16)
    assert actions.shape == (16, 7)
    assert actions[0, 0] == 1.0
    assert phase == "phase 1"


def test_refuses_frames_that_are_gone_or_to_come_and_horizons_out_of_bounds() -> None:
    plans, expert = RecentPlans(horizon=8), Counter()
    for frame in range(RECENT_FRAMES + 1):
        plans.make(frame, expert)
    with pytest.raises(PlanRefusal, match="no plan from frame 0"):
        plans.find(0, 8)
    with pytest.raises(PlanRefusal, match="no plan from frame 99"):
        plans.find(99, 8)
    for horizon in (0, 9):
        with pytest.raises(PlanRefusal, match=f"a horizon of {horizon} is outside 1..8"):
            plans.find(1, horizon)


def test_a_new_episode_starts_without_plans() -> None:
    plans = RecentPlans(horizon=8)
    plans.make(0, Counter())
    plans.begin("counting-1")
    assert plans.episode_id == "counting-1"
    with pytest.raises(PlanRefusal):
        plans.find(0, 8)
