"""What a person says, before anybody plans for it."""

from __future__ import annotations

from kc_vla.planning.interface import PlanningError

MOST_INSTRUCTION = 2000
"""Letters."""


def check_instruction(text: str) -> None:
    """See that there is an instruction of a length that can be worked on; PlanningError otherwise."""
    if not text.strip():
        raise PlanningError("the instruction is empty: say what is to be done")
    if len(text) > MOST_INSTRUCTION:
        raise PlanningError(f"an instruction of {len(text)} letters: give {MOST_INSTRUCTION} at most")


def clean(text: str) -> str:
    """A text of somebody else as one line without what cannot be seen."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
