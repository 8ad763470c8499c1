"""The selector that is shipped with the package, on wide images of the simulator that are larger than its own."""

from __future__ import annotations

from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.inference.models import shipped_models
from kc_vla.keyframes.learned import LearnedSource, SelectorNetwork
from kc_vla.keyframes.model import load_selector
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.keyframes.selector import KeyframeSelector
from kc_vla.keyframes.smoothing import Decision, GreedySmoother
from kc_vla_sim.simulator import Simulator


def test_it_finds_the_keyframes_from_the_pictures_alone() -> None:
    """Check the scores alone; tests/end_to_end check what the graph around it makes of any scores."""
    source = LearnedSource(SelectorNetwork(load_selector(shipped_models(), "keyframe_selector"), "cpu"))
    scoring = source.begin(Episode("e", "", find_task("counting").instruction, 0, 50_000_000, True))
    selector = KeyframeSelector(scoring.labels, GreedySmoother(scoring.threshold, first=scoring.first))
    simulator = Simulator(image_size=(192, 144), variant="paper")
    frame = simulator.reset("counting", 3)
    found: list[int] = []
    while not frame.done and not selector.done:
        sight = ScorerInput(frame.index, frame.views)
        events = selector.update(frame.index, scoring.scorer.score(sight, selector.phase))
        found += [event.frame for event in events if event.decision is Decision.COMMITTED]
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    truth = [keyframe.frame for keyframe in simulator.keyframes]
    simulator.close()
    assert len(found) == len(truth)
    assert all(abs(a - b) <= 10 for a, b in zip(found, truth, strict=True)), (found, truth)
