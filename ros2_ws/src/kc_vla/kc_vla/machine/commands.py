"""Programs of the system that are asked something: never for long, and never by way of a shell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from kc_vla.core.errors import StackError

_MOST_LETTERS = 1 << 20
_MOST_TOLD = 300


class CommandError(StackError):
    """A program is not there, does not answer, or refuses."""


def answer_of(words: Sequence[str], seconds: float = 5.0, given: str | None = None) -> str:
    """Return what a program prints, in its plain English form.

    Args:
        words: the program and its arguments.
        seconds: that it may take.
        given: to its standard input; None: nothing.

    Raises:
        CommandError: it is not there, takes longer, or ends with an error, which the text has in one line.
    """
    try:
        done = subprocess.run(
            list(words),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
            input=given or "",
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"{words[0]} has not answered for {seconds:g} s") from None
    except OSError as error:
        raise CommandError(f"{words[0]} cannot be run: {error.strerror}") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[:_MOST_TOLD]
        raise CommandError(f"'{' '.join(words)}' failed with status {done.returncode}: {said or '-'}")
    return str(done.stdout[:_MOST_LETTERS])
