"""What stood out by its color in a keyframe is found in the present, of any color; a policy learns what to ask for."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn_plans import BRIEF, CPU
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.inference.onnx_sessions import open_session
from kc_vla.learning.common.config import ConfigError
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.config import load_policy_config
from kc_vla.learning.policy.matching import COLORS, KEPT, Match, colors, stand_out
from kc_vla.learning.policy.release import release_policy
from kc_vla.learning.policy.restoring import restored_run
from kc_vla.learning.policy.run import PolicyRun, trained_policy
from kc_vla.learning.policy.training import train_policy
from kc_vla.policy.model import load_policy

WOOD = np.array([190, 110, 70])
HUES = ["ff0000", "00ff00", "0000ff", "ffff00", "ff00ff", "00ffff", "800000", "008080", "000000"]
NINE = [tuple(bytes.fromhex(hue)) for hue in HUES]


def picture(
    chance: np.random.Generator, *cubes: tuple[tuple[int, ...], tuple[int, int]], side: int = 5
) -> torch.Tensor:
    """(3, 128, 128): wood with its grain, and cubes, each a color and where its corner is, (x, y)."""
    shown = WOOD + chance.normal(0, 12, (128, 128, 1)) + chance.normal(0, 2, (128, 128, 3))
    for color, (x, y) in cubes:
        shown[y : y + side, x : x + side] = color
    return torch.from_numpy(shown.clip(0, 255)).float().permute(2, 0, 1)


def maps_of(*pictures: torch.Tensor) -> torch.Tensor:
    """(N, 1, COLORS, 16, 16)."""
    return colors(torch.stack(pictures))[:, None]


def found_at(cue: torch.Tensor, scene: torch.Tensor) -> np.ndarray:
    """Where a match that asks for the only keyframe says that it is, px."""
    match = Match(slots=2, views=1, asked=1, side=16)
    kept = torch.stack([stand_out(maps_of(cue))[0], torch.zeros(KEPT)])[None]
    with torch.inference_mode():
        told = match(kept, torch.tensor([[1.0, 0.0]]), maps_of(scene), torch.zeros(1, 1))
    return (told[0, :2].numpy() + 1) / 2 * 124 + 2  # centres of patches of 4 px


@given(st.integers(0, 2**31), st.permutations(range(9)))
def test_of_nine_colors_that_of_the_keyframe_is_found(seed: int, order: list[int]) -> None:
    chance = np.random.default_rng(seed)
    places = [(int(12 + 12 * i + chance.integers(3)), int(chance.integers(60, 110))) for i in range(9)]
    scene = picture(chance, *((NINE[color], place) for color, place in zip(order, places, strict=True)))
    cue = picture(chance, (NINE[order[0]], (int(chance.integers(120)), int(chance.integers(120)))))
    assert np.abs(found_at(cue, scene) - (np.array(places[0]) + 2)).max() < 4


def test_a_picture_of_one_color_has_nothing_that_stands_out() -> None:
    told = colors(torch.full((1, 3, 64, 64), 90.0))
    assert told.shape == (1, COLORS, 8, 8)
    assert told.isfinite().all()
    novelty = told.view(1, KEPT, 4, 8, 8)[:, 3]
    assert novelty.abs().max() < 1e-3


def test_of_no_keyframe_nothing_is_found() -> None:
    match = Match(slots=3, views=2, asked=1, side=4)
    told = match(torch.randn(1, 3, 2 * KEPT), torch.zeros(1, 3), torch.randn(1, 2, COLORS, 4, 4), torch.zeros(1, 1))
    assert told.shape == (1, match.numbers)
    assert (told == 0).all()


@pytest.mark.nightly
def test_it_learns_to_ask_for_the_keyframe_that_the_number_of_them_points_to() -> None:
    chance = np.random.default_rng(0)
    match = Match(slots=4, views=1, asked=1, side=16)
    place = torch.nn.Linear(match.numbers, 2)
    optimizer = torch.optim.Adam([*match.parameters(), *place.parameters()], lr=0.03)
    off = torch.tensor(1.0)
    for _ in range(100):
        shown, kept, there, wanted = [], [], [], []
        for _ in range(16):
            three = chance.choice(9, 3, replace=False)
            spots = [(int(8 + 40 * i + chance.integers(20)), int(chance.integers(20, 110))) for i in range(3)]
            shown.append(picture(chance, *((NINE[c], spot) for c, spot in zip(three, spots, strict=True))))
            cues = [stand_out(maps_of(picture(chance, (NINE[c], (60, 60)))))[0] for c in three]
            asked = int(chance.integers(3))
            kept.append(torch.stack([*cues, torch.zeros(KEPT)]))
            there.append([1.0] * (asked + 1) + [0.0] * (3 - asked))
            wanted.append(spots[asked])
        told = place(match(torch.stack(kept), torch.tensor(there), maps_of(*shown), torch.zeros(16, 1)))
        off = (told - torch.tensor(wanted) / 64 + 1).abs().mean()
        optimizer.zero_grad()
        off.backward()
        optimizer.step()
    assert off < 0.15  # of -1 to 1


@pytest.fixture(scope="module")
def run(few_plans: Path, tmp_path_factory: pytest.TempPathFactory) -> PolicyRun:
    return train_policy(tmp_path_factory.mktemp("run"), [few_plans], replace(BRIEF, colors=True), CPU)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_its_model_sees_and_remembers_as_its_networks(run: PolicyRun, precision: str, tmp_path: Path) -> None:
    release_policy(run, tmp_path, "mine", precision)
    model, (stem, policy, _) = load_policy(tmp_path, "mine"), trained_policy(run)
    pictures = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3)).astype(np.uint8)
    (maps,) = open_session(model.stem, "cpu").run(None, {"pictures": pictures})
    state = np.zeros((1, policy.sizes.state), np.float32)
    (kept,) = open_session(model.memory, "cpu").run(None, {"maps": maps[None], "state": state})
    with torch.inference_mode():
        seen = stem(torch.from_numpy(pictures))
        wanted = policy.memory(torch.from_numpy(maps)[None], torch.from_numpy(state))
    np.testing.assert_allclose(maps[:, -COLORS:], seen[:, -COLORS:].numpy(), atol=1e-3)  # no 8 bits for colors
    np.testing.assert_allclose(kept, wanted.numpy(), atol=2e-3)
    again = trained_policy(restored_run(tmp_path, "mine", tmp_path / "again"))[1].state_dict()
    for name, weights in policy.state_dict().items():
        torch.testing.assert_close(again[name], weights, rtol=1e-3, atol=1e-5, msg=name)


def test_colors_need_the_order_of_keyframes() -> None:
    with pytest.raises(ConfigError, match="place in the order"):
        load_policy_config(None, {"colors": "true", "structured": "false"})


def test_a_run_with_colors_is_no_beginning_for_one_without(run: PolicyRun, few_plans: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has colors True, not False: set it so"):
        train_policy(tmp_path, [few_plans], BRIEF, CPU, init=run)
