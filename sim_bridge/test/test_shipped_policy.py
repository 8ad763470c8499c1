"""The policy that is shipped with the package, with the selector that is: nothing is told by the simulator."""

from __future__ import annotations

import pytest
from nightly import at_night

from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.sources import SourceSettings, open_source
from kc_vla.policy.backends import BackendSettings, open_backend
from kc_vla_sim.evaluate.agent import HORIZON, Execution
from kc_vla_sim.evaluate.player import Player
from kc_vla_sim.robot import RIG
from kc_vla_sim.simulator import Simulator


@pytest.mark.parametrize(("task", "variant"), [("counting", "paper"), *at_night(("identity", "standard"))])
def test_it_acts_on_what_it_remembers(task: str, variant: str) -> None:
    """How often it succeeds is measured with `kc-vla eval policy`; here that it does, and holds no single step."""
    selector = LiveSelector(open_source("learned", SourceSettings(device="cpu")))
    backend = open_backend("learned", BackendSettings(RIG, HORIZON, device="cpu"))
    simulator = Simulator(256, variant=variant)
    outcome = Player(simulator, selector, backend, Execution()).play(task, 0, variant)
    simulator.close()
    assert outcome.success, outcome.reason
    assert not outcome.faults
