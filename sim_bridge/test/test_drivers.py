"""Who moves the arm while episodes are recorded, and which keyframes a policy that drives is given."""

from __future__ import annotations

import numpy as np

from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import LiveSelector, Look
from kc_vla.keyframes.scoring import Sight
from kc_vla.keyframes.smoothing import Decision
from kc_vla_sim.collect.drivers import LateSource
from kc_vla_sim.evaluate.agent import WINDOW_FRAMES

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
