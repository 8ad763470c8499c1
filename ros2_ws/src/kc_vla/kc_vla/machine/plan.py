"""The steps of a change to the machine, as lines of a shell: shown first, done only when a person agrees."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.errors import StackError
from kc_vla.machine.commands import CommandError, answer_of

_END = "END_OF_FILE"
_PATIENCE_S = 20.0


class SetupError(StackError):
    """Something cannot be made ready."""


@dataclass(frozen=True)
class SetupStep:
    """One command.

    Attributes:
        words: the program and its arguments.
        root: whether it needs root's rights.
        given: to its standard input; None: nothing.
    """

    words: tuple[str, ...]
    root: bool
    given: str | None = None

    def command(self, is_root: bool) -> tuple[str, ...]:
        """Return the command, with sudo where that is needed."""
        return ("sudo", *self.words) if self.root and not is_root else self.words

    def line(self, is_root: bool) -> str:
        """Return the step as a person would type it into a shell."""
        typed = shlex.join(self.command(is_root))
        return typed if self.given is None else f"{typed} <<'{_END}'\n{self.given}{_END}"


@dataclass(frozen=True)
class SetupPlan:
    """What is to be done.

    Attributes:
        steps: one after the other; none: nothing is to be done.
        told: what a person must know, line by line, before the steps.
        after: what is to be done by hand afterwards.
    """

    steps: tuple[SetupStep, ...] = ()
    told: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def lines(self, is_root: bool) -> list[str]:
        """Return all of it, for a screen; the steps can be put into a shell as they are."""
        return [*self.told, *(step.line(is_root) for step in self.steps)]


Run = Callable[[Sequence[str], str | None], str]


def running_as_root() -> bool:
    """Return whether this process has root's rights."""
    return os.geteuid() == 0


def carry_out(
    plan: SetupPlan, is_root: bool, run: Run | None = None, ask_password: Callable[[], None] | None = None
) -> None:
    """Do the steps of a plan, each only after the one before it succeeded.

    Args:
        plan: what to do.
        is_root: whether that of this process is root; otherwise sudo is used for the steps that need it.
        run: runs one command, given its input; None: as it is.
        ask_password: lets sudo ask for a password, once; None: on this terminal.

    Raises:
        SetupError: a step failed, or root is needed and not to be had; the text says what was done until then.
    """
    if not is_root and any(step.root for step in plan.steps):
        (ask_password or _let_sudo_ask)()
    for number, step in enumerate(plan.steps):
        command = list(step.command(is_root))
        if command[0] == "sudo":
            command[1:1] = ["--non-interactive"]
        try:
            (run or _run)(command, step.given)
        except CommandError as error:
            left = "nothing was done" if not number else f"{number} of {len(plan.steps)} steps were done"
            raise SetupError(f"{error}; {left}") from error


def _run(command: Sequence[str], given: str | None) -> str:
    return answer_of(command, _PATIENCE_S, given)


def _let_sudo_ask() -> None:
    if shutil.which("sudo") is None:
        raise SetupError("not root, and there is no sudo: do the lines above as root")
    if subprocess.run(["sudo", "--validate"], check=False).returncode:  # a person may take time for a password
        raise SetupError("sudo refuses: do the lines above as root")


def writing(path: Path, text: str) -> tuple[SetupStep, ...]:
    """Return the steps that put a text file in its place, whole or not at all.

    They need root's rights where the folder is not this user's.
    """
    part = path.with_name(f".{path.name}.part")
    root = not os.access(_first_there(path.parent), os.W_OK)
    return (
        SetupStep(("install", "-D", "-m", "644", "/dev/stdin", str(part)), root, text),
        SetupStep(("mv", "-T", str(part), str(path)), root),
    )


def _first_there(folder: Path) -> Path:
    return next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
