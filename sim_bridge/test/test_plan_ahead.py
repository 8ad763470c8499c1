"""What holds for the plans of every task's expert."""

from __future__ import annotations

import numpy as np
import pytest

from kc_vla.core.tasks import simulated_tasks
from kc_vla_sim.simulator import Simulator

HORIZON = 32
FIRST_PHASES = {"counting": "approach", "identity": "wait", "spatial": "wait", "temporal": "start"}
# Task by task: each has an environment to make.
every_task = pytest.mark.parametrize("task", simulated_tasks(), scope="module")


@every_task
def test_planning_changes_nothing_and_repeats_itself(undrawn: Simulator, task: str) -> None:
    undrawn.reset(task, 2)
    first, phase = undrawn.expert.plan(HORIZON)
    again, _ = undrawn.expert.plan(HORIZON)
    np.testing.assert_array_equal(first, again)
    assert first.shape == (HORIZON, 7)
    assert first.dtype == np.float32
    assert phase
    assert phase == FIRST_PHASES.get(task, phase)
    assert undrawn.hold().index == 1


@every_task
def test_a_horizon_below_one_is_refused(undrawn: Simulator, task: str) -> None:
    undrawn.reset(task, 2)
    with pytest.raises(ValueError, match="bad horizon 0"):
        undrawn.expert.plan(0)
