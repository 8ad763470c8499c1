"""Annotation of recorded episodes by rules, without the simulator's truth, and how good it is measured by that truth.

The paper annotates with such signals where a task has them (section 4.2, "hybrid strategy"); elsewhere people do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.core.tasks import Task
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.keyframes.metrics import Counts, DetectedKeyframe, count
from kc_vla.keyframes.rules import CueScorer, Signals
from kc_vla.keyframes.scoring import DEFAULT_THRESHOLD
from kc_vla.keyframes.selector import KeyframeSelector, SelectorEvent
from kc_vla.keyframes.smoothing import Decision, GreedySmoother
from kc_vla.learning.selector.recorded_signals import recorded_signals
from kc_vla.learning.selector.recordings import LabeledEpisode, load_recordings, load_unmarked
from kc_vla.learning.selector.tables import percent


def annotate_by_rules(signals: Sequence[Signals], task: Task) -> list[DetectedKeyframe]:
    """Return the keyframes that the task's rules find in an episode; none where the task has no rules."""
    if not task.cues:
        return []
    rules = CueScorer(task.cues)
    selector = KeyframeSelector(task.keyframes, GreedySmoother(DEFAULT_THRESHOLD))
    found: list[SelectorEvent] = []
    for frame, seen in enumerate(signals):
        found += selector.update(frame, rules.update(seen, selector.phase))
    return [
        DetectedKeyframe(event.phase, event.frame, event.frame, event.frame)
        for event in found
        if event.decision is Decision.COMMITTED and event.phase > 0
    ]


def _found(recording: LabeledEpisode, task: Task) -> list[DetectedKeyframe]:
    return annotate_by_rules(recorded_signals(recording, CueScorer(task.cues).needs), task) if task.cues else []


def write_rule_annotations(data: Path, output: Path) -> list[Path]:
    """Annotate every episode of `data` by the rules of its task, in a file `<data set>.jsonl` for each data set.

    The rows are those of a data set's `meta/annotations.jsonl`, with the source "rules" and the rule as author. An
    episode of a task without rules gets its frame 0 alone.

    Raises:
        BagError, DataError: the data cannot be used.
        OSError: a file cannot be written, or is there already: what a person may have corrected is not overwritten.
    """
    rows: dict[Path, list[str]] = {}
    for recording in tqdm(load_unmarked(data), desc="rules", unit="episode"):
        path = output / f"{recording.data_set.folder.name}.jsonl"
        if path.exists():
            raise FileExistsError(f"{path} is there already: move it away, or choose another --output")
        task = recording.task
        found = _found(recording, task)
        marks = [(0, 0), *((detection.frame, detection.phase) for detection in found)]
        rows.setdefault(path, []).extend(_row(recording, task, frame, phase) for frame, phase in marks)
    output.mkdir(parents=True, exist_ok=True)
    for path, lines in rows.items():
        write_whole(path, "".join(lines))
    return list(rows)


def _row(recording: LabeledEpisode, task: Task, frame: int, phase: int) -> str:
    stamp_ns = round(frame * 1e9 / recording.data_set.fps)
    author = task.cues[phase] if task.cues else "first_frame"
    return Annotation(recording.episode, frame, stamp_ns, phase, task.keyframes[phase], "rules", author, 1.0).line()


def report_rules(data: Path) -> str:
    """Return a table of each task's rule: precision, recall and F1 against the keyframes of `data`, frame 0 aside.

    Raises:
        BagError, DataError: the data cannot be used.
    """
    recordings = load_recordings(data, cameras=())
    cues: dict[str, tuple[str, ...]] = {}
    counts: dict[str, Counts] = {}
    episodes: dict[str, int] = {}
    offsets: dict[str, list[int]] = {}
    for recording in tqdm(recordings, desc="rules", unit="episode"):
        task, truth = recording.task, recording.keyframes
        name = task.name
        cues[name] = task.cues
        found = _found(recording, task)
        counts[name] = counts.get(name, Counts()) + count(found, truth)
        episodes[name] = episodes.get(name, 0) + 1
        offsets.setdefault(name, []).extend(d.frame - truth[d.phase] for d in found if d.phase < len(truth))
    lines = [
        "| task | rule | precision, % | recall, % | F1, % | median offset, frames | episodes |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, total in sorted(counts.items()):
        if not cues[name]:
            lines.append(f"| {name} | none: annotate by hand | - | - | - | - | {episodes[name]} |")
            continue
        shares = (percent(share) for share in (total.precision, total.recall, total.f1))
        middle = f"{np.median(offsets[name]):+.0f}" if offsets[name] else "-"
        lines.append(f"| {name} | {cues[name][-1]} | {' | '.join(shares)} | {middle} | {episodes[name]} |")
    return "\n".join(lines)
