"""A released policy's weights learn on without the run that made them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn_plans import BRIEF, CPU, SMALL

from kc_vla.cli import main
from kc_vla.inference.models import find_model, register, shipped_models
from kc_vla.inference.onnx_sessions import open_session
from kc_vla.learning.common.errors import DataError, TrainingRunError
from kc_vla.learning.policy.release import release_policy
from kc_vla.learning.policy.restoring import restored_run
from kc_vla.learning.policy.run import PolicyRun, trained_policy
from kc_vla.learning.policy.training import train_policy
from kc_vla.policy.model import KIND


@pytest.fixture(scope="module")
def run(few_plans: Path, tmp_path_factory: pytest.TempPathFactory) -> PolicyRun:
    return train_policy(tmp_path_factory.mktemp("run"), [few_plans], BRIEF, CPU)


@pytest.fixture(scope="module")
def models(run: PolicyRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    release_policy(run, folder, "mine", "fp32")
    release_policy(run, folder, "small", "int8")
    return folder


def check_same(run: PolicyRun, again: PolicyRun) -> None:
    """The same networks, to the digits that a model keeps."""
    (stem, policy, scale), (other_stem, other, other_scale) = trained_policy(run), trained_policy(again)
    for (name, weights), found in zip(policy.state_dict().items(), other.state_dict().values(), strict=True):
        if name != "situation.order" or policy.sizes.structured:
            torch.testing.assert_close(found, weights, rtol=1e-3, atol=1e-5, msg=lambda text, n=name: f"{n}: {text}")
    np.testing.assert_allclose(other_scale.spread, scale.spread, rtol=1e-6)
    np.testing.assert_allclose(other_scale.highest, scale.highest, rtol=1e-6)
    np.testing.assert_allclose(other_scale.lowest, scale.lowest, rtol=1e-6)
    pictures = torch.randint(0, 256, (2, SMALL.image_size, SMALL.image_size, 3), dtype=torch.uint8)
    torch.testing.assert_close(other_stem(pictures), stem(pictures), rtol=0.01, atol=0.01)


@pytest.mark.nightly
def test_a_model_has_the_weights_of_its_run(run: PolicyRun, models: Path, tmp_path: Path) -> None:
    check_same(run, restored_run(models, "mine", tmp_path))


@pytest.mark.nightly
def test_so_has_one_that_condenses_and_is_not_told_which_keyframe_is_which(few_plans: Path, tmp_path: Path) -> None:
    run = train_policy(tmp_path / "run", [few_plans], replace(BRIEF, condensed=True, structured=False), CPU)
    release_policy(run, tmp_path, "mine", "fp32")
    check_same(run, restored_run(tmp_path, "mine", tmp_path / "again"))


@pytest.mark.nightly  # what 8 bits cost a policy: test_learning_policy.py
def test_eyes_of_eight_bits_are_as_near_as_these_come(run: PolicyRun, models: Path, tmp_path: Path) -> None:
    stem, near = (trained_policy(each)[0] for each in (run, restored_run(models, "small", tmp_path)))
    pictures = torch.randint(0, 256, (2, SMALL.image_size, SMALL.image_size, 3), dtype=torch.uint8)
    assert (near(pictures) - stem(pictures)).abs().mean() < 0.1 * stem(pictures).abs().mean()


def test_the_policy_that_comes_with_the_stack_acts_the_same_when_it_was_restored(tmp_path: Path) -> None:
    run = restored_run(shipped_models(), "policy", tmp_path / "run")
    release_policy(run, tmp_path, "again", "fp32")
    chance, outputs = np.random.default_rng(0), []
    given = {}
    for models, name in ((shipped_models(), "policy"), (tmp_path, "again")):
        session = open_session(find_model(models, name, KIND).files["chunk"], "cpu")
        given = given or {
            end.name: np.ones(end.shape, np.int64)
            if "int64" in end.type
            else chance.normal(size=end.shape).astype(np.float32)
            for end in session.get_inputs()
        }
        outputs.append(session.run(None, given))
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_fresh_policy_can_have_the_eyes_of_the_one_that_comes_with_the_stack(few_plans: Path, tmp_path: Path) -> None:
    fresh = train_policy(tmp_path / "run", [few_plans], replace(BRIEF, init="shipped"), CPU)
    shipped = restored_run(shipped_models(), "policy", tmp_path / "shipped")
    (stem, _, _), (other, _, _) = trained_policy(fresh), trained_policy(shipped)
    pictures = torch.rand(1, 3, SMALL.image_size, SMALL.image_size)
    torch.testing.assert_close(stem.layers(pictures), other.layers(pictures), rtol=0, atol=0)
    assert stem.reduce.weight.shape[0] == SMALL.channels  # of its own pictures


@pytest.mark.nightly
def test_a_training_begins_with_a_model_by_its_name(
    run: PolicyRun, models: Path, few_plans: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "train",
        "policy",
        "--data",
        str(few_plans),
        "--models",
        str(models),
        "--device",
        "cpu",
        "--precision",
        "fp32",
    ]
    changed = {name: value for name, value in vars(BRIEF).items() if value != getattr(type(BRIEF)(), name)}
    del changed["init"]
    words += [word for name, value in changed.items() for word in ("--set", f"{name}={value}")]
    words += ["--set", "learning_rate=1e-9", "--output", str(tmp_path / "run")]
    assert main([*words, "--init", "mine"]) == 0, capsys.readouterr().err
    check_same(run, PolicyRun(tmp_path / "run"))
    assert PolicyRun(tmp_path / "run").config.init == run.config.init  # where what looks at the pictures came from
    assert main([*words, "--init", "mine"]) == 0  # it goes on
    assert "; 0 computed" in capsys.readouterr().out  # the maps of its pictures were kept
    capsys.readouterr()
    assert main([*words, "--init", "yours"]) == 1
    assert "no model 'yours' in" in capsys.readouterr().err


def test_another_model_under_its_name_does_not_go_on_with_the_run(models: Path, tmp_path: Path) -> None:
    restored_run(models, "mine", tmp_path)
    with pytest.raises(TrainingRunError, match="model: mine there, small here"):
        restored_run(models, "small", tmp_path)


def test_other_networks_are_told_in_a_line(models: Path, tmp_path: Path) -> None:
    entry = find_model(models, "mine", KIND)
    for name in ("stem", "memory", "chunk"):
        (tmp_path / f"{name}.onnx").write_bytes(entry.files["stem"].read_bytes())
    fields = {"kind": KIND, "settings": entry.settings, "source": entry.source, "metrics": {}}
    register(tmp_path, "odd", fields, {role: f"{role}.onnx" for role in ("stem", "memory", "chunk")})
    with pytest.raises(DataError, match="model 'odd' holds other networks than those of this stack"):
        restored_run(tmp_path, "odd", tmp_path / "run")
    assert not (tmp_path / "run/policy.pt").exists()
