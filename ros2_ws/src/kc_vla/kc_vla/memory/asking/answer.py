"""An answer, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TOLD = 20
"""Things that an answer names."""


@dataclass(frozen=True)
class AnswerEvidence:
    """A thing that an answer rests on.

    Attributes:
        object_id: of it.
        object_type: of it.
        place: in words: "on the counter top (CounterTop_1) in the kitchen"; empty where it is not known.
        container: id of what it is on or in; empty where there is none.
        area: id of the area.
        seen_s: when it was seen last, s.
        confidence: that it is still so, 0..1.
        source: which memory knows it: "short-term", "long-term".
        keyframe: name of the keyframe that shows it, "EPISODE/FRAME"; empty where none was looked at.
        position: where it was in that keyframe, m; None without one.
        frame_id: coordinate frame of the position.
    """

    object_id: str
    object_type: str
    place: str
    container: str
    area: str
    seen_s: float
    confidence: float
    source: str = ""
    keyframe: str = ""
    position: tuple[float, float, float] | None = None
    frame_id: str = ""

    def __str__(self) -> str:
        """Return it as a line for people."""
        where = f", {self.place}" if self.place else ""
        if self.position is not None:
            at = ", ".join(f"{each:.2f}" for each in self.position)
            where = f"{where}, at ({at}) m in {self.frame_id!r}, keyframe {self.keyframe}"
        return f"{self.object_id}{where}: seen at {self.seen_s:.0f} s, confidence {self.confidence:.2f}"


@dataclass(frozen=True)
class MemoryAnswer:
    """An answer to a question.

    Attributes:
        text: for people.
        known: the memory has what is asked for; False for "I do not know", whatever is guessed.
        confidence: that the answer is right, 0..1; of a guess, that the guess is.
        found: what it rests on, what is asked for first; empty for nothing.
        yes: of a question to be answered by yes or no; None otherwise, and where it is not known.
        count: of a question for a number; None otherwise.
        when_s: of a question for a time, s; None otherwise.
        guess: the text names a place that is merely likely.
        understood: the question was; else the text says what to ask.
        notes: what was taken otherwise than it was said, in words.
    """

    text: str
    known: bool
    confidence: float
    found: tuple[AnswerEvidence, ...] = ()
    yes: bool | None = None
    count: int | None = None
    when_s: float | None = None
    guess: bool = False
    understood: bool = True
    notes: tuple[str, ...] = ()


def unknown(text: str, *notes: str) -> MemoryAnswer:
    """Return an honest answer where nothing is known."""
    return MemoryAnswer(text, False, 0.0, notes=notes)
