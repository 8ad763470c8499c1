"""One episode of a run as its folder has it: what its summary tells, and which files there are beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kc_vla.core.untrusted import parsed_json, read_text
from kc_vla.reports.files import CONTACT_SHEET, POSTER, SUMMARY, VIDEO
from kc_vla.reports.run.fields import Fields

BAG = "bag"
PICTURES = {CONTACT_SHEET: "keyframes", "way.png": "the ways", "replay.png": "the replay", "tool_path.png": "tool path"}
"""What is shown, and what it is called; those of the household's and the replay's reports among them."""
TEXTS = {SUMMARY: "summary", "report.md": "report", "replay.md": "comparison", BAG: "bag"}
"""What is linked."""
_MOST_SUMMARY = 1 << 24


@dataclass(frozen=True)
class ReportedKeyframe:
    """A keyframe that was found. `late` is by how many frames (negative: early); None without a ground truth."""

    phase: int
    label: str
    frame: int
    committed: bool
    late: int | None


@dataclass(frozen=True)
class RunEpisode:
    """One episode.

    Attributes:
        name: its id, the name of its folder.
        files: names of those that there are in its folder, of `PICTURES`, `TEXTS`, the video and its poster.
        success: None where nobody judged it, or it has no result.
        reason: how it ended; empty where nobody says.
        steps, duration_s: None where nobody says.
        right, wanted: keyframes within the tolerance of the ground truth, and those of the ground truth.
        keyframes: that were found, by phase.
        latencies: ms, (p50, p99), by node and stage.
        settings: what it was run with, by name.
        stages: what there was to do, in order; `completed` of them were done.
        driven: when a person had taken over from the policy, a line each.
        notes: what is missing or was not well, a line each.
    """

    name: str
    files: frozenset[str] = frozenset()
    task: str = ""
    variant: str = ""
    seed: int | None = None
    instruction: str = ""
    success: bool | None = None
    reason: str = ""
    steps: int | None = None
    duration_s: float | None = None
    right: int | None = None
    wanted: int | None = None
    keyframes: tuple[ReportedKeyframe, ...] = ()
    latencies: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    stages: tuple[str, ...] = ()
    completed: int | None = None
    driven: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> tuple[str, str]:
        """Return how it ended, in a word, and in that of a style."""
        if self.success is None:
            return ("not judged", "open") if self.reason else ("no result", "open")
        return ("success", "good") if self.success else ("failed", "bad")


def files_in(folder: Path) -> frozenset[str]:
    """Return names of the files of a report that are in a folder."""
    known = {VIDEO, POSTER, *PICTURES, *TEXTS}
    return frozenset(name for name in known if (folder / name).exists())


def is_episode(folder: Path) -> bool:
    """Return whether a folder is one of an episode."""
    return bool(files_in(folder) & set(TEXTS))


def episode_in(folder: Path, line: Fields | None = None) -> RunEpisode:
    """Return the episode of a folder that may be missing, or hold nothing of use: then its notes say so.

    Args:
        folder: of the episode.
        line: of the table of the run, which has the result also where there is no summary.
    """
    found = RunEpisode(folder.name, files_in(folder) if folder.is_dir() else frozenset())
    try:
        found = _with_line(found, line) if line is not None else found
    except ValueError as error:
        found = _noted(found, f"its line in the table of the run is not right: {error}")
    if not folder.is_dir():
        return _noted(found, "its folder is missing: it was moved or removed, or nothing was recorded")
    if SUMMARY not in found.files:
        made = f": kc-vla report {folder.name}/{BAG} makes it" if BAG in found.files else ", and no bag to make it of"
        others = found.files & {"report.md", "replay.md"}
        return found if others else _noted(found, f"no {SUMMARY}{made}")
    try:
        found = _with_summary(found, Fields(parsed_json(read_text(folder / SUMMARY, _MOST_SUMMARY))))
    except (ValueError, OSError) as error:
        return _noted(found, f"{SUMMARY} cannot be used: {getattr(error, 'strerror', None) or error}")
    return found


def _noted(episode: RunEpisode, *notes: str) -> RunEpisode:
    return replace(episode, notes=(*episode.notes, *notes))


def _with_line(episode: RunEpisode, line: Fields) -> RunEpisode:
    return replace(
        episode,
        task=line.text("task") or "",
        seed=line.whole("seed"),
        success=line.flag("success"),
        reason=line.text("reason") or "",
        steps=line.whole("steps"),
        right=line.whole("keyframes_right"),
        wanted=line.whole("keyframes_wanted"),
    )


def _with_summary(episode: RunEpisode, told: Fields) -> RunEpisode:
    keyframes = told.inner("keyframes")
    settings = told.inner("settings")
    latencies = {(node, stage): both for node, stage, both in _latencies(told.inner("latency_ms"))}
    return _noted(
        replace(
            episode,
            task=told.text("task") or "",
            variant=told.text("variant") or "",
            seed=told.whole("seed"),
            instruction=told.text("instruction") or "",
            success=told.flag("success"),
            reason=told.text("reason") or "",
            steps=told.whole("steps"),
            duration_s=told.number("duration_s"),
            right=keyframes.whole("right"),
            wanted=keyframes.whole("wanted"),
            keyframes=tuple(_keyframe(row) for row in keyframes.rows("ours")),
            latencies=latencies,
            settings={
                **{name: settings.text(name) or "" for name in settings.names()},
                **{name: value for name in ("variant", "stack_version") if (value := told.text(name))},
            },
            stages=told.texts("stages"),
            completed=told.whole("completed_stages"),
            driven=tuple(
                f"a person drove from frame {span.whole('first')} to {span.whole('last')} ({span.text('device')})"
                for span in told.rows("takeovers")
            ),
        ),
        *_notes(told, episode.files),
    )


def _keyframe(row: Fields) -> ReportedKeyframe:
    return ReportedKeyframe(
        phase=row.whole("phase") or 0,
        label=row.text("label") or "",
        frame=row.whole("frame") or 0,
        committed=bool(row.flag("committed")),
        late=row.whole("difference"),
    )


def _latencies(nodes: Fields) -> Iterable[tuple[str, str, tuple[float, float]]]:
    for node in nodes.names():
        stages = nodes.inner(node)
        for stage in stages.names():
            of_stage = stages.inner(stage)
            middle, most = of_stage.number("p50"), of_stage.number("p99")
            if middle is not None and most is not None:
                yield node, stage, (middle, most)


def _lost(node: str, count: int, what: str) -> str:
    """Return what a node lost of a topic, or what else it counts, in words."""
    return f"{node}: {count} x {what}" if " " in what else f"{node} lost {count} of {what}"


def _notes(told: Fields, files: frozenset[str]) -> Iterable[str]:
    if told.text("reason") is None:
        yield "no result: its bag ends before the end of the episode"
    yield from told.texts("damages")
    problems = told.inner("problems")
    yield from (f"{node}: {problems.text(node)}" for node in problems.names())
    dropped = told.inner("dropped")
    for node in dropped.names():
        topics = dropped.inner(node)
        lost = {topic: count for topic in topics.names() if (count := topics.whole(topic))}
        yield from (_lost(node, count, topic) for topic, count in lost.items())
    for hold in told.rows("holds"):
        count = hold.whole("count")
        yield f"the arm held {'once' if count == 1 else f'{count} times'}: {hold.text('reason')}"
    if told.whole("frames") and VIDEO not in files:
        yield "no film: it was not wanted, or could not be made"
