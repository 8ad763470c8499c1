"""ACT policies of LeRobot's: what is read of their files, what is refused, and that ours act as LeRobot's own."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from act_files import PANDA_LIKE, PIPER_LIKE, STATELESS, VARIANTS, seen, write_act
from hypothesis import given
from hypothesis import strategies as st
from nightly import at_night
from safetensors.numpy import load_file, save_file

from kc_vla.cli import main
from kc_vla.learning.act.checkpoint import read_checkpoint
from kc_vla.learning.act.export import export_act
from kc_vla.learning.act.network import ActingPolicy
from kc_vla.policy.act import EXPORTED, policy_folder, read_config
from kc_vla.policy.interface import PolicyError

LEROBOT = Path(__file__).parent / "data/act_chunks.npz"
"""What LeRobot 0.4.4 made of `seen(variant, 0)` and `seen(variant, 1)` of each variant; test_lerobot.py makes them."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy of the kind `piper_like`, to be spoilt in copies."""
    return write_act(tmp_path_factory.mktemp("act"), PIPER_LIKE)


@pytest.fixture
def spoilt(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "act"))


def changed(folder: Path, name: str, **entries: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))
    return folder


@pytest.mark.parametrize("name", ["piper_like", *at_night("stateless", "panda_like")])
def test_the_exported_policy_acts_as_lerobots_own(tmp_path: Path, name: str) -> None:
    variant = VARIANTS[name]
    path, about = export_act(write_act(tmp_path, variant))
    session = onnxruntime.InferenceSession(str(path))
    wanted = np.load(LEROBOT)[name]
    for number, chunk in enumerate(wanted):
        given = seen(variant, number)
        feed = {f"picture{place}": given[key] for place, key in enumerate(about.cameras)}
        if about.state:
            feed["state"] = given["observation.state"]
        np.testing.assert_allclose(session.run(None, feed)[0], chunk, atol=1e-5)
    assert np.abs(wanted[0] - wanted[1]).max() > 0.01  # it does look


@pytest.mark.nightly
def test_a_camera_that_the_data_call_otherwise_keeps_their_name(tmp_path: Path) -> None:
    _, about = export_act(write_act(tmp_path, STATELESS))
    assert dict(about.cameras) == {"observation.images.third_person": (64, 96)}


def test_the_shell_says_what_goes_in_and_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_act(tmp_path / "run/pretrained_model", PANDA_LIKE)
    assert main(["export", "act", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "observation.images.image (64 x 64) and a state of 8 numbers, gives 10 actions of 7 numbers" in said
    assert f"policy:=lerobot checkpoint:={folder}" in said


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"type": "diffusion"}, "a 'diffusion' policy: of LeRobot's policies this stack runs act, and no other"),
        ({"type": None}, "names no type of a policy"),
        ({"vision_backbone": "resnet34"}, "only a plain resnet18 is known"),
        ({"n_obs_steps": 2}, "looks at 2 moments"),
        ({"chunk_size": 0}, "chunk_size is 0: a whole number from 1 to 2000"),
        ({"chunk_size": True}, "chunk_size is True"),
        ({"n_action_steps": 21}, "n_action_steps is 21, more than the 20"),
        ({"dim_model": 30}, "a multiple of 4 and of the 4 heads"),
        ({"feedforward_activation": "glu"}, "activation glu is not known"),
        ({"normalization_mapping": {"STATE": "MAGIC"}}, "normalisation MAGIC is not known"),
        ({"input_features": {}}, "looks at 0 cameras"),
        (
            {"input_features": {"observation.environment_state": {"type": "ENV", "shape": [3]}}},
            "does not tell a policy",
        ),
        ({"input_features": {"observation.images.a": {"type": "VISUAL", "shape": [1, 8, 8]}}}, "3 color channels"),
        ({"output_features": {}}, "gives nothing: one output 'action' is wanted"),
        ({"normalization_mapping": None}, "is not understood"),
    ],
)
def test_a_configuration_that_is_not_known_is_told_in_a_line(spoilt: Path, entries: dict, said: str) -> None:
    with pytest.raises(PolicyError, match=said) as caught:
        read_config(changed(spoilt, "config.json", **entries))
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 9000) | st.floats() | st.sampled_from(["act", "resnet18", "VISUAL"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "shape", "x"]), inner),
    max_leaves=6,
)


