"""An emulated Piper on its bus, beside the test that talks to it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kc_vla.arm.emulator.process import EmulatorProcess

PATIENCE_S = 20.0


def wait_for(condition: Callable[[], object]) -> None:
    """Return when `condition` holds; fail if that takes too long."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@contextmanager
def running_emulator(path: Path) -> Iterator[EmulatorProcess]:
    """An arm that answers on the bus at `path`."""
    ended = threading.Event()
    process = EmulatorProcess(path)
    thread = threading.Thread(target=process.run, args=(ended,))
    thread.start()
    try:
        yield process
    finally:
        ended.set()
        thread.join(PATIENCE_S)
    assert not path.exists()
