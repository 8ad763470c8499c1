"""Says in one line how and where a signal ended a process of ours: the crash of a library has no words of its own."""

from __future__ import annotations

import faulthandler
import re
import signal
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$', re.MULTILINE)
_LONGEST = 20_000
"""Characters of a report that are looked at."""
_ENDED = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that come from outside."""
APART = "what needs other packages runs in a process of its own: kc_vla_sim.isolated_process, docs/your_own_task.md"


def note_crashes(report: IO[str]) -> None:
    """Let Python write into the open file `report` where this process is when a crash ends it."""
    faulthandler.enable(report)


def crash_in_words(number: int, report: str = "") -> str:
    """Return how a process ended, where it was and the likely cause, in one line that begins with "died by".

    Args:
        number: of the signal that ended it.
        report: what `note_crashes` left, which may be empty.
    """
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    told = f"died by {name} ({signal.strsignal(number) or 'unknown'})"
    frames = [match.groupdict() for match in _FRAME.finditer(report[:_LONGEST])]
    if frames:
        own = next((frame for frame in frames if "site-packages" not in frame["file"]), frames[0])
        told += f" in {_place(frames[0])}"
        told += f", called from {_place(own)}" if own is not frames[0] else ""
    return f"{told}: {_cause(number, frames)}"


def _place(frame: dict[str, str]) -> str:
    file = Path(frame["file"])
    shown = Path(*file.parts[file.parts.index("site-packages") + 1 :]) if "site-packages" in file.parts else file
    return f"{frame['function']} ({shown}, line {frame['line']})"


def _cause(number: int, frames: list[dict[str, str]]) -> str:
    if number == signal.SIGKILL:
        return "for lack of memory? try fewer --processes or smaller pictures"
    if number in _ENDED:
        return "somebody, or the system, ended it"
    numpy = _version("numpy")
    if any("/mplib/" in frame["file"] for frame in frames) and not numpy.startswith(("0.", "1.")):
        return f"mplib {_version('mplib')} is built for numpy 1 and does not run with numpy {numpy}; {APART}"
    return f"a library crashed, most often one that was built for other versions than those installed; {APART}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"
