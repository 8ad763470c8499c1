"""A command in a process of its own, so that its parent can report how it ended when a library crashes it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

from kc_vla.cli.interrupts import INTERRUPTED
from kc_vla.core.crashes import crash_in_words, note_crashes

_REPORT = "KC_VLA_CRASH_REPORT"
"""Environment variable of the child: the open file for its report."""
_DEATH = 128
"""Exit status of a process that a signal ended, less the signal's number: as shells have it."""
_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
_HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_S = 0.1
"""How often it is looked whether a signal is to be handed on, s."""


def is_supervised() -> bool:
    """Return whether this process is the child of `supervised`, which then learns where it is when it crashes."""
    if (report := os.environ.pop(_REPORT, None)) is None:
        return False
    note_crashes(os.fdopen(int(report), "w"))
    return True


def supervised(words: Sequence[str]) -> int:
    """Run `kc-vla` with `words` in a child process; return the exit status.

    It is 128 and the number of the signal where one ended it, of which a line on standard error tells. What a terminal
    sends, such as Ctrl-C, reaches both processes; what is sent to this one alone is handed on. The child does not
    outlive this process.
    """
    command = [sys.executable, "-m", "kc_vla.cli", *words]
    if threading.current_thread() is not threading.main_thread():  # signals are for the main thread
        return subprocess.run(command, check=False).returncode
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as report:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)

        def begin() -> None:
            ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)  # what it writes is whole or not there
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

        try:
            child = subprocess.Popen(
                command,
                env={**os.environ, _REPORT: str(report.fileno())},
                pass_fds=(report.fileno(),),
                preexec_fn=begin,  # there are no other threads of ours
            )
            status = _ended(child)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if status >= 0:
            return status
        if -status == signal.SIGINT:  # as Python ends where nobody expected it: it has said so
            return INTERRUPTED
        report.seek(0)
        print(f"kc-vla {words[0]}: its process {crash_in_words(-status, report.read())}", file=sys.stderr)
        return _DEATH - status


def _ended(child: subprocess.Popen[bytes]) -> int:
    """Wait for the child to end, hand on what is sent to this process alone, and return its status."""
    while True:
        try:
            return child.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            pass
        # Without time to wait: a process that is stopped (Ctrl-Z) for longer than that gets a signal made of whatever
        # was in memory, from Python's own sigtimedwait.
        while (told := signal.sigtimedwait(_HANDED_ON, 0)) is not None:
            if told.si_code <= 0:  # the kernel's are above 0
                child.send_signal(told.si_signo)
