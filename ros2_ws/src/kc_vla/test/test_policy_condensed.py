"""Keyframes become a fixed number of tokens; frames that are none, and their number, change little."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from drawn_plans import CPU, SMALL, SPEED, asked, episode, given, moment, write_episodes
from hypothesis import given as given_any
from hypothesis import strategies as st

from kc_vla.cli import main
from kc_vla.core.robot import load_robot
from kc_vla.learning.policy.batches import with_superfluous
from kc_vla.learning.policy.condensing import Condense
from kc_vla.learning.policy.networks import Situation, Sizes
from kc_vla.learning.policy.run import PolicyRun
from kc_vla.learning.policy.samples import PolicySamples, first_and_newest
from kc_vla.learning.policy.training import train_policy
from kc_vla.policy.interface import first_and_newest as shown_first_and_newest
from kc_vla.policy.learned import LearnedBackend
from kc_vla.policy.model import load_policy

CONDENSED = replace(SMALL, condensed=True, superfluous=6)


@given_any(st.integers(1, 60), st.integers(1, 9), st.integers(0, 3))
def test_before_it_has_learnt_a_token_is_a_keyframe_at_its_place(count: int, tokens: int, beyond: int) -> None:
    torch.manual_seed(count)
    condense = Condense(tokens, 5, 2).eval()
    memory, present = torch.randn(1, count + beyond, 5), torch.ones(1, count + beyond)
    memory[:, count:], present[:, count:] = 1e3, 0.0
    with torch.inference_mode():
        found, there = condense(memory, present, torch.tensor([1]))
    kept = first_and_newest(np.arange(count), tokens)
    assert there[0].tolist() == [1.0] * len(kept) + [0.0] * (tokens - len(kept))
    torch.testing.assert_close(found[0, : len(kept)], memory[0, kept], atol=0.15, rtol=0.0)


@pytest.mark.nightly
def test_tokens_learn_to_take_what_is_no_place() -> None:
    """The keyframe that is marked stands anywhere among 40: no place says where."""
    torch.manual_seed(0)
    condense = Condense(3, 6, 1)
    optimizer = torch.optim.Adam(condense.parameters(), lr=0.03)
    for _ in range(300):
        memory, at = torch.randn(64, 40, 6), torch.randint(0, 40, (64,))
        memory[..., 5] = 0.0
        memory[torch.arange(64), at, 5] = 3.0
        tokens, _ = condense(memory, torch.ones(64, 40), torch.zeros(64, dtype=torch.int64))
        off = (tokens[:, 0, :5] - memory[torch.arange(64), at, :5]).square().mean()
        optimizer.zero_grad()
        off.backward()
        optimizer.step()
    assert off < 0.2


def test_without_structure_the_order_of_keyframes_says_nothing() -> None:
    sizes = Sizes(map=4, channels=3, views=1, slots=4, instructions=1, state=2, action=7, horizon=16)
    memory, present = torch.randn(1, 4, 9), torch.tensor([[1.0, 1.0, 1.0, 0.0]])
    now = torch.randn(1, 1, 3, 4, 4), torch.randn(1, 2), torch.zeros(1, dtype=torch.int64)
    otherwise = memory[:, [2, 0, 1, 3]]
    for structured in (True, False):
        situation = Situation(replace(sizes, structured=structured), 9, 0.0).eval()
        with torch.inference_mode():
            one, other = (situation(each, present, *now).condition for each in (memory, otherwise))
        assert torch.allclose(one, other, atol=1e-5) is not structured


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PolicyRun:
    folder = tmp_path_factory.mktemp("condensed")
    write_episodes(folder / "plans/light", 24)
    return train_policy(folder / "run", [folder / "plans"], CONDENSED, CPU)


@pytest.fixture(scope="module")
def backend(run: PolicyRun) -> LearnedBackend:
    models = run.folder.parent
    assert main(["export", "policy", str(run.folder), "--models", str(models)]) == 0
    opened = LearnedBackend(load_policy(models, "policy"), load_robot("panda_sim"), "cpu")
    opened.reset(asked())
    return opened


@pytest.mark.nightly
@pytest.mark.parametrize("more", [0, 5, 500])
def test_it_goes_where_the_first_keyframe_says_whatever_is_kept_besides(backend: LearnedBackend, more: int) -> None:
    right = []
    for seed in range(300, 316):
        backend.reset(asked())
        shown = episode(seed)
        kept = [moment(shown, 0), *(moment(shown, 1 + each % 4, 1 + each) for each in range(more))]
        assert len(shown_first_and_newest(kept, CONDENSED.slots)) <= CONDENSED.slots
        moved = backend.infer(replace(given(shown, kept), frame=1000))[:8, 1].sum()
        right.append(moved * (1 if seed % 2 else -1) > 0.3 * 8 * SPEED)
    assert np.mean(right) >= 0.9


@pytest.mark.nightly
def test_a_keyframe_is_looked_at_once(backend: LearnedBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    backend.reset(asked())
    shown, looks = episode(7), []
    real = backend._look
    monkeypatch.setattr(backend, "_look", lambda views: looks.append(1) or real(views))
    kept = [moment(shown, 0)]
    for more in range(4):
        kept.append(moment(shown, 1, 10 + more))
        for _ in range(2):
            backend.infer(replace(given(shown, kept), frame=100))
    assert len(looks) == 5 + 8  # each keyframe, and each present
    backend.infer(replace(given(shown, kept[:-1]), frame=100))  # the newest was none
    assert len(looks) == 14


class Rows(PolicySamples):
    """Two episodes of 10 and 30 frames."""

    def __init__(self) -> None:
        object.__setattr__(self, "episodes", np.repeat([0, 1], [10, 30]))


@given_any(st.integers(11, 39), st.sets(st.integers(10, 39), max_size=5), st.integers(1, 8), st.integers(0, 99))
def test_what_is_remembered_besides_is_of_the_episode_and_from_before(
    row: int, rows: set[int], most: int, seed: int
) -> None:
    known = np.array(sorted(each for each in rows if each < row), np.int64)
    found = with_superfluous(Rows(), known, row, most, np.random.default_rng(seed))
    assert found.tolist() == sorted(set(found.tolist()))
    assert set(known.tolist()) <= set(found.tolist())
    assert len(found) <= len(known) + most
    assert all(10 <= each < row for each in found)
