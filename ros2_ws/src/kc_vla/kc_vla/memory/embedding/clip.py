"""A model of images and sentences in one space, as CLIP is, exported to ONNX: from a folder or from the hub by hash."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.untrusted import parsed_json
from kc_vla.memory.embedding.hub import check_hash, fetch_files, one_line
from kc_vla.memory.embedding.interface import EmbeddingError, Vectors, in_batches, normalised
from kc_vla.memory.embedding.minilm import read_tokenizer
from kc_vla.memory.embedding.onnx_model import OnnxEncoder

IMAGE_MODEL, TEXT_MODEL = "onnx/vision_model.onnx", "onnx/text_model.onnx"
"""The files of the two encoders, as the exports on the hub call them."""
_PREPARATION, _TOKENIZER = "preprocessor_config.json", "tokenizer.json"
_MOST_TOKENS = 77
_BATCH = 8
_SIDES = range(8, 1025)


class Preparation(NamedTuple):
    """How an image becomes the input of a model, as its `preprocessor_config.json` says.

    Attributes:
        resized: height and width of the whole image; None where its shorter side becomes `shorter`.
        shorter: px.
        cut: height and width of the middle that is cut out.
        mean, spread: of each color, 0..1.
    """

    resized: tuple[int, int] | None
    shorter: int
    cut: tuple[int, int]
    mean: tuple[float, ...]
    spread: tuple[float, ...]

    def __call__(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the input (3, H, W) for an image (H, W, 3), RGB."""
        height, width = image.shape[:2]
        share = self.shorter / min(height, width)
        high, wide = self.resized or (round(height * share), round(width * share))
        high, wide = max(high, self.cut[0]), max(wide, self.cut[1])
        way = cv2.INTER_AREA if high * wide < height * width else cv2.INTER_CUBIC
        whole = cv2.resize(np.ascontiguousarray(image), (wide, high), interpolation=way)
        top, left = (high - self.cut[0]) // 2, (wide - self.cut[1]) // 2
        middle = whole[top : top + self.cut[0], left : left + self.cut[1]].astype(np.float32) / 255
        scaled = (middle - np.array(self.mean, np.float32)) / np.array(self.spread, np.float32)
        return np.asarray(scaled.transpose(2, 0, 1), np.float32)


