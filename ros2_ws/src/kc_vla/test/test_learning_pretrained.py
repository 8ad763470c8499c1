"""What a registry's model holds, as networks that learn on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from chance_model import SIZE, WINDOW, write_chance_model
from onnx import numpy_helper

from kc_vla.core.tasks import TASKS
from kc_vla.inference.models import ModelError, shipped_models
from kc_vla.keyframes.image_crop import Picture
from kc_vla.keyframes.learned import SelectorNetwork
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import LearningError
from kc_vla.learning.selector.export import export_head
from kc_vla.learning.selector.features import trunk_features
from kc_vla.learning.selector.networks import QueryHead
from kc_vla.learning.selector.pretrained import Pretrained, find_pretrained

MODEL = "keyframe_selector"
TASK_NAMES, PHASES = sorted(TASKS), 8


def smooth(number: int, size: int) -> list[Picture]:
    """Pictures of coloured patches."""
    coarse = np.random.default_rng(0).integers(0, 256, (number, 4, 4, 3)).astype(np.uint8)
    return [np.kron(picture, np.ones((size // 4, size // 4, 1), np.uint8)) for picture in coarse]


def scores(head: QueryHead, features: np.ndarray, task: int, phase: int) -> np.ndarray:
    index = torch.full((len(features),), task), torch.full((len(features),), phase)
    with torch.inference_mode():
        return torch.sigmoid(head.eval()(torch.from_numpy(features), *index)).numpy()


@pytest.fixture(scope="module", params=["shipped, 8 bits", "float32"])
def pretrained(request, tmp_path_factory) -> Pretrained:
    if request.param == "float32":
        return find_pretrained(write_chance_model(tmp_path_factory.mktemp("chance")), MODEL, "trunk,head")
    return find_pretrained(shipped_models(), MODEL, "trunk,head")


def test_the_trunk_computes_as_the_models(pretrained):
    model = pretrained.model
    pictures = smooth(8, model.image_size)
    ours = trunk_features(pretrained.trunk(pictures), pictures, Device("cpu"))
    theirs = SelectorNetwork(model, "cpu").features(np.stack(pictures))
    cosine = (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    assert cosine.min() > 0.95  # its activations have 8 bits too


def test_the_head_computes_as_the_models(pretrained):
    model = pretrained.model
    head = QueryHead(len(TASK_NAMES), PHASES, model.window)
    pretrained.give_head(head, TASK_NAMES)
    features = np.random.default_rng(1).normal(1, 1, (5, model.window, 512)).astype(np.float32)
    network = SelectorNetwork(model, "cpu")
    for task, name in enumerate(TASK_NAMES):
        if name not in model.tasks:  # of the shipped models, which know those that there were when they were trained
            continue
        np.testing.assert_allclose(scores(head, features, task, 1), network.scores(features, name, 1), atol=1e-4)


def test_tasks_are_found_by_their_names(tmp_path):
    found = find_pretrained(write_chance_model(tmp_path), MODEL, "head")
    other = Pretrained(replace(found.model, tasks=(*TASK_NAMES[1:], "of another robot")), ("head",))
    one, two, fresh = (QueryHead(len(TASK_NAMES), PHASES, WINDOW) for _ in range(3))
    found.give_head(one, TASK_NAMES)
    two.load_state_dict(fresh.state_dict())
    other.give_head(two, TASK_NAMES)
    assert torch.equal(two.task.weight[1], one.task.weight[0])
    assert torch.equal(two.task.weight[0], fresh.task.weight[0])  # a task that the model does not know


def test_phases_beyond_the_models_are_those_of_chance(tmp_path):
    found = find_pretrained(write_chance_model(tmp_path), MODEL, "head")
    one, more = QueryHead(len(TASK_NAMES), PHASES, WINDOW), QueryHead(len(TASK_NAMES), 12, WINDOW)
    fresh = more.phase.weight[PHASES:].clone()
    found.give_head(one, TASK_NAMES)
    found.give_head(more, TASK_NAMES)
    assert torch.equal(more.phase.weight[:5], one.phase.weight[:5])
    assert torch.equal(more.phase.weight[PHASES:], fresh)


def test_settings_follow_the_parts_that_are_taken(tmp_path):
    write_chance_model(tmp_path)
    assert find_pretrained(tmp_path, MODEL, "trunk").settings() == {"image_size": SIZE}
    assert find_pretrained(tmp_path, MODEL, "head, trunk").settings() == {
        "image_size": SIZE,
        "window": WINDOW,
        "stride": 1,
    }


def test_what_does_not_fit_is_told(tmp_path: Path):
    write_chance_model(tmp_path)
    with pytest.raises(LearningError, match="bad --init-parts 'tail': choose of trunk,head"):
        find_pretrained(tmp_path, MODEL, "tail")
    with pytest.raises(ModelError, match="no model 'other'"):
        find_pretrained(tmp_path, "other", "trunk")
    found = find_pretrained(tmp_path, MODEL, "trunk,head")
    with pytest.raises(LearningError, match="sees 3 frames: take --set window=3, or --init-parts trunk"):
        found.give_head(QueryHead(len(TASK_NAMES), PHASES, 5), TASK_NAMES)
    swapped = Pretrained(replace(found.model, trunk=found.model.head, head=found.model.trunk), ("trunk", "head"))
    with pytest.raises(LearningError, match=r"head\.onnx holds another network"):
        swapped.trunk(smooth(2, SIZE))
    with pytest.raises(LearningError, match=r"trunk\.onnx holds another network"):
        swapped.give_head(QueryHead(len(TASK_NAMES), PHASES, WINDOW), TASK_NAMES)


def test_weights_that_the_exporter_shares_are_found(tmp_path):
    head = QueryHead(len(TASK_NAMES), PHASES, WINDOW)
    with torch.no_grad():
        head.cross_attention.query.bias.copy_(head.cross_attention.key.bias)
        head.cross_attention.query.weight.copy_(head.cross_attention.key.weight)
    export_head(head, WINDOW, tmp_path / "head.onnx")
    stored = onnx.load(str(tmp_path / "head.onnx")).graph.initializer
    shapes = [numpy_helper.to_array(tensor).shape for tensor in stored]
    assert shapes.count((128, 128)) < 10  # else this test shows nothing
    model = find_pretrained(write_chance_model(tmp_path / "models"), MODEL, "head").model
    again = QueryHead(len(TASK_NAMES), PHASES, WINDOW)
    Pretrained(replace(model, head=tmp_path / "head.onnx"), ("head",)).give_head(again, TASK_NAMES)
    assert all(torch.equal(a, b) for a, b in zip(head.state_dict().values(), again.state_dict().values(), strict=True))
