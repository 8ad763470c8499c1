"""A folder of scenes: begun in one way, filled scene by scene, gone on with after an interruption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kc_vla.core.begun import BegunError, begun
from kc_vla.core.untrusted import parsed_json, read_text
from kc_vla.datasets.detections.labels import ImageLabel
from kc_vla.datasets.detections.scene_file import Depths, Pixels, read_depth, read_labels, read_pixels
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.perception.vocabulary import DetectionVocabulary, vocabulary_from

SETTINGS = "detections.json"
_VOCABULARY = "vocabulary"
_SCENE = "scene_{:06d}.zip"


@dataclass(frozen=True)
class SceneFolder:
    """A folder that scenes are collected into.

    Attributes:
        path: of the folder.
        settings: with which it was begun.
    """

    path: Path
    settings: Mapping[str, Any]

    def file(self, seed: int) -> Path:
        """Return where the scene of this seed is, or will be."""
        return self.path / _SCENE.format(seed)

    def missing(self, seeds: Sequence[int]) -> list[int]:
        """Return those of some seeds whose scenes are still to be made, in order."""
        return [seed for seed in seeds if not self.file(seed).exists()]

    def files(self) -> list[Path]:
        """Return the scenes that are there, in order."""
        return sorted(self.path.glob(_SCENE.replace("{:06d}", "[0-9]*")))


class LabeledImage(NamedTuple):
    """An image of a scene.

    Attributes:
        scene: file of its scene.
        label: what is in it.
    """

    scene: Path
    label: ImageLabel

    def pixels(self) -> Pixels:
        """Return the image (H, W, 3), RGB; DataSetError where it is damaged."""
        return read_pixels(self.scene, self.label)

    def depth(self) -> Depths:
        """Return its depth (H, W), m; DataSetError where there is none, or it is damaged."""
        return read_depth(self.scene, self.label)


@dataclass(frozen=True)
class LabeledImages:
    """All images of some folders.

    Attributes:
        vocabulary: their words.
        images: in the order of the scenes.
    """

    vocabulary: DetectionVocabulary
    images: tuple[LabeledImage, ...]

    @property
    def scenes(self) -> list[Path]:
        """Return the files of the scenes, each once, in order."""
        return list(dict.fromkeys(each.scene for each in self.images))


def read_images(folders: Sequence[Path]) -> LabeledImages:
    """Return the labels of all images in some folders; pixels are read when they are asked for.

    Raises:
        DataSetError: a folder holds no scenes, two have other words, or a file is damaged.
    """
    words: DetectionVocabulary | None = None
    found: list[LabeledImage] = []
    for path in folders:
        folder, of_folder = _read_folder(path)
        if words is not None and words != of_folder:
            raise DataSetError(f"{path} has another vocabulary than {folders[0]}: train on folders of one collection")
        words = of_folder
        for scene in folder.files():
            found += [LabeledImage(scene, label) for label in read_labels(scene, of_folder)]
    if words is None or not found:
        raise DataSetError("no images to read: collect some with kc-vla collect --detections")
    return LabeledImages(words, tuple(found))


@contextmanager
def writing_scenes(path: Path, settings: Mapping[str, Any], vocabulary: DetectionVocabulary) -> Iterator[SceneFolder]:
    """Begin a folder or go on with it, for this process alone.

    Raises:
        DataSetError: it was begun in another way, holds something else, or is being written by another process.
    """
    wanted = {**settings, _VOCABULARY: vocabulary.as_dict()}
    try:
        with begun(path, SETTINGS, wanted, "kc-vla collect --detections") as known:
            yield SceneFolder(path, known)
    except BegunError as error:
        raise DataSetError(str(error)) from error


def _read_folder(path: Path) -> tuple[SceneFolder, DetectionVocabulary]:
    try:
        folder = SceneFolder(path, parsed_json(read_text(path / SETTINGS)))
        words = vocabulary_from(folder.settings[_VOCABULARY])
    except OSError as error:
        raise DataSetError(
            f"{path} holds no scenes ({SETTINGS}: {error.strerror}): name a folder of kc-vla collect --detections, "
            "such as data/detections/train"
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise DataSetError(f"{path / SETTINGS} has no vocabulary ({error}): collect into another folder") from error
    if not folder.files():
        raise DataSetError(f"{path} holds no scene yet: collect some, or delete it")
    return folder, words
