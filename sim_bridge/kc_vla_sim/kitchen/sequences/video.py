"""A video of an instruction that was not done: both cameras, what was asked for, and which skill failed and why."""

from __future__ import annotations

from pathlib import Path

from kc_vla.core.files import resolved
from kc_vla.media.canvas import AMBER, BLUE, GREEN, MUTED, RED, Canvas, Picture, shortened
from kc_vla.media.mp4 import Mp4Writer
from kc_vla.planning.execution.results import EXPLORE, PLAN, REPAIR, SKILL, ExecutionStep
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import CONTROL_RATE

_WIDTH, _HEIGHT, _VIEW, _MARGIN = 640, 448, 308, 8
_PERIOD_S = 0.125
"""Between two images of the video, s; the simulator draws one each quarter of a second or less often."""
_END_S = 3.0
_SHOWN = (PLAN, EXPLORE, REPAIR, SKILL)


class SequenceVideo:
    """Writes a video of each instruction, and keeps those of what was not done.

    Attributes:
        kept: how many there are.
    """

    def __init__(self, folder: Path, most: int) -> None:
        """Prepare to write.

        Args:
            folder: of the videos.
            most: videos that are kept; further instructions are not recorded.
        """
        self._folder, self._most = resolved(folder), most
        self._folder.mkdir(parents=True, exist_ok=True)
        self._writer: Mp4Writer | None = None
        self._line = self._head = self._title = ""
        self._images = 0
        self._last: SimulatedFrame | None = None

    @property
    def kept(self) -> int:
        """Return how many videos there are."""
        return len(list(self._folder.glob("[!.]*.mp4")))

    def begin(self, seed: int, memory: str, number: int, instruction: str) -> None:
        """Begin the video of an instruction."""
        self._head, self._title = f"kitchen {seed}, memory {memory}, instruction {number + 1}", instruction
        self._line, self._images, self._last = "", 0, None
        if self.kept < self._most:
            self._path = self._folder / f"{seed}-{memory}-{number + 1}.mp4"
            self._writer = Mp4Writer(self._path, _WIDTH, _HEIGHT, _PERIOD_S).__enter__()

    def tell(self, step: ExecutionStep) -> None:
        """Take in a step that the loop reports: it is shown until the next."""
        if step.kind in _SHOWN:
            self._line = f"{step.kind}: {step.text}"

    def add(self, frame: SimulatedFrame) -> None:
        """Add a frame of the simulator, if its images were drawn."""
        if self._writer is not None and all(each.size for each in frame.views.values()):
            self._last = frame
            self._writer.add(self._image(frame), self._images)
            self._images += 1

    def end(self, done: bool, reason: str) -> None:
        """End the video; it is kept if the instruction was not done.

        Args:
            done: whether it was.
            reason: why not, as the robot reports it.
        """
        writer, self._writer = self._writer, None
        if writer is None:
            return
        if self._last is not None and not done:
            said = reason or "the robot takes it for done"
            writer.add_still(self._image(self._last, f"NOT DONE: {said}"), self._images, _END_S)
        writer.__exit__(None, None, None)
        if done or self._last is None:
            self._path.unlink(missing_ok=True)

    def _image(self, frame: SimulatedFrame, verdict: str = "") -> Picture:
        canvas = Canvas(_WIDTH, _HEIGHT)
        room = _WIDTH - 2 * _MARGIN
        canvas.text(_MARGIN, 6, shortened(self._title, 20, room, bold=True), 20, bold=True)
        canvas.text(_MARGIN, 34, f"{self._head}, {frame.index / CONTROL_RATE:.1f} s", 13, MUTED)
        for column, image in enumerate(frame.views.values()):
            canvas.picture(_MARGIN + column * (_VIEW + _MARGIN), 58, _VIEW, image)
        line, colour = (verdict, RED) if verdict else (self._line, _colour_of(self._line))
        for row, part in enumerate(_lines(line, room)):
            canvas.text(_MARGIN, 376 + 20 * row, part, 14, colour)
        return canvas.pixels


def _colour_of(line: str) -> tuple[int, int, int]:
    if not line.startswith(SKILL):
        return AMBER if line.startswith((EXPLORE, REPAIR)) else BLUE
    return GREEN if ": done (" in line else RED


def _lines(text: str, room: int) -> list[str]:
    """Return a text in up to three lines."""
    found: list[str] = []
    rest = text
    while rest and len(found) < 3:
        line = shortened(rest, 14, room).removesuffix("…") if len(found) < 2 else shortened(rest, 14, room)
        if len(line) < len(rest) and len(found) < 2:
            line = line.rpartition(" ")[0] or line
        found.append(line)
        rest = rest[len(line) :].lstrip()
    return found
