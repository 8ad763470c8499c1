"""The learned selector's model: its files and what must be known to run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.models import Entry, ModelError, find_model

KIND = "keyframe_selector"


@dataclass(frozen=True)
class SelectorModel:
    """See the module.

    Attributes:
        name: in the registry.
        trunk: ONNX file, pictures (N, S, S, 3) uint8 to features (N, 512).
        head: ONNX file, features (N, window, 512), task and phase (N,) int64 to scores (N,).
        image_size: S, px.
        window: pictures that the head sees.
        stride: frames between two of them.
        tasks: names, in the order of the head's embeddings.
        keyframes: labels of each task's keyframes, frame 0 included.
        thresholds: of each task.
    """

    name: str
    trunk: Path
    head: Path
    image_size: int
    window: int
    stride: int
    tasks: tuple[str, ...]
    keyframes: Mapping[str, tuple[str, ...]]
    thresholds: Mapping[str, float]

    def phases(self, task: str) -> int:
        """Number of keyframes of a task, frame 0 included."""
        return len(self.keyframes[task])


def load_selector(folder: Path, name: str) -> SelectorModel:
    """The selector called `name` in the registry of `folder`.

    Raises:
        ModelError: it is not there, or not as it should be.
    """
    return selector_from(find_model(folder, name, KIND))


def selector_from(entry: Entry) -> SelectorModel:
    """A registry's entry as a model.

    Raises:
        ModelError: a setting is missing.
    """
    try:
        settings = entry.settings
        tasks: Mapping[str, Any] = settings["tasks"]
        return SelectorModel(
            name=entry.name,
            trunk=entry.files["trunk"],
            head=entry.files["head"],
            image_size=int(settings["image_size"]),
            window=int(settings["window"]),
            stride=int(settings["stride"]),
            tasks=tuple(settings["order"]),
            keyframes={task: tuple(row["keyframes"]) for task, row in tasks.items()},
            thresholds={task: float(row["threshold"]) for task, row in tasks.items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"the settings of model '{entry.name}' are damaged: {error!r}") from error
