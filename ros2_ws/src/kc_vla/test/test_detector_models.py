"""A model that is none of a detector, and data sets that are damaged: one clear line each."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from drawn_detections import WORDS, write_drawn
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.datasets.detections.folder import read_images, writing_scenes
from kc_vla.datasets.detections.scene_file import read_labels
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.inference.models import register, shipped_models
from kc_vla.learning.detector.networks import DetectorNetwork
from kc_vla.learning.detector.release import export_detector
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.decoding import overlap
from kc_vla.perception.detectors import DETECTORS, DetectorError, open_detector
from kc_vla.perception.letterbox import letterboxed
from kc_vla.perception.vocabulary import DetectionVocabulary, vocabulary_from


def models_with(folder: Path, network: Path, words: DetectionVocabulary = WORDS, size: int = 64) -> dict[str, object]:
    """Put a file into a registry as a detector; return the options that choose it."""
    folder.mkdir(exist_ok=True)
    shutil.copyfile(network, folder / "network.onnx")
    settings = {"image_size": size, "vocabulary": words.as_dict()}
    entry = {"kind": "detector", "settings": settings, "source": {}, "metrics": {}}
    register(folder, "mine", entry, {"network": "network.onnx"})
    return {"models_folder": str(folder), "model": "mine", "device": "cpu"}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "network.onnx"
    export_detector(DetectorNetwork(WORDS, "tiny"), WORDS, 64, path)
    return path


def test_the_table_has_the_learned_detector(network: Path, tmp_path: Path) -> None:
    assert "learned" in DETECTORS.names()
    open_detector("learned", models_with(tmp_path / "models", network)).close()
    with pytest.raises(DetectorError, match="threshold"):
        open_detector("learned", {"threshold": 1.5})


def test_the_file_of_another_model_is_refused(tmp_path: Path) -> None:
    options = models_with(tmp_path / "models", shipped_models() / "policy" / "memory.onnx")
    with pytest.raises(DetectorError, match=r"is no detector of 64 px .* export it anew"):
        open_detector("learned", options)


def test_a_detector_of_another_size_or_with_other_words_is_refused(network: Path, tmp_path: Path) -> None:
    with pytest.raises(DetectorError, match="is no detector of 96 px"):
        open_detector("learned", models_with(tmp_path / "a", network, size=96))
    more = replace(WORDS, colors=("red", "blue", "green"))
    with pytest.raises(DetectorError, match="is no detector of 64 px"):
        open_detector("learned", models_with(tmp_path / "b", network, more))
    turned = replace(WORDS, types=("box", "ball"))
    with pytest.raises(DetectorError, match="finds ball,box, and its registry says box,ball"):
        open_detector("learned", models_with(tmp_path / "c", network, turned))


def test_a_file_that_is_cut_off_is_refused(network: Path, tmp_path: Path) -> None:
    options = models_with(tmp_path / "models", network)
    stored = tmp_path / "models" / "network.onnx"
    stored.write_bytes(stored.read_bytes()[:-200])
    with pytest.raises(DetectorError, match="is not the file that the registry names"):
        open_detector("learned", options)
    cut = tmp_path / "cut.onnx"
    cut.write_bytes(network.read_bytes()[: network.stat().st_size // 2])
    with pytest.raises(DetectorError, match="cannot be loaded as an ONNX model"):
        open_detector("learned", models_with(tmp_path / "again", cut))


def test_weights_that_are_no_numbers_are_reported(network: Path, tmp_path: Path) -> None:
    model = onnx.load(str(network))
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) == 4:
            values = np.full(tuple(tensor.dims), np.nan, np.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
    broken = tmp_path / "broken.onnx"
    onnx.save(model, str(broken))
    write_drawn(tmp_path / "train", range(10_000, 10_001))
    image = read_images([tmp_path / "train"]).images[0]
    from kc_vla.learning.detector.report import camera_frame

    detector = open_detector("learned", models_with(tmp_path / "models", broken))
    with pytest.raises(DetectorError, match="no finite numbers"):
        detector.detect(camera_frame(image, image.pixels()))


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    write_drawn(tmp_path / "train", range(10_000, 10_003))
    images = read_images([tmp_path / "train"])
    assert images.vocabulary == WORDS
    assert len(images.images) == 12
    for each in images.images:
        thing = each.label.objects[0]
        x, y = (int(value) for value in thing.center)
        assert each.pixels().shape == (64, 64, 3)
        assert each.depth()[y, x] == pytest.approx(thing.surface_m, abs=6e-4)
        assert each.pixels()[0, 0].std() == 0, "the table is gray: red and blue are not exchanged"


def test_a_scene_that_is_cut_off_is_reported_and_can_be_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "train"
    write_drawn(folder, range(10_000, 10_002))
    scene = folder / "scene_010001.zip"
    whole = scene.read_bytes()
    scene.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataSetError, match=r"scene_010001.zip cannot be read .* delete it and collect again"):
        read_images([folder])
    scene.unlink()
    write_drawn(folder, range(10_000, 10_002))
    assert scene.read_bytes() == whole


def test_an_image_that_is_damaged_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "train"
    write_drawn(folder, range(10_000, 10_001))
    image = read_images([folder]).images[1]
    data = bytearray(image.scene.read_bytes())
    at = data.find(b"001.png") + 200
    data[at : at + 20] = bytes(20)
    image.scene.write_bytes(bytes(data))
    with pytest.raises(DataSetError, match=r"scene_010000.zip: 001.png cannot be read"):
        image.pixels()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"object_type": "toaster"}, "is of the type 'toaster', which the vocabulary does not have"),
        ({"color": "mauve"}, "has the color 'mauve'"),
        ({"states": {"door": "ajar"}}, "is 'ajar', a state that a .* cannot be in"),
        ({"position": [0.0, "far", 1.0]}, "a label is damaged"),
    ],
)
def test_a_label_that_the_vocabulary_does_not_know_is_reported(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    folder = tmp_path / "train"
    write_drawn(folder, range(10_000, 10_001), images=1)
    scene = folder / "scene_010000.zip"
    with zipfile.ZipFile(scene) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    label = json.loads(files["images.jsonl"])
    label["objects"][0] |= change
    files["images.jsonl"] = json.dumps(label).encode()
    with zipfile.ZipFile(scene, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    with pytest.raises(DataSetError, match=f"scene_010000.zip: .*{message}"):
        read_labels(scene, WORDS)


def test_a_folder_of_something_else_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"holds no scenes .* kc-vla collect --detections"):
        read_images([tmp_path])
    write_drawn(tmp_path / "train", range(10_000, 10_001))
    with (
        pytest.raises(DataSetError, match="was begun with"),
        writing_scenes(tmp_path / "train", {"split": "test"}, WORDS),
    ):
        pass


def test_a_vocabulary_that_is_damaged_is_refused() -> None:
    values = WORDS.as_dict()
    assert vocabulary_from(values) == WORDS
    for change in ({"types": ["ball", "ball"]}, {"groups": {"mug": ["door"]}}, {"groups": {"ball": ["lid"]}}):
        with pytest.raises(ValueError, match="vocabulary"):
            vocabulary_from(values | change)
    with pytest.raises(ValueError, match="damaged"):
        vocabulary_from({"types": ["ball"]})


@given(width=st.integers(8, 900), height=st.integers(8, 900), at=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_a_place_in_the_square_is_that_place_in_the_image(width: int, height: int, at: tuple[float, float]) -> None:
    square, placed = letterboxed(np.zeros((height, width, 3), np.uint8), 64)
    assert square.shape == (64, 64, 3)
    x, y = at[0] * width, at[1] * height
    inside = placed.left + placed.scale * x, placed.top + placed.scale * y
    assert placed.point(*inside) == pytest.approx((x, y), abs=1e-6)
    assert -0.5 <= inside[0] <= 64.5
    assert -0.5 <= inside[1] <= 64.5
    cut = placed.box(-100.0, -100.0, 200.0, 200.0)
    assert cut == pytest.approx((0, 0, width, height), abs=1e-6)


@given(st.lists(st.floats(0, 50), min_size=8, max_size=8))
def test_overlap_is_a_share_and_the_same_both_ways(sides: list[float]) -> None:
    one = PixelBox(sides[0], sides[1], sides[0] + sides[2] + 1, sides[1] + sides[3] + 1)
    other = PixelBox(sides[4], sides[5], sides[4] + sides[6] + 1, sides[5] + sides[7] + 1)
    assert 0 <= overlap(one, other) <= 1
    assert overlap(one, other) == pytest.approx(overlap(other, one))
    assert overlap(one, one) == pytest.approx(1)
