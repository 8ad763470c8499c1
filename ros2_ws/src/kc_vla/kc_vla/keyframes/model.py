"""The learned selector's model: its files and what must be known to run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kc_vla.core.tasks import TASKS, Task
from kc_vla.inference.models import RegisteredModel, find_model, settings_of
from kc_vla.keyframes.cameras import THIRD_PERSON, Camera, parse_cameras

KIND = "keyframe_selector"


@dataclass(frozen=True)
class SelectorModel:
    """A trained keyframe selector: its files and what must be known to run it.

    Attributes:
        name: in the registry.
        trunk: ONNX file, images (N, S, V S, 3) uint8 of V cameras side by side to features (N, 512).
        head: ONNX file, features (N, window, 512), task and phase (N,) int64 to scores (N,).
        image_size: S, px.
        window: images that the head sees.
        stride: frames between two of them.
        tasks: names, in the order of the head's embeddings.
        keyframes: labels of each task's keyframes, frame 0 included.
        thresholds: of each task.
        instructions: that mean each task; none where the task table has them.
        cameras: V, that it looks at.
        rate: frames a second of what it has learned from; 0 where that is not known.
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
    instructions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cameras: tuple[Camera, ...] = (THIRD_PERSON,)
    rate: float = 0.0

    def phases(self, task: str) -> int:
        """Return the number of keyframes of a task, frame 0 included."""
        return len(self.keyframes[task])

    def known_tasks(self) -> dict[str, Task]:
        """Return the tasks that it has learned."""
        return {name: self._task(name) for name in self.keyframes}

    def _task(self, name: str) -> Task:
        said = self.instructions.get(name) or (TASKS[name].instructions if name in TASKS else (name,))
        return Task(name, said[0], self.keyframes[name], wordings=tuple(said[1:]))


def load_selector(folder: Path, name: str) -> SelectorModel:
    """Return the selector called `name` in the registry of `folder`.

    Raises:
        ModelError: it is not there, or not as it should be.
    """
    return selector_from(find_model(folder, name, KIND))


def selector_from(entry: RegisteredModel) -> SelectorModel:
    """Return a registry's entry as a model.

    Raises:
        ModelError: a setting is missing.
    """
    with settings_of(entry) as settings:
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
            instructions={task: tuple(row["instruction"]) for task, row in tasks.items() if "instruction" in row},
            cameras=parse_cameras(settings.get("cameras", [str(THIRD_PERSON)])),
            rate=float(settings.get("rate", 0.0)),
        )
