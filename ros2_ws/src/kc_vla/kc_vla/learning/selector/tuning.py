"""New thresholds for a model, on other episodes than those it was made with: what few episodes suffice for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.files import copy_whole
from kc_vla.inference.models import find_model, register, require_free
from kc_vla.keyframes.free_run import free_running
from kc_vla.keyframes.learned import SelectorNetwork
from kc_vla.keyframes.metrics import Counts, count
from kc_vla.keyframes.model import KIND, selector_from
from kc_vla.keyframes.thresholds import best_threshold
from kc_vla.learning.selector.evaluation import scores_by_task
from kc_vla.learning.selector.recordings import load_recordings
from kc_vla.learning.selector.report import learnt_recordings


@dataclass(frozen=True)
class Tuned:
    """The thresholds of a task before and after, and what they reach on so many episodes."""

    before: float
    after: float
    f1_before: float
    f1_after: float
    episodes: int


def tune_selector(
    models: Path, name: str, validation: Path, output: Path, new_name: str, replace: bool
) -> dict[str, Tuned]:
    """Enter the selector `name` of `models` as `new_name` into `output`, with thresholds that do best on `validation`.

    Thresholds stay where no other does as well, and those of tasks without an episode.

    Raises:
        ModelError: no such model, or `output` has one called `new_name` that is not to be replaced.
        BagError, DataError: the data cannot be used.
    """
    entry = find_model(models, name, KIND)
    require_free(output, new_name, replace)
    model = selector_from(entry)
    network = SelectorNetwork(model, "cpu")
    tuned = {}
    recordings = learnt_recordings(network, load_recordings(validation, model.known_tasks(), model.cameras))
    for task, episodes in scores_by_task(network, recordings, "thresholds").items():
        phases, before = model.phases(task), model.thresholds[task]
        after, best = best_threshold(episodes, phases)
        found = [count(free_running(scores, phases, before), truth) for scores, truth in episodes]
        now = sum(found, Counts()).f1
        tuned[task] = Tuned(before, after if best >= now else before, now, max(best, now), len(episodes))
    tasks = {
        task: {**row, "threshold": tuned[task].after} if task in tuned else row
        for task, row in entry.settings["tasks"].items()
    }
    folder = output / new_name
    folder.mkdir(parents=True, exist_ok=True)
    for role, file in entry.files.items():
        if not (folder / f"{role}.onnx").exists() or not file.samefile(folder / f"{role}.onnx"):
            copy_whole(file, folder / f"{role}.onnx")
    known = {task: f1 for task, f1 in entry.metrics.get("validation_f1", {}).items() if task in tasks}
    changed = {
        "kind": KIND,
        "settings": {**entry.settings, "tasks": tasks},
        "source": {**entry.source, "tuned": {task: row.episodes for task, row in tuned.items()}},
        "metrics": {"validation_f1": {**known, **{task: round(row.f1_after, 4) for task, row in tuned.items()}}},
    }
    register(output, new_name, changed, {role: f"{new_name}/{role}.onnx" for role in entry.files})
    return tuned
