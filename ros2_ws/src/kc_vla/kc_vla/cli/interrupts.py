"""Ctrl-C that acts within seconds, also while a step of the training is computed outside Python."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""Exit status of what was interrupted."""
_PATIENCE_S = 2.0


@contextmanager
def prompt_interrupts(word: str) -> Iterator[None]:
    """Let a Ctrl-C on which Python has not acted after two seconds print `word` and end the process.

    Python raises KeyboardInterrupt only between its own instructions, and one of them may be minutes of a library's
    arithmetic. What was committed to the disk is whole whenever the process ends: see `kc_vla.core.files`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # interrupts reach the main thread alone
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    over = threading.Event()

    def watch() -> None:
        while number := os.read(heard, 1):
            if number[0] == signal.SIGINT and not over.wait(_PATIENCE_S):
                print(f"\n{word}", file=sys.stderr, flush=True)
                os._exit(INTERRUPTED)

    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, name="interrupts", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(told)
        watcher.join()
        os.close(heard)
