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


@pytest.fixture(scope="session")
def few_plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of six drawn episodes with plans, of one task."""
    from drawn_plans import write_episodes  # brings torch with it, which few tests need

    folder = tmp_path_factory.mktemp("plans")
    write_episodes(folder / "light", 6)
    return folder
