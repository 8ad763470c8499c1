"""One image of the episode video: the views, the keyframes so far, the selector's score, the timeline."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kc_vla.core.tasks import TASKS
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import KeyframeState, RecordedEvent, RecordedFrame, Score, keyframes_after
from kc_vla.keyframes.smoothing import Decision
from kc_vla.media.canvas import (
    AMBER,
    BLUE,
    GREEN,
    MUTED,
    OUTLINE,
    PANEL,
    TEXT,
    Canvas,
    Picture,
    shortened,
)
from kc_vla.reports import timeline
from kc_vla.reports.plan_panel import PlanPanel
from kc_vla.reports.verdict import success_of, verdict

WIDTH, HEIGHT = 1280, 720
_MARGIN = 24
_VIEW = 468
"""Height of the views, and of the panel beside them."""
_VIEW_TOP = 72
_VIEWS_WIDTH, _VIEWS_GAP = 952, 16
_PANEL_LEFT = _MARGIN + _VIEWS_WIDTH + 20
_PANEL_WIDTH = WIDTH - _MARGIN - _PANEL_LEFT
_THUMBNAILS = 2
"""Views of a keyframe in the panel: more would leave no room for its label."""
_ROWS_TOP = _VIEW_TOP + 26
_GAUGE_HEIGHT = 66
_ROW_MAX = 92
_FLASH_FRAMES = 8


class VideoLayout:
    """Composes the images of one episode, in order of time."""

    def __init__(self, episode: RecordedEpisode) -> None:
        """Prepare what all images share; `episode` has at least one frame."""
        self._episode = episode
        self._by_index = {frame.index: frame for frame in episode.frames}
        self._last = episode.frames[-1].index
        self._timeline = timeline.Timeline(episode, WIDTH - 2 * _MARGIN)
        self._labels = _phase_labels(episode)
        rows = max(1, len(self._labels))
        self._row = min(_ROW_MAX, (_VIEW - 26 - _GAUGE_HEIGHT) // rows)
        self._tiles = tiles(len(episode.views), _VIEWS_WIDTH, _VIEW, _VIEWS_GAP)
        self._shown = episode.views[:_THUMBNAILS]
        self._thumbnails: dict[int, list[Picture | None]] = {}
        self._plan = PlanPanel(episode.instructions) if episode.instructions else None
        self._blank = self._draw_head()

    def compose(self, frame: RecordedFrame, ended: bool = False) -> Picture:
        """Return the image of `frame`, (720, 1280, 3) uint8 RGB; `ended` shows the result below the views."""
        canvas = self._blank.copy()
        right = WIDTH - _MARGIN
        canvas.text(right, 12, f"{self._episode.time_s(frame.stamp_ns):.2f} s", 26, bold=True, anchor="right")
        canvas.text(right, 44, f"frame {frame.index} / {self._last}", 14, MUTED, anchor="right")
        keyframes = keyframes_after(self._episode.events, frame.index)
        self._draw_views(canvas, frame)
        if self._plan is None:
            self._draw_keyframes(canvas, keyframes)
            self._draw_gauge(canvas, frame.index, keyframes)
        else:
            self._plan.paint(canvas, _PANEL_LEFT, _VIEW_TOP, _PANEL_WIDTH, _VIEW, frame.index)
        self._timeline.paint(canvas, _MARGIN, HEIGHT - timeline.HEIGHT - 14, frame.index, keyframes)
        if ended:
            self._draw_result(canvas)
        return canvas.pixels

    def _draw_head(self) -> Canvas:
        canvas = Canvas(WIDTH, HEIGHT)
        status = self._episode.status
        room = WIDTH - 2 * _MARGIN - 180
        canvas.text(_MARGIN, 13, shortened(status.instruction, 22, room, bold=True), 22, bold=True)
        backends = sorted({chunk.backend for chunk in self._episode.chunks if chunk.backend})
        parts = [status.title, status.episode_id, *(f"policy: {b}" for b in backends)]
        canvas.text(_MARGIN, 44, shortened("  ·  ".join(parts), 14, room), 14, MUTED)
        return canvas

    def _draw_views(self, canvas: Canvas, frame: RecordedFrame) -> None:
        event = self._recent_event(frame.index)
        side, views = self._tiles.side, self._episode.views
        for number, (view, (left, top)) in enumerate(zip(views, self._tiles.places, strict=True)):
            ref = frame.pictures.get(view)
            x, y = _MARGIN + left, _VIEW_TOP + top
            if ref is None:
                canvas.box(x, y, side, side, PANEL)
                canvas.text(x + side // 2, y + side // 2 - 8, "no picture", 16, MUTED, anchor="middle")
            else:
                canvas.picture(x, y, side, self._episode.image(ref))
            canvas.chip(x + 10, y + 10, view.replace("_", " "), 13, PANEL, TEXT)
            if event is not None:
                colour = GREEN if event.type == Decision.COMMITTED else AMBER
                canvas.frame(x, y, side, side, colour, 5)
                if number == 0:
                    word = "confirmed" if event.type == Decision.COMMITTED else "candidate"
                    text = f"{word}: {event.label} (frame {event.frame})"
                    canvas.chip(x + 14, y + side - 40, text, 16, colour)

    def _recent_event(self, index: int) -> RecordedEvent | None:
        """Return the last keyframe event of the last few frames."""
        recent = [
            event
            for event in self._episode.events
            if event.type != Decision.RESET and 0 <= index - event.decided_at_frame < _FLASH_FRAMES
        ]
        return recent[-1] if recent else None

    def _draw_keyframes(self, canvas: Canvas, keyframes: tuple[KeyframeState, ...]) -> None:
        canvas.text(_PANEL_LEFT, _VIEW_TOP, "KEYFRAMES", 14, MUTED, bold=True)
        known = {keyframe.phase: keyframe for keyframe in keyframes}
        for row, (phase, label) in enumerate(sorted(self._labels.items())):
            y = _ROWS_TOP + row * self._row
            if phase in known:
                self._draw_keyframe(canvas, y, known[phase])
            else:
                canvas.frame(_PANEL_LEFT, y, _PANEL_WIDTH, self._row - 6, OUTLINE)
                middle = y + (self._row - 6) // 2 - 8
                canvas.text(_PANEL_LEFT + 12, middle, shortened(label, 14, _PANEL_WIDTH - 24), 14, OUTLINE)

    def _draw_keyframe(self, canvas: Canvas, y: int, keyframe: KeyframeState) -> None:
        height = self._row - 6
        colour = GREEN if keyframe.committed else AMBER
        canvas.box(_PANEL_LEFT, y, _PANEL_WIDTH, height, PANEL)
        canvas.box(_PANEL_LEFT, y, 4, height, colour)
        side = height - 8
        x = _PANEL_LEFT + 8
        for picture in self._thumbnail(keyframe.frame):
            if picture is not None:
                canvas.picture(x, y + 4, side, picture)
            x += side + 4
        room = _PANEL_LEFT + _PANEL_WIDTH - x - 4
        lines = [(shortened(keyframe.label, 14, room, bold=True), 14, TEXT)]
        if height >= 40:
            lines.append((f"frame {keyframe.frame}", 12, MUTED))
        if height >= 60:
            lines.append(("confirmed" if keyframe.committed else "candidate", 12, colour))
        top = y + (height - 18 * len(lines)) // 2
        for row, (text, size, ink) in enumerate(lines):
            canvas.text(x + 4, top + 18 * row, text, size, ink, bold=row == 0)

    def _thumbnail(self, index: int) -> list[Picture | None]:
        if index not in self._thumbnails:
            frame = self._by_index.get(index)
            refs = [frame.pictures.get(view) if frame is not None else None for view in self._shown]
            self._thumbnails[index] = [None if ref is None else self._episode.image(ref) for ref in refs]
        return self._thumbnails[index]

    def _watching(self, score: Score | None, keyframes: tuple[KeyframeState, ...]) -> str:
        if score is None:
            return "no word from the selector"
        if {k.phase for k in keyframes if k.committed} >= set(self._labels):
            return "all keyframes found"
        return f"watching for: {self._labels.get(score.phase, f'keyframe {score.phase}')}"

    def _draw_gauge(self, canvas: Canvas, index: int, keyframes: tuple[KeyframeState, ...]) -> None:
        """Draw the score of this frame as a bar, with a tick at the threshold."""
        y = _VIEW_TOP + _VIEW - _GAUGE_HEIGHT + 8
        score = self._episode.scores.get(index)
        canvas.text(_PANEL_LEFT, y, shortened(self._watching(score, keyframes), 13, _PANEL_WIDTH), 13, MUTED)
        top = y + 24
        canvas.box(_PANEL_LEFT, top, _PANEL_WIDTH - 46, 16, PANEL)
        if score is None:
            return
        known = math.isfinite(score.score)
        width = _PANEL_WIDTH - 46
        if known:
            fill = round(min(1.0, max(0.0, score.score)) * width)
            canvas.box(_PANEL_LEFT, top, fill, 16, GREEN if score.score > score.threshold else BLUE)
        tick = _PANEL_LEFT + round(min(1.0, max(0.0, score.threshold)) * width)
        canvas.box(tick - 1, top - 4, 2, 24, TEXT)
        canvas.text(
            _PANEL_LEFT + _PANEL_WIDTH, top, f"{score.score:.2f}" if known else "-", 16, bold=True, anchor="right"
        )

    def _draw_result(self, canvas: Canvas) -> None:
        """Draw the result between the views and the timeline, where it covers neither."""
        result = self._episode.result
        y = _VIEW_TOP + _VIEW + 8
        word, colour = verdict(self._episode)
        width = canvas.chip(_MARGIN, y, word, 18, colour)
        if result is None:
            return
        parts = [] if success_of(self._episode) else [self._reason() or result.reason]
        parts += [f"{result.completed_stages} of {len(result.stages)} stages"] if result.judged else []
        text = "  ·  ".join([*parts, f"{result.duration_s:.2f} s"])
        canvas.text(_MARGIN + width + 14, y + 3, shortened(text, 18, 600), 18)

    def _reason(self) -> str:
        """Return why an instruction of a planner was not done; empty where all were."""
        return next((each.reason for each in self._episode.instructions if each.reason), "")


@dataclass(frozen=True)
class Tiles:
    """Equal squares in a box, px.

    Attributes:
        side: of each.
        places: upper left corner of each, from that of the box.
    """

    side: int
    places: tuple[tuple[int, int], ...]


def tiles(count: int, width: int, height: int, gap: int) -> Tiles:
    """Return so many squares, row by row, as large as they can be in the middle of a box of that size, px."""
    columns = max(range(1, count + 1), key=lambda columns: _side(count, columns, width, height, gap))
    best = _side(count, columns, width, height, gap)
    rows = -(-count // columns)
    left, top = ((room - across * (best + gap) + gap) // 2 for room, across in ((width, columns), (height, rows)))
    places = (divmod(number, columns) for number in range(count))
    return Tiles(best, tuple((left + column * (best + gap), top + row * (best + gap)) for row, column in places))


def _phase_labels(episode: RecordedEpisode) -> dict[int, str]:
    """Return the label of every phase that the task or the episode names, whether or not it was reached."""
    task = TASKS.get(episode.status.task)
    labels = dict(enumerate(task.keyframes)) if task is not None else {}
    labels.update({e.phase: e.label for e in episode.events if e.type != Decision.RESET})
    return labels


def _side(count: int, columns: int, width: int, height: int, gap: int) -> int:
    rows = -(-count // columns)
    return min((width + gap) // columns, (height + gap) // rows) - gap
