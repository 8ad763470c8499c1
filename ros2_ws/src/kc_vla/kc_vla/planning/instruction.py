"""What a person says, before anybody plans for it."""

from __future__ import annotations

from kc_vla.core.untrusted import one_line
from kc_vla.planning.interface import PlanningError

MOST_INSTRUCTION = 2000
"""Letters."""


def check_instruction(text: str) -> None:
    """Check that an instruction has text, and not too much of it.

    Raises:
        PlanningError: it is empty or too long.
    """
    if not text.strip():
        raise PlanningError("the instruction is empty: say what is to be done")
    if len(text) > MOST_INSTRUCTION:
        raise PlanningError(f"an instruction of {len(text)} letters: give {MOST_INSTRUCTION} at most")


clean = one_line
"""Returns a third-party text as one line without what cannot be seen."""
