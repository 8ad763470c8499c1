"""The panel beside the views of a video in which a planner had the robot moved: its instructions and steps so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kc_vla.episodes.plan import CarriedOut, PlanStep
from kc_vla.media.canvas import AMBER, GREEN, MUTED, PANEL, RED, TEXT, Canvas, Colour, shortened, text_width

_ROW, _AIR = 19, 8
_SIZE, _MOST_LINES = 13, 3
_INKS: dict[str, Colour] = {"begin": TEXT, "plan": AMBER, "repair": AMBER, "recall": MUTED, "explore": MUTED}


class PlanPanel:
    """Draws what a planner has done up to a frame, the newest step last."""

    def __init__(self, instructions: Sequence[CarriedOut]) -> None:
        """Take the instructions of an episode, in their order."""
        self._steps = [step for each in instructions for step in each.steps]
        self._count = len(instructions)

    def paint(self, canvas: Canvas, left: int, top: int, width: int, height: int, frame: int) -> None:
        """Draw the panel into a rectangle, px, as it is at a frame."""
        shown = [step for step in self._steps if step.frame <= frame]
        number = sum(step.kind == "begin" for step in shown)
        of = f", instruction {number} of {self._count}" if self._count > 1 else ""
        canvas.text(left, top, f"PLAN{of}", 14, MUTED, bold=True)
        lines = [(line, step) for step in shown for line in _wrapped(_told(step), width - _AIR)]
        rows = (height - 26) // _ROW
        for row, (line, step) in enumerate(lines[-rows:]):
            y, newest = top + 26 + row * _ROW, step is shown[-1]
            if newest:
                canvas.box(left, y - 3, width, _ROW, PANEL)
            canvas.text(left + _AIR // 2, y, line, _SIZE, _ink(step), bold=newest)


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text, at most three; a longer one is cut."""
    words = text.split()
    for _ in range(_MOST_LINES - 1):
        count = len(words)
        while count > 1 and text_width(" ".join(words[:count]), _SIZE, bold=True) > width:
            count -= 1
        if count == len(words):
            break
        yield " ".join(words[:count])
        words = words[count:]
    yield shortened(" ".join(words), _SIZE, width, bold=True)


def _told(step: PlanStep) -> str:
    return step.text if step.kind in ("begin", "skill", "end") else f"{step.kind}: {step.text}"


def _ink(step: PlanStep) -> Colour:
    if step.kind == "skill":
        return GREEN if ": done" in step.text else RED
    if step.kind == "end":
        return GREEN if step.text == "done" else RED
    return _INKS.get(step.kind, TEXT)
