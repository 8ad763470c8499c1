"""A learned detector's model: its file, its words, and the order of the numbers that it gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kc_vla.inference.models import RegisteredModel, find_model, settings_of
from kc_vla.perception.vocabulary import DetectionVocabulary, vocabulary_from

KIND = "detector"
DETECTOR = "detector"
"""Name of the one that comes with the stack."""
MOST_OBJECTS = 64
"""Objects that a network reports of one image at most."""


@dataclass(frozen=True)
class DetectorModel:
    """A learned detector's model.

    Attributes:
        name: in the registry.
        network: ONNX file, `pictures` (1, S, S, 3) uint8 RGB and `inverse_depth` (1, S, S) float, 1/m, 0 where it is
            not known, to `scores` (1, K), `types` (1, K) and `numbers` (1, K, R), as `DetectorOutput` has them.
        image_size: S, px.
        vocabulary: types, colors and states.
    """

    name: str
    network: Path
    image_size: int
    vocabulary: DetectionVocabulary


class DetectorOutput:
    """Which of the numbers of an object are what.

    The box (left, top, right, bottom) and the middle (x, y) are in px of the square. The depth is that of the middle,
    in m for a camera whose focal length is the side of the square. The size is in units of that depth: an image shows
    it up to scale, as sides of the square. Logits of the colors and of the states of each group follow.
    """

    BOX = slice(0, 4)
    CENTER = slice(4, 6)
    DEPTH = 6
    SIZE = slice(7, 10)

    def __init__(self, vocabulary: DetectionVocabulary) -> None:
        at = self.SIZE.stop + len(vocabulary.colors)
        self.colors = slice(self.SIZE.stop, at)
        self.states: dict[str, slice] = {}
        for group, states in vocabulary.states.items():
            self.states[group] = slice(at, at + len(states))
            at += len(states)
        self.count = at


def load_detector(folder: Path, name: str) -> DetectorModel:
    """Return the detector called `name` in the registry of `folder`.

    Raises:
        ModelError: it is not there, or not as it should be.
    """
    return detector_from(find_model(folder, name, KIND))


def detector_from(entry: RegisteredModel) -> DetectorModel:
    """Return a registry's entry as a model.

    Raises:
        ModelError: a setting is missing or damaged.
    """
    with settings_of(entry) as settings:
        return DetectorModel(
            name=entry.name,
            network=entry.files["network"],
            image_size=int(settings["image_size"]),
            vocabulary=vocabulary_from(settings["vocabulary"]),
        )
