"""What is in one image, as a line of JSON has it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.vocabulary import DetectionVocabulary

Vector = tuple[float, float, float]


class LabelError(ValueError):
    """A line that is no label of an image; the text says what is wrong with it."""


@dataclass(frozen=True)
class ObjectLabel:
    """One object in an image.

    Attributes:
        object_id: of the simulator.
        object_type: a type of the vocabulary.
        box: of what can be seen of it, px.
        visible_share: what can be seen, of what could be if nothing were before it and the image had no end, 0..1.
        pixels: that it has in the image.
        center: pixel of its middle, x and y; it may lie outside of the image.
        position: of its middle in the camera's optical frame (x right, y down, z forwards), m.
        size: extent along the axes of the world, m.
        surface_m: depth of its own surface at `center`, m; None where something else is seen there.
        color: a color of the vocabulary; empty if it has none.
        states: by the name of a group of the vocabulary, which state of it the object is in.
        held: whether the gripper holds it.
    """

    object_id: str
    object_type: str
    box: PixelBox
    visible_share: float
    pixels: int
    center: tuple[float, float]
    position: Vector
    size: Vector
    surface_m: float | None = None
    color: str = ""
    states: Mapping[str, str] = field(default_factory=dict)
    held: bool = False


@dataclass(frozen=True, eq=False)
class ImageLabel:
    """One image with its objects.

    Attributes:
        image: name of its file in the scene's archive.
        depth: the same of its depth; empty if there is none.
        camera: view that it is from.
        matrix: intrinsic matrix (3, 3), px.
        pose: of the camera's optical frame in the world (4, 4), m.
        size: width and height, px.
        objects: that can be seen, each with one pixel at least.
    """

    image: str
    depth: str
    camera: str
    matrix: NDArray[np.float64]
    pose: NDArray[np.float64]
    size: tuple[int, int]
    objects: tuple[ObjectLabel, ...]


def label_as_dict(label: ImageLabel) -> dict[str, Any]:
    """Return a label as JSON has it; `label_from` reads it."""
    return {
        "image": label.image,
        "depth": label.depth,
        "camera": label.camera,
        "matrix": np.asarray(label.matrix).tolist(),
        "pose": np.asarray(label.pose).tolist(),
        "size": list(label.size),
        "objects": [asdict(each) | {"box": list(each.box)} for each in label.objects],
    }


def label_from(values: Mapping[str, Any], vocabulary: DetectionVocabulary) -> ImageLabel:
    """Return what `label_as_dict` gave.

    Raises:
        LabelError: something is missing or no number, or an object has a type, a color or a state that the
            vocabulary does not have.
    """
    try:
        label = ImageLabel(
            image=str(values["image"]),
            depth=str(values["depth"]),
            camera=str(values["camera"]),
            matrix=np.asarray(values["matrix"], np.float64).reshape(3, 3),
            pose=np.asarray(values["pose"], np.float64).reshape(4, 4),
            size=(int(values["size"][0]), int(values["size"][1])),
            objects=tuple(_object_from(each) for each in values["objects"]),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise LabelError(f"a label is damaged: {error!r}") from error
    for each in label.objects:
        _require_known(each, vocabulary)
    return label


def _require_known(label: ObjectLabel, vocabulary: DetectionVocabulary) -> None:
    kind = label.object_type
    if kind not in vocabulary.types:
        raise LabelError(f"{label.object_id} is of the type '{kind}', which the vocabulary does not have")
    if label.color and label.color not in vocabulary.colors:
        raise LabelError(f"{label.object_id} has the color '{label.color}', which the vocabulary does not have")
    for group, state in label.states.items():
        if group not in vocabulary.groups.get(kind, ()) or state not in vocabulary.states[group]:
            raise LabelError(f"{label.object_id} is '{state}', a state that a {kind} of the vocabulary cannot be in")


def _object_from(values: Mapping[str, Any]) -> ObjectLabel:
    surface = values["surface_m"]
    return ObjectLabel(
        object_id=str(values["object_id"]),
        object_type=str(values["object_type"]),
        box=PixelBox(*_numbers(values["box"], 4)),
        visible_share=_numbers([values["visible_share"]], 1)[0],
        pixels=int(values["pixels"]),
        center=_pair(values["center"]),
        position=_vector(values["position"]),
        size=_vector(values["size"]),
        surface_m=None if surface is None else _numbers([surface], 1)[0],
        color=str(values["color"]),
        states={str(group): str(state) for group, state in values["states"].items()},
        held=bool(values["held"]),
    )


def _pair(values: Sequence[Any]) -> tuple[float, float]:
    x, y = _numbers(values, 2)
    return x, y


def _vector(values: Sequence[Any]) -> Vector:
    x, y, z = _numbers(values, 3)
    return x, y, z


def _numbers(values: Sequence[Any], count: int) -> list[float]:
    found = [float(each) for each in values]
    if len(found) != count or not all(map(math.isfinite, found)):
        raise ValueError(f"{values!r} are not {count} finite numbers")
    return found
