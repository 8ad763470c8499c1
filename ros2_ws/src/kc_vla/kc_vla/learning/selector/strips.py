"""One image for each episode: scores, threshold, truth and detections over time, and the keyframes themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from kc_vla.keyframes.image_crop import Picture
from kc_vla.learning.selector.evaluation import EpisodeResult

_COLOURS = ("#7f7f7f", "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2")


def draw_strip(result: EpisodeResult, model: str, path: Path, size: int = 96) -> None:
    """Draw what a selector made of an episode.

    Above, the score of the phase that the selector waited for in each frame, colored by phase; below, for each
    keyframe the image that was true and the one that the selector keeps.

    Args:
        result: of the evaluation.
        model: name of the selector.
        path: PNG file to write.
        size: of the small images, px.
    """
    recording, seen = result.recording, result.seen
    labels = recording.task.keyframes
    phases = len(seen.truth)
    colours = [_COLOURS[phase % len(_COLOURS)] for phase in range(len(labels))]
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    grid = figure.add_gridspec(3, phases, height_ratios=(2, 1, 1))
    axis = figure.add_subplot(grid[0, :])
    waited = _phase_waited_for(result)
    for phase in range(1, phases):
        shown = np.where(waited == phase, result.scores[:, phase], np.nan)
        axis.plot(seen.frames, shown, color=colours[phase], linewidth=1.2)
        axis.axvline(seen.truth[phase], color=colours[phase], linestyle=":", linewidth=1.5)
    axis.axhline(result.threshold, color="black", linewidth=0.7, linestyle="--")
    for detection in result.free:
        at = detection.frame if detection.committed is None else detection.committed
        axis.plot(at, 1.06, marker="v", color=colours[detection.phase], clip_on=False)
    axis.set(xlim=(0, seen.length), ylim=(0, 1.02), ylabel="score", xlabel="frame")
    axis.set_title(
        f"{model}, {recording.name}: score of the phase waited for, threshold (dashed), truth (dotted), kept (marks)",
        fontsize="medium",
        pad=12,
    )
    kept = {d.phase: d.frame if d.committed is None else d.committed for d in result.free}
    sources = dict(zip(seen.frames.tolist(), seen.source.tolist(), strict=True))
    wanted = {*recording.keyframes, *(sources[frame] for frame in kept.values())}
    pictures = {k: p for k, p in enumerate(recording.pictures(size)) if k in wanted}
    for phase in range(phases):
        truth = pictures[recording.keyframes[phase]]
        own = pictures[sources[kept[phase]]] if phase in kept else None
        for row, picture in ((1, truth), (2, truth if phase == 0 else own)):
            _show(figure.add_subplot(grid[row, phase]), picture, labels[phase] if row == 1 else None, colours[phase])
    figure.savefig(path, dpi=90)


def _phase_waited_for(result: EpisodeResult) -> np.ndarray:
    """Return the selector's own phase (N,) in each frame that it saw; beyond the last when all are committed."""
    waited = np.ones(len(result.seen.frames), np.int64)
    for detection in result.free:
        if detection.committed is not None:
            waited[result.seen.frames > detection.committed] = detection.phase + 1
    return waited


def _show(axis: object, picture: Picture | None, title: str | None, colour: str) -> None:
    height, width = (1, 1) if picture is None else picture.shape[:2]
    axis.set_box_aspect(height / width)  # type: ignore[attr-defined]
    axis.set_xticks([])  # type: ignore[attr-defined]
    axis.set_yticks([])  # type: ignore[attr-defined]
    if picture is None:
        axis.text(0.5, 0.5, "missed", ha="center", va="center")  # type: ignore[attr-defined]
    else:
        axis.imshow(picture)  # type: ignore[attr-defined]
    if title is not None:
        axis.set_title(title, fontsize="small", color=colour)  # type: ignore[attr-defined]
