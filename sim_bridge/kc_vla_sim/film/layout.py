"""One image of the video of an episode."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.tasks import Task
from kc_vla.core.views import Views
from kc_vla.media.canvas import AMBER, BLUE, GREEN, MUTED, OUTLINE, PANEL, RED, TEXT, Canvas, Picture, shortened
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import CONTROL_RATE

WIDTH, HEIGHT = 1280, 720
_MARGIN = 24
_GAP = 12
_VIEW = 452
_VIEW_TOP = 72
_PANEL_LEFT = _MARGIN + 2 * (_VIEW + _GAP) + 8
_PANEL_WIDTH = WIDTH - _MARGIN - _PANEL_LEFT
_STRIP_TOP = _VIEW_TOP + _VIEW + 36
_STRIP_HEIGHT = HEIGHT - _STRIP_TOP - 16
_CAPTION = 40
_LINE = 24
_FLASH_FRAMES = 10
"""How long a new keyframe or decision frames the views."""


@dataclass(frozen=True)
class KeyframeTile:
    """A keyframe on the strip: its frame and what the cameras saw then."""

    frame: int
    views: Views


@dataclass(frozen=True)
class VideoFrame:
    """All that the video shows of one frame.

    Attributes:
        frame: with its images.
        phase: phase of the expert or policy that moves the arm.
        keyframes: those known by now, by label.
        decisions: moments of decision so far: the frame, and the right choice.
    """

    frame: SimulatedFrame
    phase: str
    keyframes: dict[str, KeyframeTile]
    decisions: tuple[tuple[int, str], ...]

    @property
    def newest(self) -> int:
        """Return the frame of the newest keyframe or decision; 0 where nothing is known."""
        return max([0, *(seen.frame for seen in self.keyframes.values()), *(frame for frame, _ in self.decisions)])


class FilmLayout:
    """Composes the images of one episode."""

    def __init__(self, task: Task, seed: int, variant: str, looks: str, driver: str = "expert") -> None:
        """Prepare the frame around the images.

        Args:
            task: that is shown.
            seed: of the episode.
            variant: of the task.
            looks: its visual randomization.
            driver: what moves the arm.
        """
        self._task, self._driver = task, driver
        self._blank = Canvas(WIDTH, HEIGHT)
        room = WIDTH - 2 * _MARGIN - 180
        self._blank.text(_MARGIN, 13, shortened(task.instruction, 22, room, bold=True), 22, bold=True)
        told = f"{task.name}  ·  {task.environment}  ·  {variant}, {looks} looks  ·  seed {seed}  ·  {driver}"
        self._blank.text(_MARGIN, 44, shortened(told, 14, room), 14, MUTED)
        self._blank.text(_MARGIN, _STRIP_TOP - 24, "KEYFRAMES", 14, MUTED, bold=True)

    def compose(self, moment: VideoFrame) -> Picture:
        """Return the image of one moment, (HEIGHT, WIDTH, 3) RGB."""
        canvas = self._blank.copy()
        frame = moment.frame
        canvas.text(WIDTH - _MARGIN, 12, f"{frame.index / CONTROL_RATE:.2f} s", 26, bold=True, anchor="right")
        canvas.text(WIDTH - _MARGIN, 44, f"frame {frame.index}", 14, MUTED, anchor="right")
        self._draw_views(canvas, moment)
        self._draw_panel(canvas, moment)
        self._draw_strip(canvas, moment)
        return canvas.pixels

    def _draw_views(self, canvas: Canvas, moment: VideoFrame) -> None:
        frame = moment.frame
        deciding = any(0 <= frame.index - at < _FLASH_FRAMES for at, _ in moment.decisions)
        for column, (name, picture) in enumerate(frame.views.items()):
            x = _MARGIN + column * (_VIEW + _GAP)
            canvas.picture(x, _VIEW_TOP, _VIEW, picture)
            canvas.chip(x + 10, _VIEW_TOP + 10, name.replace("_", " "), 13, PANEL, TEXT)
            if frame.index - moment.newest < _FLASH_FRAMES:
                canvas.frame(x, _VIEW_TOP, _VIEW, _VIEW, AMBER if deciding else GREEN, 4)

    def _draw_panel(self, canvas: Canvas, moment: VideoFrame) -> None:
        """Draw what moves the arm, the stages, the decisions, and the result."""
        x, y = _PANEL_LEFT, _VIEW_TOP
        canvas.text(x, y, self._driver.upper(), 14, MUTED, bold=True)
        canvas.text(x, y + _LINE, shortened(moment.phase, 20, _PANEL_WIDTH, bold=True), 20, BLUE, bold=True)
        y += 3 * _LINE
        canvas.text(x, y, "STAGES", 14, MUTED, bold=True)
        for number, stage in enumerate(self._task.stages):
            y += _LINE
            done = number < moment.frame.completed_stages
            canvas.diamond(x + 6, y + 9, 5, GREEN if done else OUTLINE)
            canvas.text(x + 18, y, shortened(stage, 14, _PANEL_WIDTH - 18), 14, TEXT if done else MUTED)
        y += 2 * _LINE
        canvas.text(x, y, "WHAT NOW? ONLY THE PAST TELLS", 13, MUTED, bold=True)
        for at, choice in moment.decisions:
            y += _LINE
            canvas.chip(x, y, f"{at / CONTROL_RATE:.1f} s", 12, AMBER)
            canvas.text(x + 66, y + 2, shortened(choice, 14, _PANEL_WIDTH - 66), 14)
        if moment.frame.done:
            word, colour = ("SUCCESS", GREEN) if moment.frame.success else ("FAILED", RED)
            y = _VIEW_TOP + _VIEW - 60
            canvas.chip(x, y, word, 20, colour)
            if not moment.frame.success:
                canvas.text(x, y + 36, shortened(moment.frame.reason, 14, _PANEL_WIDTH), 14)

    def _draw_strip(self, canvas: Canvas, moment: VideoFrame) -> None:
        """Draw a card for each keyframe of the task, filled when it is known."""
        labels = self._task.keyframes
        pitch = (WIDTH - 2 * _MARGIN + _GAP) // len(labels)
        width = pitch - _GAP
        side = min((width - 12) // 2, _STRIP_HEIGHT - _CAPTION - 4)
        for number, label in enumerate(labels):
            x, y = _MARGIN + number * pitch, _STRIP_TOP
            seen = moment.keyframes.get(label)
            caption = _STRIP_TOP + _STRIP_HEIGHT - _CAPTION + 2
            if seen is None:
                canvas.frame(x, y, width, _STRIP_HEIGHT, OUTLINE)
                canvas.text(x + 8, caption, shortened(label, 13, width - 16), 13, OUTLINE)
                continue
            canvas.box(x, y, width, _STRIP_HEIGHT, PANEL)
            canvas.box(x, y, width, 3, GREEN)
            for column, picture in enumerate(seen.views.values()):
                canvas.picture(x + 4 + column * (side + 4), y + 7, side, picture)
            canvas.text(x + 8, caption, shortened(label, 13, width - 16, bold=True), 13, bold=True)
            canvas.text(x + 8, caption + 17, f"frame {seen.frame}", 12, MUTED)