class ClipModel:
    """An `ImageEmbedder` of two networks: one for images, one for sentences."""

    def __init__(self, folder: Path) -> None:
        """Load it.

        Args:
            folder: with onnx/vision_model.onnx, onnx/text_model.onnx, tokenizer.json and preprocessor_config.json, as
                the exports of CLIP on the hub have them.

        Raises:
            EmbeddingError: one of them is not there, or is something else.
        """
        self.name = folder.name
        self._images = _network(folder / IMAGE_MODEL, {"pixel_values"}, set())
        self._texts = _network(folder / TEXT_MODEL, {"input_ids"}, {"attention_mask"})
        self._tokenizer = read_tokenizer(folder, _MOST_TOKENS)
        length = self._texts.inputs["input_ids"][-1]
        if isinstance(length, int):  # it was exported for sentences of one length
            self._tokenizer.enable_padding(length=length)
            self._tokenizer.enable_truncation(length)
        self._prepared = read_preparation(folder / _PREPARATION)

    def embed(self, sentences: Sequence[str]) -> Vectors:
        """Compute the vectors (N, D) of sentences."""
        return in_batches(sentences, self._of_sentences) if sentences else np.zeros((0, 0), np.float32)

    def embed_images(self, images: Sequence[NDArray[np.uint8]]) -> Vectors:
        """Compute the vectors (N, D) of images (H, W, 3), RGB, of any size."""
        batches = [images[at : at + _BATCH] for at in range(0, len(images), _BATCH)]
        found = [self._of_images(each) for each in batches]
        return np.concatenate(found) if found else np.zeros((0, 0), np.float32)

    def _of_images(self, images: Sequence[NDArray[np.uint8]]) -> Vectors:
        given = {"pixel_values": np.stack([self._prepared(each) for each in images])}
        return _vectors(self._images.run(given, _output(self._images, "image_embeds")), self._images, len(images))

    def _of_sentences(self, sentences: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(list(sentences))
        given = {
            "input_ids": np.array([each.ids for each in encodings], np.int64),
            "attention_mask": np.array([each.attention_mask for each in encodings], np.int64),
        }
        return _vectors(self._texts.run(given, _output(self._texts, "text_embeds")), self._texts, len(sentences))


def open_image_embedder(name: str) -> ClipModel:
    """Return a model of images and sentences; nothing else is taken in its place.

    Args:
        name: `hub:OWNER/NAME@REVISION#SHA256+SHA256`, or a folder, with `#SHA256+SHA256` behind it where its files are
            to be compared with hashes: those of onnx/vision_model.onnx and of onnx/text_model.onnx.

    Raises:
        EmbeddingError: it cannot be had, or a file has another hash.
    """
    if name.startswith("hub:"):
        named = name.removeprefix("hub:")
        return ClipModel(fetch_files(named, (IMAGE_MODEL, TEXT_MODEL), (_TOKENIZER, _PREPARATION)))
    path, _, hashes = name.partition("#")
    if hashes:
        wanted = hashes.split("+")
        if len(wanted) != 2:
            raise EmbeddingError(f"'{name[:200]}': give both hashes, SHA256 of {IMAGE_MODEL} + SHA256 of {TEXT_MODEL}")
        for file, digest in zip((IMAGE_MODEL, TEXT_MODEL), wanted, strict=True):
            try:
                check_hash(Path(path) / file, digest, str(Path(path) / file))
            except OSError as error:
                raise EmbeddingError(f"{Path(path) / file} cannot be read: {error.strerror}") from error
    return ClipModel(Path(path))


def read_preparation(path: Path) -> Preparation:
    """Return how images are prepared; EmbeddingError where the file does not say it."""
    try:
        told = parsed_json(path.read_text(encoding="utf-8"))
        size, cuts = told["size"], told.get("do_center_crop", True)
        resized = None if not isinstance(size, dict) or "shortest_edge" in size else _sides(size)
        shorter = size["shortest_edge"] if isinstance(size, dict) and resized is None else size
        cut = _sides(told["crop_size"]) if cuts else resized
        mean, spread = (tuple(map(float, told[each])) for each in ("image_mean", "image_std"))
        if resized is None and shorter not in _SIDES:
            raise ValueError(f"a side of {shorter} px")
        if cut is None or len(mean) != 3 or len(spread) != 3 or min(spread) <= 0:
            raise ValueError("no middle to cut out, or no three colors")
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}: export it with the model") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbeddingError(f"{path} does not say how images are prepared: {one_line(error)}") from error
    return Preparation(resized, 0 if resized else int(shorter), cut, mean, spread)


def _sides(told: Any) -> tuple[int, int]:
    """Return height and width, px, of a mapping with both or of one number for both."""
    sides = (told["height"], told["width"]) if isinstance(told, dict) else (told, told)
    if not all(isinstance(each, int) and each in _SIDES for each in sides):
        raise ValueError(f"sides of {sides} px: {_SIDES.start} to {_SIDES.stop - 1} can be")
    return sides


def _network(path: Path, wanted: set[str], also: set[str]) -> OnnxEncoder:
    if not path.is_file():
        raise EmbeddingError(f"{path} is missing: export a CLIP model as {IMAGE_MODEL} and {TEXT_MODEL}")
    network = OnnxEncoder(path)
    if not wanted <= network.inputs.keys() <= wanted | also:
        raise EmbeddingError(f"{path} takes {', '.join(sorted(network.inputs))}: this is no exported CLIP model")
    return network


def _output(network: OnnxEncoder, usual: str) -> str:
    return usual if usual in network.outputs else network.outputs[0]


def _vectors(found: Vectors, network: OnnxEncoder, count: int) -> Vectors:
    if found.ndim != 2 or len(found) != count:
        raise EmbeddingError(f"{network.path} gives {found.shape} for {count}: export it with its projection")
    return normalised(found)
