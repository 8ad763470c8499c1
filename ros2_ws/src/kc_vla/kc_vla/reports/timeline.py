"""The timeline under the video: score against threshold, keyframes, the chunk that each step was taken from."""

from __future__ import annotations

import itertools
import math

import numpy as np

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode, KeyframeState, driven_by_person
from kc_vla.media.canvas import (
    AMBER,
    BLUE,
    GREEN,
    MUTED,
    OUTLINE,
    PANEL,
    RED,
    TEXT,
    Canvas,
    Colour,
    text_width,
)

_LEGEND_HEIGHT = 26
_PLOT_HEIGHT = 72
_LANE_HEIGHT = 16
_LANE_GAP = 8
_CAPTION = 62  # width of the captions at the left
_CHUNK_COLOURS: tuple[Colour, Colour] = ((59, 91, 152), (84, 122, 190))
PERSON_COLOURS: tuple[Colour, Colour] = ((146, 72, 140), (182, 100, 174))
"""Alternating colors of chunks where a person drove."""
_DIM = 0.28  # how much of the future shows

HEIGHT = _LEGEND_HEIGHT + _PLOT_HEIGHT + _LANE_GAP + _LANE_HEIGHT + 24
"""Height of the whole timeline, px."""


class Timeline:
    """Draws the timeline of an episode at any moment of it; what lies in the future is dim."""

    def __init__(self, episode: RecordedEpisode, width: int) -> None:
        """Draw everything that does not change from frame to frame.

        Args:
            episode: with at least one frame.
            width: px.
        """
        self._width = width
        self._last = max(1, episode.frames[-1].index)
        self._past = self._draw(episode)
        self._future = Canvas(width, HEIGHT)
        dim = self._past.pixels * _DIM + self._future.pixels * (1.0 - _DIM)
        self._future.pixels[_LEGEND_HEIGHT:] = dim[_LEGEND_HEIGHT:].astype(np.uint8)
        for half in (self._past, self._future):
            _draw_legend(half, bool(episode.takeovers))

    def paint(self, canvas: Canvas, x: int, y: int, frame: int, keyframes: tuple[KeyframeState, ...]) -> None:
        """Put the timeline as it stands at `frame` onto `canvas`, its upper left corner at (x, y)."""
        now = self._width if frame >= self._last else round(self._x(frame))
        canvas.pixels[y : y + HEIGHT, x : x + self._width] = self._future.pixels
        canvas.pixels[y : y + HEIGHT, x : x + now] = self._past.pixels[:, :now]
        plot = y + _LEGEND_HEIGHT
        bottom = plot + _PLOT_HEIGHT + _LANE_GAP + _LANE_HEIGHT
        for keyframe in keyframes:
            at = x + self._x(keyframe.frame)
            colour = GREEN if keyframe.committed else AMBER
            canvas.line([(at, plot + 8), (at, bottom)], colour, 1)
            canvas.diamond(at, plot + 8, 6, colour)
        playhead = x + self._x(frame)
        canvas.line([(playhead, y + _LEGEND_HEIGHT), (playhead, bottom)], TEXT, 2)

    def _x(self, frame: float) -> float:
        return _CAPTION + frame / self._last * (self._width - _CAPTION - 8)

    def _draw(self, episode: RecordedEpisode) -> Canvas:
        canvas = Canvas(self._width, HEIGHT)
        canvas.box(_CAPTION, _LEGEND_HEIGHT, self._width - _CAPTION, _PLOT_HEIGHT, PANEL)
        canvas.text(0, _LEGEND_HEIGHT + _PLOT_HEIGHT // 2 - 8, "score", 13, MUTED)
        self._draw_scores(canvas, episode)
        top = _LEGEND_HEIGHT + _PLOT_HEIGHT + _LANE_GAP
        canvas.text(0, top, "chunks", 13, MUTED)
        canvas.box(_CAPTION, top, self._width - _CAPTION, _LANE_HEIGHT, PANEL)
        self._draw_chunks(canvas, episode, top)
        self._draw_seconds(canvas, episode, top + _LANE_HEIGHT + 5)
        return canvas

    def _draw_scores(self, canvas: Canvas, episode: RecordedEpisode) -> None:
        def height(value: float) -> float:
            return _LEGEND_HEIGHT + 6 + (1.0 - min(1.0, max(0.0, value))) * (_PLOT_HEIGHT - 12)

        scores = [episode.scores[frame] for frame in sorted(episode.scores)]
        for before, after in itertools.pairwise(scores):
            # every second frame alone makes the threshold a dashed line
            if before.frame % 2 == 0:
                y = height(before.threshold)
                canvas.line([(self._x(before.frame), y), (self._x(after.frame), y)], MUTED, 1)
            if math.isfinite(before.score) and math.isfinite(after.score):
                ends = [(self._x(s.frame), height(s.score)) for s in (before, after)]
                canvas.line(ends, BLUE, 2)

    def _draw_chunks(self, canvas: Canvas, episode: RecordedEpisode, top: int) -> None:
        """Draw one block for each run of steps from the same chunk.

        Steps of a person look different, and steps in which the arm held are red.
        """
        previous: tuple[bool, int] | None = None
        shade = 0
        commands = {c.step: c for c in episode.commands}
        person = driven_by_person(episode.changes, list(commands))
        for command, by_person in zip(commands.values(), person, strict=True):
            hold = command.mode == CommandMode.HOLD
            source = (hold, 0 if hold else command.chunk_sequence)
            left, right = round(self._x(command.step)), round(self._x(command.step + 1))
            if source != previous:
                shade = 1 - shade
            colours = PERSON_COLOURS if by_person else _CHUNK_COLOURS
            canvas.box(left, top, right - left, _LANE_HEIGHT, RED if hold else colours[shade])
            if source != previous:
                canvas.box(left, top, 1, _LANE_HEIGHT, TEXT)
            previous = source

    def _draw_seconds(self, canvas: Canvas, episode: RecordedEpisode, y: int) -> None:
        period_s = episode.status.frame_period_s
        total_s = self._last * period_s
        every = next((s for s in (0.5, 1, 2, 5, 10, 30, 60, 300, 600) if total_s / s <= 14), 3600)
        for tick in range(math.floor(total_s / every) + 1):
            x = round(self._x(tick * every / period_s))
            label = f"{tick * every:g} s"
            canvas.box(x, y - 4, 1, 4, OUTLINE)
            middle = min(max(x, text_width(label, 12) // 2), self._width - text_width(label, 12) // 2)
            canvas.text(middle, y, label, 12, MUTED, anchor="middle")


def _draw_legend(canvas: Canvas, by_person: bool) -> None:
    """Say what the colors mean, at the right end of the upper edge."""
    x = canvas.pixels.shape[1]
    for name, colour in (
        ("hold", RED),
        *((("by a person", PERSON_COLOURS[1]),) if by_person else ()),
        ("chunk", _CHUNK_COLOURS[1]),
        ("threshold", MUTED),
        ("score", BLUE),
        ("candidate", AMBER),
        ("confirmed", GREEN),
    ):
        x -= text_width(name, 12)
        canvas.text(x, 2, name, 12, MUTED)
        x -= 15
        if name in ("candidate", "confirmed"):
            canvas.diamond(x + 5, 9, 5, colour)
        elif name in ("score", "threshold"):
            canvas.box(x, 8, 10, 2, colour)
        else:
            canvas.box(x, 4, 10, 10, colour)
        x -= 16
