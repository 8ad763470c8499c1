"""The simulator's own keyframes, as a selector keeps them."""

from __future__ import annotations

import pytest

from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.oracle import OracleSource
from kc_vla.keyframes.smoothing import Decision
from kc_vla_sim.scorer_inputs import PERIOD_NS, sight_of_frame
from kc_vla_sim.simulator import Simulator


@pytest.mark.parametrize("task", ["counting", pytest.param("temporal", marks=pytest.mark.nightly)])
def test_all_are_kept_as_the_environment_tells_them(task: str) -> None:
    simulator = Simulator(variant="paper", draw=False, whims=False)
    try:
        frame = simulator.reset(task, 20000)
        selector = LiveSelector(OracleSource())
        selector.begin(Episode("e", task, "", 0, PERIOD_NS, True))
        kept: list[int] = []
        for _ in range(1500):
            found = selector.take(FrameToScore(frame.index, sight_of_frame(frame, frame.views), -1.0, Start()))
            assert found is not None
            kept += [event.frame for event in found.events if event.decision is Decision.COMMITTED]
            if frame.done:
                break
            frame = simulator.step(simulator.expert.plan(1)[0][0])
        assert frame.success
        assert kept == [keyframe.frame for keyframe in simulator.keyframes]
        assert len(kept) >= 4
    finally:
        simulator.close()
