"""Recall by what units look like: a model of images and sentences, exported to ONNX, in place of words that say it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from kc_vla.memory.embedding.clip import IMAGE_MODEL, TEXT_MODEL, ClipModel, Preparation, open_image_embedder
from kc_vla.memory.embedding.interface import EmbeddingError, Vectors
from kc_vla.memory.embedding.minilm import installed
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.store import CropLimits, CropStore
from kc_vla.memory.recall.answer import RecallAnswer
from kc_vla.memory.recall.recall import Recall
from kc_vla.memory.recall.unit_images import UnitImages
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import Position, Unit

COLOURS = {"red": (220, 30, 30), "green": (30, 180, 30), "blue": (30, 30, 220)}
PREPARATION: dict[str, Any] = {
    "size": {"shortest_edge": 8},
    "crop_size": {"height": 8, "width": 8},
    "do_center_crop": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}


def save(path: Path, nodes: Sequence[Any], given: Sequence[Any], out: str, weights: Sequence[Any] = ()) -> None:
    found = helper.make_tensor_value_info(out, TensorProto.FLOAT, ["n", 3])
    graph = helper.make_graph(list(nodes), "g", list(given), [found], list(weights))
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def write_pair(folder: Path, pixels: str = "pixel_values", length: int | str = "t") -> Path:
    """A pair of encoders: an image is its mean color, a sentence the colors that its words name."""
    image = helper.make_tensor_value_info(pixels, TensorProto.FLOAT, ["n", 3, "h", "w"])
    mean = helper.make_node("ReduceMean", [pixels], ["image_embeds"], axes=[2, 3], keepdims=0)
    save(folder / IMAGE_MODEL, [mean], [image], "image_embeds")
    tokenizer = Tokenizer.from_file(str(installed() / "tokenizer.json"))
    words = np.full((tokenizer.get_vocab_size(), 3), 1e-3, np.float32)
    for name, colour in COLOURS.items():
        words[tokenizer.token_to_id(name)] = (np.array(colour, np.float32) / 255 - 0.5) / 0.5
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", length])
    axes = numpy_helper.from_array(np.array([1], np.int64), "axes")
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["each"]),
        helper.make_node("ReduceSum", ["each", "axes"], ["text_embeds"], keepdims=0),
    ]
    save(folder / TEXT_MODEL, nodes, [ids], "text_embeds", [numpy_helper.from_array(words, "words"), axes])
    shutil.copy(installed() / "tokenizer.json", folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPARATION))
    return folder


def of_colour(name: str, height: int = 40, width: int = 60) -> np.ndarray:
    return np.tile(np.array(COLOURS[name], np.uint8), (height, width, 1))


class Kitchen:
    """Three mugs of which nobody said what color they have, but whose crops show it."""

    def __init__(self, folder: Path, images: bool = True, again_s: float = 30.0) -> None:
        self.memory, self.crops = ShortTermMemory(20), CropStore(None, CropLimits(every_s=0.0))
        self.crops.follow(self.memory)
        self.images = UnitImages(ClipModel(write_pair(folder)), self.crops.read, again_s) if images else None
        self.recall = Recall(self.memory, open_embedder(), images=self.images)
        for at, name in enumerate(COLOURS):
            self.see(f"mug-{at}", name, float(at))

    def see(self, name: str, colour: str, stamp: float) -> None:
        image = self.crops.put(name, of_colour(colour), PixelBox(0, 0, 60, 40), stamp)
        self.memory.observe(Unit("Mug", name, Position(0, 0, 0), stamp, image=image))

    def first(self, text: str) -> str:
        return self.recall.ask(text).found[0].unit.object_id


@pytest.mark.parametrize(("text", "meant"), [("the red mug", 0), ("bring me the green mug", 1), ("a blue mug", 2)])
def test_a_unit_is_found_by_what_its_image_shows(tmp_path: Path, text: str, meant: int) -> None:
    kitchen = Kitchen(tmp_path)
    assert kitchen.first(text) == f"mug-{meant}"
    assert "measured without images" in " ".join(kitchen.recall.ask(text).notes)


def test_without_a_model_of_images_answers_are_those_of_words_alone(tmp_path: Path) -> None:
    def said(answer: RecallAnswer) -> tuple[Any, ...]:
        found = tuple((each.unit.object_id, each.score) for each in answer.found)
        return found, answer.confidence, answer.notes, answer.described

    plain, bare = Kitchen(tmp_path, images=False), Kitchen(tmp_path, images=False)
    for unit in list(bare.memory):
        bare.memory.observe(replace(unit, image=""), whole=True)
    for text in ("the red mug", "something to drink from", "a pillow"):
        assert said(plain.recall.ask(text)) == said(bare.recall.ask(text))
        assert plain.recall.ask(text).notes == ()


def test_a_unit_without_an_image_is_neither_better_nor_worse_for_that(tmp_path: Path) -> None:
    kitchen = Kitchen(tmp_path)
    kitchen.memory.observe(Unit("Mug", "mug-9", Position(0, 0, 0), 0.0))
    kitchen.recall.prepare()
    assert kitchen.images is not None
    units = [*kitchen.memory, None]
    scores = dict(zip(["mug-0", "mug-1", "mug-2", "mug-9", ""], kitchen.images.scores("red", units), strict=True))
    assert scores["mug-9"] == scores[""] == 0
    assert scores["mug-0"] > 0 > min(scores.values())


def test_a_crop_is_embedded_anew_only_after_a_while_and_is_forgotten_with_its_unit(tmp_path: Path) -> None:
    kitchen = Kitchen(tmp_path, again_s=10.0)
    kitchen.recall.prepare()
    kitchen.see("mug-0", "blue", 5.0)
    assert kitchen.first("the red mug") == "mug-0"
    kitchen.see("mug-0", "blue", 10.0)
    kitchen.see("mug-2", "red", 12.5)
    assert kitchen.first("the red mug") == "mug-2"
    assert kitchen.images is not None
    kitchen.memory.refute("mug-2")
    assert len(kitchen.images) == 2
    kitchen.memory.refresh()
    assert len(kitchen.images) == 0


def test_a_crop_that_is_gone_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    kitchen = Kitchen(tmp_path)
    kitchen.crops.clear()
    assert kitchen.recall.ask("the red mug").found
    assert kitchen.images is not None
    assert len(kitchen.images) == 0


class Counted(ClipModel):
    """A model that counts the images that it is given."""

    count = 0

    def embed_images(self, images: Sequence[np.ndarray]) -> Vectors:
        self.count += len(images)
        return super().embed_images(images)


def test_a_question_waits_for_few_images_and_says_so(tmp_path: Path) -> None:
    memory, crops, model = ShortTermMemory(100), CropStore(), Counted(write_pair(tmp_path))
    recall = Recall(memory, open_embedder(), images=UnitImages(model, crops.read))
    for at in range(40):
        image = crops.put(f"mug-{at}", of_colour("red"), PixelBox(0, 0, 60, 40), 0.0)
        memory.observe(Unit("Mug", f"mug-{at}", Position(0, 0, 0), 0.0, image=image))
    assert "some images are not compared yet" in recall.ask("a mug").notes
    assert model.count == 16
    while not recall.prepare(4):
        pass
    assert "some images are not compared yet" not in recall.ask("a mug").notes
    assert model.count == 40


@given(
    height=st.integers(1, 200),
    width=st.integers(1, 200),
    square=st.booleans(),
)
@tried(60, 600)
def test_images_of_any_size_become_inputs_of_one_size(height: int, width: int, square: bool) -> None:
    prepared = Preparation((8, 8) if square else None, 0 if square else 12, (8, 8), (0.5,) * 3, (0.25,) * 3)
    given = prepared(of_colour("red", height, width))
    assert given.shape == (3, 8, 8)
    assert given.mean(axis=(1, 2)) == pytest.approx((np.array(COLOURS["red"]) / 255 - 0.5) / 0.25, abs=1e-4)


def test_the_middle_of_an_image_is_what_counts(tmp_path: Path) -> None:
    wide = np.concatenate([of_colour("red", 40, 30), of_colour("blue", 40, 40), of_colour("red", 40, 30)], axis=1)
    model = ClipModel(write_pair(tmp_path))
    vectors = model.embed_images([wide, of_colour("blue"), of_colour("red")])
    assert vectors[0] @ vectors[1] > 0.99
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert model.embed([]).shape == model.embed_images([]).shape == (0, 0)


def test_a_model_for_sentences_of_one_length_gets_them(tmp_path: Path) -> None:
    model = ClipModel(write_pair(tmp_path, length=12))
    red, blue = model.embed(["a red mug", "blue " * 50])
    assert red @ model.embed_images([of_colour("red")])[0] > 0.9
    assert blue @ model.embed_images([of_colour("blue")])[0] > 0.9


def test_a_folder_is_taken_by_its_hashes_and_not_with_others(tmp_path: Path) -> None:
    write_pair(tmp_path)
    digests = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in (IMAGE_MODEL, TEXT_MODEL)]
    assert open_image_embedder(f"{tmp_path}#{'+'.join(digests)}").embed(["red"]).shape == (1, 3)
    assert open_image_embedder(str(tmp_path)).embed(["red"]).shape == (1, 3)
    for hashes, why in (
        ("+".join(digests[::-1]), "another than was named"),
        (digests[0], "give both hashes"),
        ("+".join([digests[0], "0" * 64]), "another than was named"),
    ):
        with pytest.raises(EmbeddingError, match=why):
            open_image_embedder(f"{tmp_path}#{hashes}")
    with pytest.raises(EmbeddingError, match=r"SHA256\+SHA256 of onnx/vision_model\.onnx and"):
        open_image_embedder(f"hub:someone/clip@{'0' * 40}#{'0' * 64}")


def prepared_as(folder: Path, **changed: Any) -> None:
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPARATION | changed))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / IMAGE_MODEL).unlink(), "is missing"),
        (lambda folder: (folder / TEXT_MODEL).write_bytes(b"nothing"), "cannot be loaded"),
        (lambda folder: write_pair(folder, pixels="frames"), "no exported CLIP model"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "cannot be read"),
        (lambda folder: (folder / "preprocessor_config.json").unlink(), "cannot be read"),
        (lambda folder: (folder / "preprocessor_config.json").write_text("[]"), "does not say how"),
        (lambda folder: prepared_as(folder, size=4), "does not say how"),
        (lambda folder: prepared_as(folder, size={"width": 9, "height": 1e9}), "does not say how"),
        (lambda folder: prepared_as(folder, image_std=[0, 1, 1]), "does not say how"),
        (lambda folder: prepared_as(folder, image_mean="no"), "does not say how"),
        (lambda folder: prepared_as(folder, do_center_crop=False), "does not say how"),
    ],
)
def test_a_folder_with_something_else_is_reported_in_a_line(
    tmp_path: Path, spoil: Callable[[Path], Any], told: str
) -> None:
    spoil(write_pair(tmp_path))
    with pytest.raises(EmbeddingError, match=told) as caught:
        open_image_embedder(str(tmp_path))
    assert "\n" not in str(caught.value)
