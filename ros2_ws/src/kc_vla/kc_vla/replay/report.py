"""The report of a replay: lines for a person, replay.md with the same, replay.json for a program, and an image."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kc_vla.bags.errors import ReportError
from kc_vla.core.files import write_whole
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.keyframes.metrics import TOLERANCE_FRAMES
from kc_vla.replay.as_json import plain
from kc_vla.replay.differences import ChunkDifference, Comparison, LiveRun
from kc_vla.replay.plot import write_picture

JSON, MARKDOWN, PICTURE = "replay.json", "replay.md", "replay.png"


@dataclass(frozen=True)
class ReplaySettings:
    """How it was replayed.

    Attributes:
        rate: times as fast as it was seen.
        source: of the live keyframes.
        policy: backend of the live policy server; "none" without one.
        notes: one line for each thing that is not as it should be.
    """

    rate: float
    source: str
    policy: str
    notes: tuple[str, ...] = ()


def write_replay_report(
    folder: Path, episode: RecordedEpisode, live: LiveRun, comparison: Comparison, settings: ReplaySettings
) -> list[str]:
    """Write the report into `folder`; return lines for a person.

    Raises:
        ReportError: a file cannot be written.
    """
    told = lines(episode, comparison, settings)
    about = {
        "bag": str(episode.bag),
        "episode_id": episode.status.episode_id,
        "task": episode.status.task,
        "rate": settings.rate,
        "source": settings.source,
        "policy": settings.policy,
        "notes": list(settings.notes),
    }
    heading = f"# Replay of {episode.status.episode_id}\n\n`{episode.bag}`\n\n"
    try:
        write_whole(folder / JSON, json.dumps({**about, **plain(comparison)}, indent=2, ensure_ascii=False) + "\n")
        write_whole(folder / MARKDOWN, heading + "\n".join(told) + f"\n\n![scores]({PICTURE})\n")
        write_picture(folder / PICTURE, episode, live, comparison)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportError(f"cannot write the report into {folder}: {why}; free space or choose another") from error
    return [*told, "", *(f"{folder / name}" for name in (MARKDOWN, JSON, PICTURE))]


def lines(episode: RecordedEpisode, comparison: Comparison, settings: ReplaySettings) -> list[str]:
    """Return the comparison in words and tables."""
    settings_told = f"{episode.status.title}; live: source {settings.source}, policy {settings.policy}"
    told = [f"{settings_told}, rate {settings.rate:g}", "", *_frames(comparison, settings.rate)]
    told += [f"Note: {note}." for note in settings.notes]
    told += ["", *_annotated(comparison), *_keyframes(comparison), "", *_scores(comparison)]
    told += ["", *(_chunks(comparison.chunks) if comparison.chunks is not None else ["Chunks were not asked for."])]
    return [*told, "", *_latencies(comparison)]


def _frames(comparison: Comparison, rate: float) -> list[str]:
    frames = comparison.frames
    told = [f"Frames: {frames.played} played, {frames.scored} scored live, {frames.scored_in_bag} in the bag."]
    if frames.dropped:
        advice = f": try a lower rate than {rate:g}" if frames.scored else ""
        told.append(
            f"The live graph did NOT keep up{advice}. {len(frames.dropped)} of them dropped: {ranges(frames.dropped)}."
        )
    told += [
        f"{loss.node} lost {loss.live or 0} of {loss.topic} (in the recording: {loss.bag or 0})."
        for loss in comparison.losses
        if loss.bag or loss.live
    ]
    return told


def _annotated(comparison: Comparison) -> list[str]:
    if comparison.annotated is None:
        return []
    marked = [pair for pair in comparison.keyframes if pair.annotated is not None]
    right = sum(pair.as_annotated for pair in marked)
    who = comparison.annotated.author
    return [f"Annotated by {who}: {right} of {len(marked)} found live within {TOLERANCE_FRAMES} frames."]


def _keyframes(comparison: Comparison) -> list[str]:
    pairs = comparison.keyframes
    same = sum(pair.same for pair in pairs if pair.bag is not None)
    recorded = sum(pair.bag is not None for pair in pairs)
    extra = sum(pair.bag is None and pair.live is not None for pair in pairs)
    told = f"Keyframes: {same} of {recorded} as in the bag" + (f", {extra} more" if extra else "") + "."
    has_truth = any(pair.oracle is not None for pair in pairs)
    is_marked = any(pair.annotated is not None for pair in pairs)
    rows = [
        [
            str(pair.phase),
            pair.label,
            *([_frame(pair.oracle)] if has_truth else []),
            *([_frame(pair.annotated)] if is_marked else []),
            _frame(pair.bag.frame if pair.bag is not None else None),
            _frame(pair.live.frame if pair.live is not None else None),
            f"{pair.difference:+d}" if pair.difference else _frame(pair.difference),
            pair.verdict,
        ]
        for pair in pairs
    ]
    head = ["phase", "label", *(["oracle"] if has_truth else []), *(["annotated"] if is_marked else [])]
    head += ["bag", "live", "live - bag", ""]
    return [told, "", *table(head, rows)]


def _scores(comparison: Comparison) -> list[str]:
    scores = comparison.scores
    if not scores.frames:
        return ["Scores: no frame has a score in the bag and live."]
    told = f"Scores: equal over {scores.frames} frames."
    if scores.largest > 0.0:
        told = (
            f"Scores: over {scores.frames} frames they differ by {scores.mean:.2g} in the mean and by "
            f"{scores.largest:.2g} at most (frame {scores.largest_at})."
        )
    more = [f"At {scores.other_phase} frames the two waited for different keyframes."] if scores.other_phase else []
    more += [f"Of {scores.one_sided} frames only one of the two has a score."] if scores.one_sided else []
    return [" ".join([told, *more])]


def _chunks(chunks: ChunkDifference) -> list[str]:
    told = [f"Chunks: {chunks.answered} of {chunks.asked} answered, {chunks.actions} actions compared."]
    if chunks.later:
        told.append(f"{chunks.later} were computed from a later frame than in the bag.")
    if chunks.other_keyframes:
        frame, bag, live = chunks.other_keyframes[0]
        example = f"at frame {frame} those of frames {ranges(live) or 'none'} instead of {ranges(bag) or 'none'}"
        told.append(f"{len(chunks.other_keyframes)} were given other keyframes than in the bag, first {example}.")
    if chunks.other_columns:
        told.append(f"{chunks.other_columns} cannot be compared: other columns, or other steps.")
    if chunks.missing:
        frame, reason = chunks.missing[0]
        told.append(f"No answer for frame {ranges(sorted({f for f, _ in chunks.missing}))}; of {frame}: {reason}.")
    if not chunks.columns:
        return told
    rows = [[c.name, c.unit, f"{c.largest:.5f}", str(c.largest_at), f"{c.rms:.5f}"] for c in chunks.columns]
    return [*told, "", *table(["column", "unit", "largest", "at step", "rms"], rows)]


def _latencies(comparison: Comparison) -> list[str]:
    rows = [
        [s.node, s.stage, *(_ms(side, figure) for side in (s.live, s.bag) for figure in ("p50", "p99"))]
        for s in comparison.stages
    ]
    head = ["node", "stage", "live p50", "live p99", "bag p50", "bag p99"]
    return ["Latency, ms (that of the bag on the machine that recorded it):", "", *table(head, rows)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table that reads well as text and is Markdown."""
    cells = [[cell.replace("|", "/").replace("\n", " ") for cell in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(head))]
    cells.insert(1, ["-" * width for width in widths])
    return ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in cells]


def ranges(numbers: Sequence[int], most: int = 8) -> str:
    """Return ascending numbers in short: 3-5, 9; at most so many ranges."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    told = [str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups[:most]]
    return ", ".join(told) + (f" and {len(groups) - most} more" if len(groups) > most else "")


def _frame(number: int | None) -> str:
    return "-" if number is None else str(number)


def _ms(stage: Mapping[str, float] | None, figure: str) -> str:
    value = (stage or {}).get(figure, math.nan)
    return f"{value:.1f}" if math.isfinite(value) else "-"
