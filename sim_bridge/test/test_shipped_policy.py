"""The policy that is shipped with the package, with the selector that is: nothing is told by the simulator."""

from __future__ import annotations

import pytest
from nightly import at_night

from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.selectors import open_selector
from kc_vla.policy.backends import PolicyContext, open_backend
from kc_vla_sim.evaluate.agent import HORIZON, Execution
from kc_vla_sim.evaluate.player import Player
from kc_vla_sim.robot import ROBOT
from kc_vla_sim.simulator import Simulator


@pytest.mark.parametrize(("task", "variant"), [("counting", "paper"), *at_night(("identity", "standard"))])
def test_it_acts_on_what_it_remembers(task: str, variant: str) -> None:
    """Check that it succeeds, and holds no single step; `kc-vla eval policy` measures how often."""
    selector = LiveSelector(open_selector("learned", {"device": "cpu"}))
    backend = open_backend("learned", PolicyContext(ROBOT, HORIZON), {"device": "cpu"})
    simulator = Simulator(256, variant=variant)
    outcome = Player(simulator, selector, backend, Execution()).play(task, 0, variant)
    simulator.close()
    assert outcome.success, outcome.reason
    assert not outcome.faults
