"""Vectors of sentences: the model that installs with the stack, exported ones, the hub, the cache."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from kc_vla.memory.embedding.cache import Cached
from kc_vla.memory.embedding.interface import EmbeddingError, Vectors
from kc_vla.memory.embedding.minilm import MiniLm, installed
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.embedding.onnx_model import OnnxModel, fetch

SENTENCES = ["a red fruit", "apple", "something to cut with", "knife", "pillow"]
REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def minilm() -> MiniLm:
    return MiniLm()


def test_meanings_that_are_near_have_vectors_that_are(minilm: MiniLm) -> None:
    fruit, apple, cut, knife, pillow = minilm.embed(SENTENCES)
    assert fruit @ apple > max(fruit @ knife, fruit @ pillow)
    assert cut @ knife > max(cut @ apple, cut @ pillow)


def test_vectors_are_those_of_the_published_model(minilm: MiniLm) -> None:
    """The cosines that its card tells for its own example, computed by sentence-transformers."""
    vectors = minilm.embed(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    assert vectors @ vectors[0] == pytest.approx([1.0, 0.6660, 0.1046], abs=2e-4)


def test_a_sentence_has_the_same_vector_among_others_and_alone(minilm: MiniLm) -> None:
    together = minilm.embed([*SENTENCES, "a much longer sentence about a thing that lies on the table " * 3])
    for vector, sentence in zip(together, SENTENCES, strict=False):
        assert minilm.embed([sentence])[0] == pytest.approx(vector, abs=2e-6)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert minilm.embed([]).shape == (0, 384)


def test_a_text_of_a_megabyte_is_cut_and_not_refused(minilm: MiniLm) -> None:
    assert np.isfinite(minilm.embed(["\x00 <b>'; drop table --" * 50_000])).all()


def with_header(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"\xff" * 100,
        b'{"a": 1}' * 4,
        *map(
            with_header,
            (
                b"{}",
                b"[]",
                b"\xff\xfe",
                b"[" * 200_000,
                b'{"a": 1}',
                b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0]}}',
                b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": "no"}}',
                b'{"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 4]}}',
                b'{"a": {"dtype": "F32", "shape": 1, "data_offsets": [null, {}]}}',
            ),
        ),
    ],
)
def test_a_folder_without_weights_is_told_in_a_line(tmp_path: Path, content: bytes | None) -> None:
    shutil.copy(installed() / "tokenizer.json", tmp_path)
    if content is not None:
        (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(EmbeddingError, match=str(tmp_path)) as caught:
        MiniLm(tmp_path)
    assert "\n" not in str(caught.value)


class Counting:
    """Remembers what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, sentences: Sequence[str]) -> Vectors:
        self.asked += sentences
        return np.array([[len(each), 1.0] for each in sentences], np.float32).reshape(-1, 2)


def test_a_sentence_is_embedded_once() -> None:
    counting = Counting()
    cached = Cached(counting)
    assert cached.embed(["a", "bb", "a"])[:, 0].tolist() == [1, 2, 1]
    assert cached.embed(["bb", "ccc"])[:, 0].tolist() == [2, 3]
    assert counting.asked == ["a", "bb", "ccc"]


def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    counting = Counting()
    cached = Cached(counting, most_bytes=10 * 420)
    for number in range(1000):
        cached.embed([f"{number:05}", "kept "])
    assert len(cached) < 11
    assert counting.asked.count("kept ") == 1
    cached.embed(["00001"])
    assert counting.asked.count("00001") == 2


def write_model(folder: Path, inputs: Sequence[str] = ("input_ids", "attention_mask"), pooled: bool = False) -> Path:
    """A model of one layer: for each token a vector of chance."""
    words = np.random.default_rng(0).standard_normal((30_522, 6)).astype(np.float32)
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in inputs]
    nodes = [helper.make_node("Gather", ["words", "input_ids"], ["states"])]
    shape: list[str | int] = ["n", "t", 6]
    if pooled:
        nodes.append(helper.make_node("ReduceMax", ["states"], ["out"], axes=[1], keepdims=0))
        shape = ["n", 6]
    out = helper.make_tensor_value_info("out" if pooled else "states", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", given, [out], [numpy_helper.from_array(words, "words")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "onnx" / "model.onnx")
    shutil.copy(installed() / "tokenizer.json", folder)
    return folder


def pooling(folder: Path, **modes: bool) -> None:
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({f"pooling_mode_{name}": on for name, on in modes.items()})
    )


