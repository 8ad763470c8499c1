"""The image of a replay: both score curves over time; above them the keyframes of the bag, the live ones, losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2

from kc_vla.bags.errors import ReportError
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import Score
from kc_vla.media.canvas import AMBER, BLUE, GREEN, MUTED, OUTLINE, PANEL, RED, Canvas, Colour
from kc_vla.replay.comparison import last_frame
from kc_vla.replay.differences import Comparison, LiveRun

_WIDTH, _LEFT, _RIGHT = 1600, 110, 24
_TITLE, _LANE, _GAP, _PLOT, _FOOT = 56, 30, 8, 300, 40
_BAG, _LIVE, _ORACLE, _DROPPED = BLUE, AMBER, GREEN, RED


@dataclass(frozen=True)
class _Axes:
    """Where a frame and a score are drawn, px; `top` is the upper edge of the curves."""

    last: int
    top: int

    def x(self, frame: float) -> float:
        return _LEFT + frame / self.last * (_WIDTH - _LEFT - _RIGHT)

    def y(self, score: float) -> float:
        return self.top + 10 + (1.0 - min(1.0, max(0.0, score))) * (_PLOT - 20)


def write_picture(path: Path, episode: RecordedEpisode, live: LiveRun, comparison: Comparison) -> None:
    """Write the image of a replay to `path` (.png).

    Raises:
        ReportError: it cannot be encoded.
        OSError: it cannot be written.
    """
    done, png = cv2.imencode(".png", cv2.cvtColor(draw(episode, live, comparison).pixels, cv2.COLOR_RGB2BGR))
    if not done:
        raise ReportError(f"the plot of the replay of {episode.bag} cannot be encoded as PNG")
    path.write_bytes(png.tobytes())


def draw(episode: RecordedEpisode, live: LiveRun, comparison: Comparison) -> Canvas:
    """Return the image."""
    lanes = _lanes(comparison)
    axes = _Axes(max(1, last_frame(episode)), _TITLE + len(lanes) * (_LANE + _GAP))
    canvas = Canvas(_WIDTH, axes.top + _PLOT + _FOOT)
    canvas.text(_RIGHT, 14, f"Replay of {episode.status.title}", 22, bold=True)
    canvas.box(_LEFT, axes.top, _WIDTH - _LEFT - _RIGHT, _PLOT, PANEL)
    for number, lane in enumerate(lanes):
        _draw_lane(canvas, axes, _TITLE + number * (_LANE + _GAP), *lane)
    canvas.text(_RIGHT, axes.top + _PLOT // 2 - 8, "score", 14, MUTED)
    _draw_curve(canvas, axes, {frame: score.threshold for frame, score in live.scores.items()}, MUTED, 1)
    _draw_curve(canvas, axes, _values(episode.scores), _BAG, 4)
    _draw_curve(canvas, axes, _values(live.scores), _LIVE, 1)
    _draw_seconds(canvas, axes, episode.status.frame_period_s)
    return canvas


def _lanes(comparison: Comparison) -> list[tuple[str, list[int], Colour]]:
    """Name, frames and color of each lane above the curves; what there is nothing of has none."""
    pairs = comparison.keyframes
    lanes = [
        ("oracle", [pair.oracle for pair in pairs if pair.oracle is not None], _ORACLE),
        ("annotated", [pair.annotated for pair in pairs if pair.annotated is not None], _ORACLE),
        ("bag", [pair.bag.frame for pair in pairs if pair.bag is not None], _BAG),
        ("live", [pair.live.frame for pair in pairs if pair.live is not None], _LIVE),
        ("dropped", list(comparison.frames.dropped), _DROPPED),
    ]
    return [lane for lane in lanes if lane[1] or lane[0] in ("bag", "live")]


def _draw_lane(canvas: Canvas, axes: _Axes, top: int, name: str, frames: list[int], colour: Colour) -> None:
    canvas.text(_RIGHT, top + 7, name, 14, colour)
    canvas.box(_LEFT, top, _WIDTH - _LEFT - _RIGHT, _LANE, PANEL)
    for frame in frames:
        x = axes.x(frame)
        if name == "dropped":
            canvas.box(round(x), top, max(2, round(axes.x(1) - axes.x(0))), _LANE, colour)
        else:
            canvas.line([(x, top), (x, axes.top + _PLOT)], OUTLINE, 1)
            canvas.diamond(x, top + _LANE / 2, 8, colour)


def _values(scores: Mapping[int, Score]) -> dict[int, float]:
    return {frame: score.score for frame, score in scores.items()}


def _draw_curve(canvas: Canvas, axes: _Axes, values: Mapping[int, float], colour: Colour, thickness: int) -> None:
    """Join the values of neighboring frames; a frame without one is a gap."""
    for before, after in itertools.pairwise(sorted(frame for frame in values if frame <= axes.last)):
        if after == before + 1 and math.isfinite(values[before]) and math.isfinite(values[after]):
            canvas.line([(axes.x(f), axes.y(values[f])) for f in (before, after)], colour, thickness)


def _draw_seconds(canvas: Canvas, axes: _Axes, period_s: float) -> None:
    total_s, bottom = axes.last * period_s, axes.top + _PLOT
    every = next((s for s in (0.5, 1, 2, 5, 10, 30, 60, 300, 600) if total_s / s <= 20), 3600)
    for tick in range(math.floor(total_s / every) + 1):
        x = round(axes.x(tick * every / period_s))
        canvas.box(x, bottom, 1, 6, OUTLINE)
        canvas.text(x, bottom + 10, f"{tick * every:g} s", 14, MUTED, anchor="right" if tick else "left")
