"""What several tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from emulated_piper import running_emulator

from kc_vla.arm.emulator.process import EmulatorProcess


@pytest.fixture
def bus_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the emulated arm; a short one: a Unix socket's path ends at 107 characters."""
    return tmp_path_factory.mktemp("b") / "bus"


@pytest.fixture
def emulator(bus_path: Path) -> Iterator[EmulatorProcess]:
    """An arm that answers at `bus_path`."""
    with running_emulator(bus_path) as process:
        yield process
