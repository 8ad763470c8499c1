"""Asks a person before something is done."""

from __future__ import annotations

import argparse
import sys

from kc_vla.machine.plan import SetupError


def confirmed(options: argparse.Namespace) -> bool:
    """Return whether it is to be done; it is only shown where neither --do nor --yes is given.

    Args:
        options: with `do` and `yes`.

    Raises:
        SetupError: the person does not agree, or cannot be asked.
    """
    if not options.yes and not options.do:
        print("\nnothing was done: --do does it, after asking")
        return False
    if not options.yes:
        require_terminal("--yes does it without asking")
    if not options.yes and not agreed("do this?"):
        raise SetupError("nothing was done")
    return True


def require_terminal(otherwise: str) -> None:
    """Check that a person can be asked. Raises: SetupError: there is no terminal; `otherwise` says what else to do."""
    if not sys.stdin.isatty():
        raise SetupError(f"nothing was done: there is no terminal to ask in; {otherwise}")


def agreed(question: str) -> bool:
    """Return whether a person says yes to a question."""
    return input(f"\n{question} [y/N] ").strip().lower() in ("y", "yes")