def test_an_exported_model_averages_over_the_words_that_are_there(tmp_path: Path) -> None:
    model = OnnxModel(write_model(tmp_path))
    said = [f"a mug with a handle {'and a flower ' * (7 * k % 40)}" for k in range(40)]  # more than go at once
    together = model.embed(said)
    for vector, sentence in zip(together, said, strict=True):
        assert model.embed([sentence])[0] == pytest.approx(vector, abs=1e-6)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0)


def test_an_exported_model_takes_the_first_word_where_its_folder_says_so(tmp_path: Path) -> None:
    pooling(write_model(tmp_path), cls_token=True, mean_tokens=False)
    first, other = OnnxModel(tmp_path).embed(["a mug", "something else"])
    assert first == pytest.approx(other)  # every sentence begins with the same token


def test_a_model_that_averages_itself_is_taken_as_it_is(tmp_path: Path) -> None:
    assert OnnxModel(write_model(tmp_path, pooled=True)).embed(["a mug", "a red mug"]).shape == (2, 6)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: shutil.rmtree(folder / "onnx"), "has no model.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "cannot be read"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "is no tokenizer"),
        (lambda folder: (folder / "onnx" / "model.onnx").write_bytes(b"nothing"), "cannot be loaded"),
        (lambda folder: write_model(folder, ["input_ids", "pixels"]), "no exported sentence-transformer"),
        (lambda folder: pooling(folder, max_tokens=True), "this pooling is not known"),
    ],
)
def test_a_folder_with_something_else_is_told_in_a_line(tmp_path: Path, spoil, told: str) -> None:
    spoil(write_model(tmp_path))
    with pytest.raises(EmbeddingError, match=told) as caught:
        open_embedder(str(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A hub on localhost with one model, and an empty cache; its address."""
    folder = write_model(tmp_path / "served")
    pooling(folder, cls_token=False, mean_tokens=True)

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(b"")

        def do_GET(self) -> None:
            self.answer(self.content())

        def content(self) -> bytes:
            path = folder / self.path.partition(f"/resolve/{REVISION}/")[2]
            return path.read_bytes() if path.is_file() else b""

        def answer(self, data: bytes) -> None:
            content = self.content()
            self.send_response(200 if content else 404)
            if not content:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_model_comes_from_the_hub_by_its_hash(hub: str, tmp_path: Path) -> None:
    digest = hashlib.sha256((tmp_path / "served" / "onnx" / "model.onnx").read_bytes()).hexdigest()
    folder = fetch(f"someone/model@{REVISION}#{digest}", endpoint=hub)
    assert OnnxModel(folder).embed(["a mug"]).shape == (1, 6)


def test_another_file_than_was_named_is_not_used(hub: str) -> None:
    with pytest.raises(EmbeddingError, match="another than was named"):
        fetch(f"someone/model@{REVISION}#{'0' * 64}", endpoint=hub)


@pytest.mark.nightly  # the library tries for 20 s
def test_a_hub_that_is_not_there_is_told_in_a_line(hub: str) -> None:
    with pytest.raises(EmbeddingError, match="someone/model") as caught:
        fetch(f"someone/model@{REVISION}#{'0' * 64}", endpoint="http://127.0.0.1:9")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("named", ["someone/model", f"someone/model@main#{'0' * 64}", f"../x@{REVISION}#{'0' * 64}/.."])
def test_a_model_without_revision_and_hash_is_refused(named: str) -> None:
    with pytest.raises(EmbeddingError, match="OWNER/NAME@REVISION#SHA256"):
        open_embedder(f"hub:{named}")
