"""New thresholds for a model, on other episodes than those it was made with: what few episodes suffice for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.files import copy_whole
from kc_vla.inference.models import find_model, register, require_free
from kc_vla.keyframes.free_run import Scores, free_running
from kc_vla.keyframes.learned import SelectorNetwork
from kc_vla.keyframes.metrics import TOLERANCE_FRAMES, Counts, count
from kc_vla.keyframes.model import KIND, selector_from
from kc_vla.keyframes.thresholds import CANDIDATES, best_threshold
from kc_vla.learning.common.errors import LearningError
from kc_vla.learning.selector.evaluation import scores_by_task
from kc_vla.learning.selector.recordings import load_recordings
from kc_vla.learning.selector.report import learnt_recordings

Scored = tuple[Scores, Sequence[int]]
"""Scores and true keyframes of an episode."""


class TuningError(LearningError):
    """No threshold helps."""


@dataclass(frozen=True)
class Tuned:
    """The thresholds of a task before and after, and what they reach on so many episodes.

    Where no threshold finds a keyframe, the one before stays, and `nothing` says why; else that is empty.
    """

    before: float
    after: float
    f1_before: float
    f1_after: float
    episodes: int
    nothing: str = ""


def tune_selector(
    models: Path, name: str, validation: Path, output: Path, new_name: str, replace: bool
) -> dict[str, Tuned]:
    """Enter the selector `name` of `models` as `new_name` into `output`, with thresholds that do best on `validation`.

    A threshold stays if none is better or none finds a keyframe, and if its task has no episode.

    Raises:
        TuningError: no threshold finds a keyframe of any task; nothing is entered.
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
        tuned[task] = tuned_on(episodes, model.phases(task), model.thresholds[task])
    require_help(tuned, name)
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


def tuned_on(episodes: Sequence[Scored], phases: int, before: float) -> Tuned:
    """Return what a threshold in place of `before` reaches on the `episodes` of a task with so many `phases`."""
    if not any(len(truth) > 1 for _, truth in episodes):
        return Tuned(before, before, 0.0, 0.0, len(episodes), _why(episodes, phases))
    after, best = best_threshold(episodes, phases)
    now = sum((count(free_running(scores, phases, before), truth) for scores, truth in episodes), Counts()).f1
    if not max(best, now) > 0:
        return Tuned(before, before, 0.0, 0.0, len(episodes), _why(episodes, phases))
    return Tuned(before, after if best >= now else before, now, max(best, now), len(episodes))


def require_help(tuned: Mapping[str, Tuned], name: str) -> None:
    """Check that at least one task has a threshold that finds a keyframe.

    Raises:
        TuningError: none does of the selector `name`; the line says why and what to do.
    """
    if not tuned or not all(row.nothing for row in tuned.values()):
        return
    told = "; ".join(f"{task}: {row.nothing}" for task, row in tuned.items())
    raise TuningError(
        f"no threshold helps, and no model is entered: {told}. Train it on such episodes: "
        f"kc-vla train selector --init {name} --method no-metric, as kc-vla train selector --help says"
    )


def _why(episodes: Sequence[Scored], phases: int) -> str:
    """Return why no threshold finds a keyframe, in words."""
    told = f"F1 is 0 with each threshold on {len(episodes)} episodes"
    if not any(len(truth) > 1 for _, truth in episodes):
        return f"{told}, of which none has a marked keyframe after frame 0"
    highest = max(float(scores[:, 1:phases].max(initial=0.0)) for scores, _ in episodes)
    if highest <= CANDIDATES[0]:
        return f"{told}: no frame has a score above {highest:.3f}, it does not recognize these keyframes"
    return (
        f"{told}: its scores reach {highest:.2f}, but never within {TOLERANCE_FRAMES} frames of a marked keyframe in "
        "its turn: look at the marks, and at the camera"
    )