@pytest.mark.nightly
@given(st.dictionaries(st.sampled_from(["type", "chunk_size", "n_heads", "input_features", "output_features"]), JSON))
def test_no_configuration_does_harm(written: Path, tmp_path_factory: pytest.TempPathFactory, entries: dict) -> None:
    folder = tmp_path_factory.mktemp("any")
    shutil.copy(written / "config.json", folder)
    try:
        read_config(changed(folder, "config.json", **entries))
    except PolicyError as error:
        assert "\n" not in str(error)  # noqa: PT017


def _weights(folder: Path, **entries: np.ndarray) -> None:
    path = folder / "model.safetensors"
    save_file(load_file(path) | {name.replace("__", "."): values for name, values in entries.items()}, path)


def _shortened(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:10_000])


def _without_a_weight(folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["model.action_head.bias"]
    save_file(weights, path)


def _step(folder: Path, name: str) -> None:
    path = folder / "policy_preprocessor.json"
    content = json.loads(path.read_text())
    changed(folder, path.name, steps=[{"registry_name": name, "config": {}}, *content["steps"]])


def _statistics(folder: Path, **entries: np.ndarray) -> None:
    path = folder / "policy_preprocessor_step_3_normalizer_processor.safetensors"
    kept = {name: values for name, values in load_file(path).items() if not name.startswith("observation.state")}
    save_file(kept | {f"observation.state.{name}": values for name, values in entries.items()}, path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_shortened, "model.safetensors cannot be read, get it again"),
        (lambda f: (f / "model.safetensors").unlink(), "is missing: copy the whole folder"),
        (_without_a_weight, "the weights lack action_head.bias: they are not those of its config.json"),
        (lambda f: _weights(f, model__extra=np.zeros(2, np.float32)), "the weights have extra"),
        (lambda f: _weights(f, model__action_head__bias=np.zeros(9, np.float32)), r"is \(9,\), its config.json means"),
        (lambda f: _weights(f, model__action_head__bias=np.full(7, np.nan, np.float32)), "is not finite"),
        (lambda f: (f / "policy_preprocessor.json").unlink(), "policy_preprocessor.json is missing"),
        (lambda f: (f / "policy_postprocessor.json").write_text("[]"), "is not understood"),
        (lambda f: _step(f, "tokenizer_processor"), "has the step tokenizer_processor, known are"),
        (
            lambda f: _statistics(f, mean=np.zeros(7, np.float32)),
            "normalised by MEAN_STD, and its statistics have no std",
        ),
        (lambda f: _statistics(f, mean=np.zeros(3, np.float32), std=np.ones(3, np.float32)), "its statistics have 3"),
        (lambda f: _statistics(f, mean=np.full(7, np.inf, np.float32), std=np.ones(7, np.float32)), "are not finite"),
    ],
)
def test_files_that_are_damaged_are_told_in_a_line(spoilt: Path, spoil, said: str) -> None:
    spoil(spoilt)
    with pytest.raises(PolicyError, match=said) as caught:
        ActingPolicy(read_checkpoint(spoilt))
    assert "\n" not in str(caught.value)


def test_a_file_that_leads_out_of_the_folder_is_not_read(spoilt: Path) -> None:
    steps = json.loads((spoilt / "policy_postprocessor.json").read_text())["steps"]
    steps[0]["state_file"] = "../elsewhere.safetensors"
    with pytest.raises(PolicyError, match="leads out of"):
        read_checkpoint(changed(spoilt, "policy_postprocessor.json", steps=steps))


def test_a_policy_from_before_its_processors_says_how_to_get_on(spoilt: Path) -> None:
    _weights(spoilt, normalize_inputs__buffer_observation_state__mean=np.zeros(7, np.float32))
    (spoilt / "policy_preprocessor.json").unlink()
    with pytest.raises(PolicyError, match=r"from before LeRobot 0\.4.*migrate_policy_normalization"):
        read_checkpoint(spoilt)


def test_nothing_is_left_of_an_export_that_failed(spoilt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _without_a_weight(spoilt)
    assert main(["export", "act", str(spoilt)]) == 1
    assert capsys.readouterr().err.startswith("kc-vla export: the weights lack action_head.bias")
    assert not list(spoilt.glob(f"*{EXPORTED}*"))


def test_a_folder_without_a_policy_is_told(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"no policy in .*: name the folder of LeRobot's config\.json"):
        policy_folder(tmp_path)
