"""Who moves the arm while episodes are recorded, and which keyframes a policy that drives is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.datasets.planned import read_planned
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import LiveSelector, Look
from kc_vla.keyframes.scoring import Sight
from kc_vla.keyframes.smoothing import Decision
from kc_vla.policy.history import KEYFRAMES
from kc_vla.policy.interface import PolicyInput
from kc_vla_sim.collect.drivers import DrivingPolicy, LateSource, PolicyDriver
from kc_vla_sim.collect.planned import PlanJob, Stretch, record_planned
from kc_vla_sim.collect.record import Setting
from kc_vla_sim.collect.standstill import Standstill
from kc_vla_sim.evaluate.agent import HORIZON, WINDOW_FRAMES
from kc_vla_sim.simulator import Simulator

TRUE = (0, 40, 70)


def taken(seed: int) -> list[int]:
    """The frames that are taken for keyframes of an episode of 100 frames."""
    selector = LiveSelector(LateSource(np.random.default_rng(seed)), WINDOW_FRAMES)
    selector.begin(Episode("e", "identity", "", 0, 50_000_000, True))
    frames: list[int] = []
    for frame in range(100):
        sight = Sight(frame * 50_000_000, {}, oracle=float(frame in TRUE))
        found = selector.take(Look(frame, sight, -1.0, Start()))
        frames += [event.frame for event in found.events if event.decision is Decision.COMMITTED] if found else []
    return frames


def test_a_policy_that_drives_is_given_the_keyframes_as_late_as_by_a_selector() -> None:
    found = [taken(seed) for seed in range(20)]
    assert all(frames[0] == 0 for frames in found)
    late = [after - true for frames in found for after, true in zip(frames[1:], TRUE[1:], strict=True)]
    assert 0 <= min(late) < 3
    assert 9 < max(late) <= 12


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


def test_a_keyframe_that_is_taken_late_has_pictures_though_the_simulator_draws_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, simulator = Still(), Simulator(32, draw=False, variant="paper")
    monkeypatch.setattr("kc_vla_sim.collect.drivers._backend", lambda _: policy)
    frame = simulator.reset("counting", 0)
    drive = PolicyDriver(DrivingPolicy("", "", 1.0), simulator, "paper", np.random.default_rng(1), takes_over=30)
    while len(simulator.keyframes) < 4 or frame.index < simulator.keyframes[-1].frame + 30:
        frame = simulator.step(drive.act(frame, ""))
    kept = policy.given[-1].keyframes
    true = [keyframe.frame for keyframe in simulator.keyframes]
    assert len(kept) == len(true)
    assert any(each.frame != frame for each, frame in zip(kept, true, strict=True))
    assert all(picture.size for each in kept for picture in each.views.values())


def test_what_a_policy_is_taught_where_it_stands_still_begins_there_and_leads_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy, file = Still(), tmp_path / "episode_000000.npz"
    monkeypatch.setattr("kc_vla_sim.collect.drivers._backend", lambda _: policy)
    stretch = Stretch(frames=100, once_stuck=True)
    record_planned(
        PlanJob(
            Setting("standard", "standard", 32, "cpu"), "spatial", file, 0, True, DrivingPolicy("", "", 1.0), stretch
        )
    )
    episode = read_planned(file)
    kept = episode.frames[~np.isin(episode.frames, [0, *episode.keyframes])]
    assert 59 <= kept[0] < 70
    assert kept[-1] > 140
    assert episode.frames[-1] < kept[0] + 100
    way = np.linalg.norm(episode.states[:, :3] - episode.states[0, :3], axis=1)
    assert way[episode.frames == kept[0]] < 0.012
    assert way[-1] > 0.1  # the expert went on


def test_a_hand_that_waits_as_it_should_does_not_stand_still() -> None:
    hand = Standstill()
    assert not any(hand.told(np.zeros(3), waits=True) for _ in range(200))
    assert [hand.told(np.zeros(3), waits=False) for _ in range(60)] == [False] * 59 + [True]
    assert not hand.told(np.array([0.0, 0.0, 0.013]), waits=False)
