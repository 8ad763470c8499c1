"""The training run of a selector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kc_vla.core.task_file import tasks_from
from kc_vla.core.tasks import FIRST_TASKS, TASKS, Task
from kc_vla.keyframes.cameras import THIRD_PERSON, Camera, parse_cameras
from kc_vla.learning.common.run import TrainingRun
from kc_vla.learning.selector.config import Config, config_from


def noted(folders: Sequence[Path]) -> str | list[str]:
    """Return the folders as a run notes them: one by its name alone, as runs did when there could not be several."""
    named = [str(folder) for folder in folders]
    return named[0] if len(named) == 1 else named


class SelectorRun(TrainingRun):
    """A run with what a selector's training notes of itself."""

    made_by = "kc-vla train selector"

    @property
    def config(self) -> Config:
        """Return settings of the run.

        Raises:
            RunError: the folder holds no run.
        """
        return config_from(self.settings)

    @property
    def method(self) -> str:
        """Return how the selector is trained, a name in `config.METHODS`."""
        return str(self.data["method"])

    @property
    def tasks(self) -> dict[str, Task]:
        """Return the tasks that are learned, in the order of the embeddings."""
        said = self.data.get("tasks")
        if said is None:  # runs from before there were other tasks
            return {name: TASKS[name] for name in FIRST_TASKS}
        return tasks_from(said, str(self.folder / "run.json"))

    def folders(self, split: str) -> tuple[Path, ...]:
        """Return where the episodes of "train" or "validation" were, as they were `noted`."""
        said = self.data[split]
        return tuple(map(Path, [said] if isinstance(said, str) else said))

    @property
    def frozen_trunk(self) -> Path:
        """Return the backbone of the model that the run began with and does not train; mostly there is none."""
        return self.folder / "trunk.onnx"

    @property
    def cameras(self) -> tuple[Camera, ...]:
        """Return the cameras that are looked at."""
        return parse_cameras(self.data.get("cameras", [str(THIRD_PERSON)]))
