"""Things that have nothing to do with the task: seeded, seen, solid, out of the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import gymnasium
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kc_vla.core.tasks import find_task, simulated_tasks
from kc_vla_sim.envs.counting import COUNTING_RANGES
from kc_vla_sim.envs.distractors import KINDS, Distractors, numbers_of_chance
from kc_vla_sim.envs.tabletop import TabletopEnv
from kc_vla_sim.frame import Image

LARGEST_RADIUS = 0.067
"""Of the footprint of the book; of all others below 0.046, m."""


def counting(distractors: int, **options: object) -> TabletopEnv:
    ranges = replace(COUNTING_RANGES["paper"], distractors=distractors)
    size = {"width": 128, "height": 128}
    env = gymnasium.make("PushCubeWithSignal-v1", obs_mode="none", ranges=ranges, sensor_configs=size, **options)
    return env.unwrapped


@pytest.fixture(scope="module")
def cluttered() -> Iterator[TabletopEnv]:
    env = counting(len(KINDS))
    yield env
    env.close()


def places(env: TabletopEnv) -> np.ndarray:
    """Return the positions (N, distractors, 3) of the distractors in the world, m."""
    return torch.stack([actor.pose.p for actor in env._distractors._actors], dim=1).numpy()


def picture(env: TabletopEnv) -> Image:
    return env.pictures()["third_person"]


def test_each_seed_has_its_own_places_and_always_the_same(cluttered: TabletopEnv) -> None:
    cluttered.reset(seed=1)
    first, seen = places(cluttered), picture(cluttered)
    cluttered.reset(seed=2)
    assert not np.allclose(first, places(cluttered), atol=0.05)
    cluttered.reset(seed=1)
    np.testing.assert_array_equal(first, places(cluttered))
    np.testing.assert_array_equal(seen, picture(cluttered))


def test_they_are_seen_and_the_rest_of_the_episode_is_as_without_them(cluttered: TabletopEnv) -> None:
    bare = counting(0)
    try:
        bare.reset(seed=4)
        cluttered.reset(seed=4)
        np.testing.assert_array_equal(bare.cube.pose.p, cluttered.cube.pose.p)
        np.testing.assert_array_equal(bare.lamp_edges, cluttered.lamp_edges)
        changed = np.abs(picture(bare).astype(int) - picture(cluttered)).max(axis=2) > 20
        assert 0.005 < changed.mean() < 0.1
    finally:
        bare.close()


@given(arrays(np.float64, (4, numbers_of_chance()), elements=st.floats(0, 1, exclude_max=True)))
def test_they_stand_apart_at_the_rim_whatever_chance_says(cluttered: TabletopEnv, chance: np.ndarray) -> None:
    for row in chance:
        cluttered._distractors.place(row[None], torch.device("cpu"))
        stand = places(cluttered)[0]
        assert (np.abs(stand[:, 1]) > 0.2).all()
        assert all(np.linalg.norm(one - other) > LARGEST_RADIUS + 0.046 for one, other in combinations(stand, 2))


def test_nothing_moves_them(cluttered: TabletopEnv) -> None:
    cluttered.reset(seed=3)
    before = places(cluttered)
    for _ in range(40):  # the arm sweeps low towards a rim and past it
        cluttered.step(np.array([-0.3, 0.5, -0.3, 0, 0, 0, -1], np.float32))
    np.testing.assert_array_equal(before, places(cluttered))


@pytest.mark.parametrize("task", simulated_tasks())
def test_every_task_places_those_of_its_variant(task: str) -> None:
    env = gymnasium.make(find_task(task).environment, obs_mode="none", variant="hard").unwrapped
    try:
        env.reset(seed=6)
        stand = places(env)[0]
        assert len(stand) == env.ranges.distractors > 0
        assert (stand[:, 2] == 0).all()
        env.reset(seed=7)
        assert not np.allclose(stand, places(env)[0], atol=0.01)
    finally:
        env.close()


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match=f"bad number of distractors 9: there are 0 to {len(KINDS)}"):
        Distractors(None, 9)
