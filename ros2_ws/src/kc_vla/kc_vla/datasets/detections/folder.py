"""A folder of scenes: what is collected into it, and its images with their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kc_vla.core.untrusted import parsed_json, read_text
from kc_vla.datasets.collected import CollectedFolder, collecting
from kc_vla.datasets.detections.labels import ImageLabel
from kc_vla.datasets.detections.scene_file import Depths, Pixels, read_depth, read_labels, read_pixels
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.perception.vocabulary import DetectionVocabulary, vocabulary_from

SETTINGS = "detections.json"
_VOCABULARY = "vocabulary"
_SCENE = "scene_{:06d}.zip"


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

    def depth_if_any(self) -> Depths | None:
        """Return its depth (H, W), m, or None where it was collected without; DataSetError where it is damaged."""
        return self.depth() if self.label.depth else None


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


def writing_scenes(
    path: Path, settings: Mapping[str, Any], vocabulary: DetectionVocabulary
) -> AbstractContextManager[CollectedFolder]:
    """Begin a folder of scenes or go on with it, for this process alone.

    Raises:
        DataSetError: it was begun in another way, holds something else, or is being written by another process.
    """
    wanted = {**settings, _VOCABULARY: vocabulary.as_dict()}
    return collecting(path, SETTINGS, wanted, "kc-vla collect --detections", _SCENE)


def _read_folder(path: Path) -> tuple[CollectedFolder, DetectionVocabulary]:
    try:
        folder = CollectedFolder(path, parsed_json(read_text(path / SETTINGS)), _SCENE)
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
