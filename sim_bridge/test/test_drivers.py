"""Who moves the arm while episodes are recorded, and which keyframes a policy that drives is given."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.keyframes.smoothing import Decision
from kc_vla.policy.history import KEYFRAMES
from kc_vla.policy.interface import PolicyInput
from kc_vla_sim.collect.drivers import LATE, DrivingPolicy, LateSource, PolicyDriver
from kc_vla_sim.evaluate.agent import HORIZON
from kc_vla_sim.simulator import Simulator

TRUE = (0, 40, 70)


def taken(seed: int, late: int = LATE, true: tuple[int, ...] = TRUE) -> list[int]:
    """Return the frames that are taken for keyframes of an episode of 100 frames."""
    selector = LiveSelector(LateSource(np.random.default_rng(seed), late))
    selector.begin(Episode("e", "identity", "", 0, 50_000_000, True))
    frames: list[int] = []
    for frame in range(100):
        known = frame in true
        sight = ScorerInput(frame * 50_000_000, {}, oracle=float(known), of=true.index(frame) if known else 0)
        found = selector.take(FrameToScore(frame, sight, -1.0, Start()))
        frames += [event.frame for event in found.events if event.decision is Decision.COMMITTED] if found else []
    return frames


def test_a_policy_that_drives_is_given_the_keyframes_as_late_as_by_a_selector() -> None:
    found = [taken(seed) for seed in range(20)]
    assert all(frames[0] == 0 for frames in found)
    late = [after - true for frames in found for after, true in zip(frames[1:], TRUE[1:], strict=True)]
    assert 0 <= min(late) < 3
    assert 9 < max(late) <= 12
    assert taken(1, late=0) == list(TRUE)


def test_keyframes_that_follow_closely_are_all_given_in_their_turn() -> None:
    assert taken(1, late=0, true=(0, 1, 2)) == [0, 1, 2]
    for seed in range(20):
        frames = taken(seed, true=(0, 1, 3))
        assert len(frames) == 3
        assert 1 <= frames[1] < frames[2] <= 3 + 12


@dataclass
class Still:
    """A policy that stays where it is, and keeps what it was given."""

    name, needs_keyframes, needs_images, needs_plan = "still", True, True, False
    action_type, names, history = ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, KEYFRAMES
    given: list[PolicyInput] = field(default_factory=list)

    def reset(self, episode: Episode) -> str:
        return ""

    def infer(self, given: PolicyInput) -> np.ndarray:
        self.given.append(given)
        return np.zeros((HORIZON, 7), np.float32)


@pytest.mark.nightly
def test_a_keyframe_that_is_taken_late_has_pictures_though_the_simulator_draws_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, simulator = Still(), Simulator(32, draw=False, variant="paper")
    monkeypatch.setattr("kc_vla_sim.collect.drivers.driving_backend", lambda _: policy)
    frame = simulator.reset("counting", 0)
    drive = PolicyDriver(DrivingPolicy("", "", 1.0), simulator, "paper", np.random.default_rng(1), takes_over=30)
    while len(simulator.keyframes) < 4 or frame.index < simulator.keyframes[-1].frame + 30:
        frame = simulator.step(drive.act(frame, ""))
    kept = policy.given[-1].keyframes
    true = [keyframe.frame for keyframe in simulator.keyframes]
    assert len(kept) == len(true)
    assert any(each.frame != frame for each, frame in zip(kept, true, strict=True))
    assert all(picture.size for each in kept for picture in each.views.values())
