"""An emulated Piper on its bus, beside the test that talks to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.emulator.arm import FIRMWARE
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.process import EmulatorProcess, View
from kc_vla.arm.emulator.process import main as emulate
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.remote import Remote
from kc_vla.core.robot import Robot
from tests.support.piper import PIPER

PATIENCE_S = 20.0


def wait_for(condition: Callable[[], object]) -> None:
    """Return when `condition` holds; fail if that takes too long."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def enable(arm: PiperArm) -> None:
    """Give an arm power where it is."""

    def powered() -> bool:
        arm.enable()
        state = arm.read_state()
        return bool(state.powered.all()) and state.in_command_mode

    wait_for(powered)
    state = arm.read_state()
    arm.set_target(np.clip(state.angles, arm.limits.lowest, arm.limits.highest), state.gripper)


@contextmanager
def running_emulator(
    path: Path,
    robot: Robot = PIPER,
    firmware: str = FIRMWARE,
    look: Callable[[EmulatorProcess], None] = lambda emulator: None,
) -> Iterator[EmulatorProcess]:
    """An arm that answers on the bus at `path`; `look` sees it after each of its rounds."""
    ended = threading.Event()
    process = EmulatorProcess(path, robot, firmware)
    thread = threading.Thread(target=process.run, args=(ended, lambda number: look(process)))
    thread.start()
    try:
        yield process
    finally:
        ended.set()
        thread.join(PATIENCE_S)
    assert not path.exists()


@contextmanager
def led_by_hand(path: Path, angles: NDArray[np.float64], gripper: float) -> Iterator[PiperArm]:
    """A second Piper on a bus of its own, at joint `angles` (rad) and with its `gripper` open so far (m).

    `set_target` of what is given is the hand that leads it.
    """
    with EmulatedPiper(path):
        hand = PiperArm(PIPER, str(path), INTERFACE)
        hand.connect()
        enable(hand)
        hand.set_target(angles, gripper)
        try:
            yield hand
        finally:
            hand.close()


class EmulatedPiper:
    """An arm that answers on a bus, in a process of its own: the test's own work does not make it late."""

    def __init__(self, path: Path, robot: Robot = PIPER) -> None:
        self._path, self._robot = path, robot

    def __enter__(self) -> EmulatedPiper:
        """Put it on its bus."""
        self._process = Remote(emulate)
        try:
            self._process.start("the emulated arm", print, "begin", str(self._path), self._robot)
        except BaseException:
            self._process.close()  # where it is too late for this test it must not keep the next one waiting
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Take it away."""
        self._process.close()

    def ask(self, fault: str) -> None:
        """Let something go wrong, or nothing any more: see `Faults.ask`."""
        self._process.call("ask", fault, patience=PATIENCE_S)

    @property
    def view(self) -> View:
        """What it shows of itself now."""
        shown: list[View] = []
        self._process.look()  # what nobody has looked at for a while is old
        wait_for(lambda: shown.extend(self._process.look()) or shown)
        return shown[-1]
