from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kc_vla.inference.models import ModelError, RegisteredModel, find_model, register, require_free
from kc_vla.keyframes.model import selector_from
from kc_vla.perception.detector_model import detector_from
from kc_vla.policy.model import policy_from

ENTRY = {"kind": "keyframe_selector", "settings": {"a": 1}, "source": {}, "metrics": {"f1": 0.98}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "eye").mkdir()
    (tmp_path / "eye" / "trunk.onnx").write_bytes(b"weights")
    register(tmp_path, "eye", ENTRY, {"trunk": "eye/trunk.onnx"})
    return tmp_path


def test_a_registered_model_is_found_again(folder):
    entry = find_model(folder, "eye", "keyframe_selector")
    assert entry.files["trunk"].read_bytes() == b"weights"
    assert entry.metrics == {"f1": 0.98}


def test_another_model_leaves_the_first_as_it_is(folder):
    (folder / "ear.onnx").write_bytes(b"other")
    register(folder, "ear", ENTRY, {"trunk": "ear.onnx"})
    assert find_model(folder, "eye", "keyframe_selector").settings == {"a": 1}


def test_an_unknown_name_is_told_with_those_that_exist(folder):
    with pytest.raises(ModelError, match=r"no model 'nose' .* choose one of eye"):
        find_model(folder, "nose", "keyframe_selector")


def test_a_model_of_another_kind_is_refused(folder):
    with pytest.raises(ModelError, match="is a keyframe_selector, not a policy"):
        find_model(folder, "eye", "policy")


@pytest.mark.parametrize("content", [b"weightz", b"weights and more"])
def test_a_file_that_changed_is_refused(folder, content):
    (folder / "eye" / "trunk.onnx").write_bytes(content)
    with pytest.raises(ModelError, match="is not the file that the registry names"):
        find_model(folder, "eye", "keyframe_selector")


def test_a_file_that_is_gone_is_refused(folder):
    (folder / "eye" / "trunk.onnx").unlink()
    with pytest.raises(ModelError, match="is not there"):
        find_model(folder, "eye", "keyframe_selector")


@pytest.mark.parametrize(
    ("text", "message"),
    [("eye: {kind: [", "is no YAML"), ("- eye", "names no models"), ("eye: {kind: keyframe_selector}", "is damaged")],
)
def test_a_damaged_registry_is_told(folder, text, message):
    (folder / "registry.yaml").write_text(text)
    with pytest.raises(ModelError, match=message):
        find_model(folder, "eye", "keyframe_selector")


@pytest.mark.parametrize("path", ["../trunk.onnx", "/etc/passwd", "eye/../../trunk.onnx", ""])
def test_a_file_outside_the_folder_is_refused(folder, path):
    text = (folder / "registry.yaml").read_text()
    (folder / "registry.yaml").write_text(text.replace("eye/trunk.onnx", f"'{path}'"))
    with pytest.raises(ModelError, match=rf"registry\.yaml: the path '{path}' leads out of"):
        find_model(folder, "eye", "keyframe_selector")


def test_settings_that_two_models_share_can_be_read_again(folder):
    shared = {"size": [224, 224]}
    register(folder, "eye", {**ENTRY, "settings": {"a": shared, "b": shared}}, {"trunk": "eye/trunk.onnx"})
    assert find_model(folder, "eye", "keyframe_selector").settings == {"a": shared, "b": shared}


def test_a_folder_without_a_registry_is_told(tmp_path):
    with pytest.raises(ModelError, match="no models in"):
        find_model(tmp_path, "eye", "keyframe_selector")


def test_the_place_of_a_model_is_not_free_unless_it_is_to_be_replaced(folder):
    with pytest.raises(ModelError, match="has a model 'eye' already: take another --name or folder, or --replace"):
        require_free(folder, "eye", replace=False)
    require_free(folder, "eye", replace=True)
    require_free(folder, "ear", replace=False)
    (folder / "ear").mkdir()  # of which the registry knows nothing
    with pytest.raises(ModelError, match="has a model 'ear' already"):
        require_free(folder, "ear", replace=False)
    with pytest.raises(ModelError, match=r"cannot be called '\.\./eye'"):
        require_free(folder, "../eye", replace=True)


@pytest.mark.parametrize("what", ["file", "folder", "chain"])
def test_links_out_of_a_registry_are_not_followed(tmp_path: Path, what: str) -> None:
    outside, models = tmp_path / "outside", tmp_path / "models"
    for place in (outside, models):
        place.mkdir()
    (outside / "secret.onnx").write_bytes(b"secret")
    (outside / "other").symlink_to(outside / "secret.onnx")
    if what == "folder":
        (models / "a").symlink_to(outside)
    else:
        (models / "a").mkdir()
        (models / "a/secret.onnx").symlink_to(outside / ("other" if what == "chain" else "secret.onnx"))
    register(models, "a", {"kind": "policy", "settings": {}, "source": {}, "metrics": {}}, {"net": "a/secret.onnx"})
    with pytest.raises(ModelError, match="is a link that leads out of"):
        find_model(models, "a", "policy")


def test_links_within_a_registry_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real/a").mkdir(parents=True)
    (tmp_path / "real/a/net.onnx").write_bytes(b"net")
    (tmp_path / "real/a/same.onnx").symlink_to("net.onnx")
    entry = {"kind": "policy", "settings": {}, "source": {}, "metrics": {}}
    register(tmp_path / "real", "a", entry, {"net": "a/same.onnx"})
    assert find_model(tmp_path / "real", "a", "policy").files["net"].read_bytes() == b"net"
    linked = tmp_path / "linked"  # as a workspace is installed by links
    (linked / "a").mkdir(parents=True)
    for name in ("registry.yaml", "a/same.onnx"):
        (linked / name).symlink_to(tmp_path / "real" / name)
    assert find_model(linked, "a", "policy").files["net"].read_bytes() == b"net"


@pytest.mark.parametrize("read", [selector_from, policy_from, detector_from])
@pytest.mark.parametrize(
    "settings", [{}, [], None, {"image_size": "x", "tasks": 3}, {"image_size": 64, "vocabulary": 7}]
)
def test_an_entry_with_damaged_settings_is_one_line_of_any_kind(
    read: Callable[[RegisteredModel], object], settings: Any
) -> None:
    files = dict.fromkeys(("trunk", "head", "stem", "memory", "chunk", "network"), Path("network.onnx"))
    with pytest.raises(ModelError, match="the settings of model 'mine' are damaged") as raised:
        read(RegisteredModel("mine", "any", files, settings, {}, {}))
    assert "\n" not in str(raised.value)
