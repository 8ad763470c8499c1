"""What all episodes of a run come to: success, keyframes, latencies, settings and what was not well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from kc_vla.core.shares import Share
from kc_vla.keyframes.metrics import TOLERANCE_FRAMES
from kc_vla.reports.run.episode import RunEpisode

FARTHEST = 30
"""Frames; an offset beyond is drawn there."""


@dataclass(frozen=True)
class TaskSuccess:
    """Success of the episodes of a task, None where none was judged; `open` of them were not."""

    task: str
    share: Share | None
    open: int


@dataclass(frozen=True)
class TaskOffsets:
    """How late the keyframes of a task were.

    Attributes:
        task: which; "" for all.
        counts: of found keyframes by frames late (negative: early), at most `FARTHEST`; frame 0 does not count.
        right, wanted: within the tolerance, and those of the ground truth.
    """

    task: str
    counts: dict[int, int]
    right: int
    wanted: int


@dataclass(frozen=True)
class StageLatency:
    """Latency of a stage of a node, ms: the median of the episodes' medians, and the worst of their p99."""

    node: str
    stage: str
    p50: float
    p99: float


@dataclass(frozen=True)
class RunSetting:
    """What episodes were run with; each value with how many of them."""

    name: str
    values: dict[str, int]


def successes(episodes: Sequence[RunEpisode]) -> list[TaskSuccess]:
    """Return the success of each task, by name, and of all of them at the end if there are several."""
    found = [_success(task, some) for task, some in _by_task(episodes)]
    return [*found, _success("all", episodes)] if len(found) > 1 else found


def _success(task: str, episodes: Sequence[RunEpisode]) -> TaskSuccess:
    judged = [each.success for each in episodes if each.success is not None]
    share = Share(sum(judged), len(judged)) if judged else None
    return TaskSuccess(task, share, len(episodes) - len(judged))


def offsets(episodes: Sequence[RunEpisode]) -> list[TaskOffsets]:
    """Return the offsets of the keyframes of each task with a ground truth, by name."""
    found = []
    for task, some in _by_task(episodes):
        late = [k.late for each in some for k in each.keyframes if k.phase > 0 and k.late is not None]
        wanted = sum(each.wanted or 0 for each in some)
        if wanted:
            counts = Counter(max(-FARTHEST, min(FARTHEST, frames)) for frames in late)
            found.append(TaskOffsets(task, dict(counts), sum(each.right or 0 for each in some), wanted))
    return found


def is_near(frames: int) -> bool:
    """Return whether an offset is within the tolerance."""
    return abs(frames) <= TOLERANCE_FRAMES


def latencies(episodes: Iterable[RunEpisode]) -> list[StageLatency]:
    """Return the latency of each stage of each node, by their names."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for each in episodes:
        for place, both in each.latencies.items():
            found.setdefault(place, []).append(both)
    return [
        StageLatency(*place, median(p50 for p50, _ in both), max(p99 for _, p99 in both))
        for place, both in sorted(found.items())
    ]


def settings(episodes: Iterable[RunEpisode]) -> list[RunSetting]:
    """Return the settings of the run, those first that most of the episodes have."""
    found: dict[str, Counter[str]] = {}
    for each in episodes:
        for name, value in each.settings.items():
            found.setdefault(name, Counter())[value] += 1
    return [RunSetting(name, dict(counts.most_common())) for name, counts in found.items()]


def warnings(
    episodes: Sequence[RunEpisode], notes: Sequence[str], made_of: Sequence[RunSetting]
) -> list[tuple[str, int]]:
    """Return what was not well, in lines, and in how many episodes; 0 where it is about the run."""
    about_run = list(notes)
    if not episodes:
        about_run.append("there are no episodes")
    about_run += [
        f"not all episodes have the same {each.name}: {_counted(each)}"
        for each in made_of
        if len(each.values) > 1 and each.name != "variant"
    ]
    counts = Counter(note for each in episodes for note in dict.fromkeys(each.notes))
    return [*((note, 0) for note in about_run), *counts.most_common()]


def _counted(setting: RunSetting) -> str:
    return ", ".join(f"{value} ({count})" for value, count in setting.values.items())


def _by_task(episodes: Iterable[RunEpisode]) -> list[tuple[str, list[RunEpisode]]]:
    found: dict[str, list[RunEpisode]] = {}
    for each in episodes:
        found.setdefault(each.task or "unknown task", []).append(each)
    return sorted(found.items())
