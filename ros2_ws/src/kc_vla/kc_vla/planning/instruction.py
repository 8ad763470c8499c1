"""What a person says, before anybody plans for it: one instruction, or several as a file has them, one in each line."""

from __future__ import annotations

from pathlib import Path

from kc_vla.core.untrusted import one_line, read_text
from kc_vla.planning.interface import PlanningError

MOST_INSTRUCTION = 2000
"""Letters."""

_MOST, _MOST_NAMED = 1000, 200
"""Instructions of a file, and letters of its name in an error."""


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


def instructions_in(path: Path) -> tuple[str, ...]:
    """Return the instructions of a file, in their order; an empty line and one that begins with # are none.

    Raises:
        PlanningError: the file cannot be read, or has no instruction or too many; the text says what to do.
    """
    told = str(path)[:_MOST_NAMED]
    try:
        lines = [clean(line) for line in read_text(path).splitlines()]
    except (OSError, ValueError) as error:
        raise PlanningError(f"'{told}' cannot be read as a sequence: {error}") from error
    found = tuple(line for line in lines if line and not line.startswith("#"))
    if not 1 <= len(found) <= _MOST:
        raise PlanningError(f"'{told}' has {len(found)} instructions: write 1 to {_MOST}, one in each line")
    return found


def given_instructions(instruction: str, file: str) -> tuple[str, ...]:
    """Return the one instruction, or those of a file; none where neither is given.

    Raises:
        PlanningError: both are given, or the file cannot be used.
    """
    if instruction.strip() and file:
        raise PlanningError("instruction:= and sequence:= at once: give one of them")
    if file:
        return instructions_in(Path(file).expanduser())
    return (instruction.strip(),) if instruction.strip() else ()
